"""Tests that share an expensive fixture run in one worker process, so that the fixture is made once.

A plugin of pytest, named in `tests/conftest.py`; `make test` runs with `--dist loadgroup`, which starts the largest
groups first. What takes minutes in full runs as a sample in `make test` and whole in `make soak`.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# The same fixture, or the same range of ports.
FILES_TOGETHER = (
    "browser/",
    "chaos/",
    "core/test_embedded",
    "crash/",
    "gateway/",
    "gateway/",
    "isolation/",
    "terminals/",
    "contracts/test_bad_input",
    "access/test_real_clients",
    *("access/test_real_ssh", "attacks/test_sec1", "attacks/test_database_trouble", "attacks/test_front_end"),
)
FILES_APART = ("crash/test_deliveries", "runtimes/test_real", "contracts/test_openapi")
# A second platform, beside the one of the browser stories: one process for all of it would be the last to end.
SECOND_PLATFORM = ("browser/test_axe", "e2e/test_story", "e2e/test_up")


def group_of(node_id: str) -> str:
    """Empty: the test may run in any worker."""
    name = node_id.removeprefix("tests/")
    if name.startswith(SECOND_PLATFORM):
        return "second platform"
    for prefix in (*FILES_APART, *FILES_TOGETHER):
        if name.startswith(prefix):
            return prefix
    is_on_oci = name.startswith("engines/") and ("[oci" in name or "test_oci" in name)
    # One file in one process: its tests share an environment. All files in one process would be the last to end.
    return name.split("::")[0] if is_on_oci else ""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """By our groups. Those of xdist's own marker are lost with pytest 9.2: it writes them into a field that is gone."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid) or nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None
