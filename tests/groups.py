"""Tests that share an expensive fixture run in one worker process, so that the fixture is made once.

A plugin of pytest, named in `tests/conftest.py`; `make test` runs with `--dist loadgroup`, which starts the largest
groups first. What takes minutes in full runs as a sample in `make test` and whole in `make soak`.
"""

import pytest

# The same fixture, or the same range of ports.
FILES_TOGETHER = (
    "browser/",
    "chaos/",
    "crash/",
    "e2e/test_up",
    "isolation/",
    "terminals/",
    "contracts/test_bad_input",
    "access/test_real_clients",
    *("access/test_real_ssh", "attacks/test_sec1", "attacks/test_database_trouble", "attacks/test_front_end"),
)
FILES_APART = ("browser/test_axe", "crash/test_deliveries", "runtimes/test_real", "contracts/test_openapi")
# Nodes in service run their agent as root, so `make test` tries engines as root; `make soak` as an ordinary user too.
ORDINARY_USER = "ordinary user"


def group_of(node_id: str) -> str:
    """Empty: the test may run in any worker."""
    name = node_id.removeprefix("tests/")
    for prefix in (*FILES_APART, *FILES_TOGETHER):
        if name.startswith(prefix):
            return prefix
    if not name.startswith("engines/"):
        return ""
    if ORDINARY_USER in name:
        return "engines of an ordinary user"
    if "runtimes" in name:
        return "engines with bundles"
    return "engines of root" if "test_sandbox" in name or "as root" in name else ""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if group := group_of(item.nodeid):
            item.add_marker(pytest.mark.xdist_group(group))
        if ORDINARY_USER in item.nodeid and item.nodeid.startswith("tests/engines/"):
            item.add_marker(pytest.mark.soak)
