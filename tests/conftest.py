"""What every test may use."""

pytest_plugins = ["tests.postgres", "tests.world"]
