"""What every test may use."""

from hypothesis import settings

pytest_plugins = ["tests.postgres", "tests.residue", "tests.groups", "tests.soaking", "tests.world", "tests.platform"]

# The same cases for everybody, and none judged by how busy the machine is.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
