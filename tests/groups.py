"""Tests that share an expensive fixture run in one worker process, so that the fixture is made once.

A plugin of pytest, named in `tests/conftest.py`; `make test` runs with `--dist loadgroup`, which starts the groups that
took longest in earlier runs first: one that starts late would run alone at the end. What takes minutes in full runs as
a sample in `make test` and whole in `make soak`. Tests that go into the depth of a real node are marked `lab` here.
"""

from collections import defaultdict
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
    "isolation/",
    "packaging/",
    "terminals/",
    "upgrade/",
    "contracts/test_bad_input",
    "access/test_real_clients",
    *("access/test_real_ssh", "attacks/test_sec1", "attacks/test_database_trouble", "attacks/test_front_end"),
)
FILES_APART = ("contracts/test_openapi",)
# A second platform, beside the one of the browser stories: one process for all of it would be the last to end.
SECOND_PLATFORM = ("browser/test_axe", "docs/", "e2e/test_story", "e2e/test_up", "runtimes/test_real")
# Those that share a platform, a stage or an engine start first, in this order, until a run has measured them.
FIRST = ("browser/", "second platform", "crash/", "isolation/", "terminals/", "gateway/", "engines/", "attacks/")
FEW_SECONDS = 0.1  # of a test that no run has measured
PACE = "gpuaas/pace"  # in pytest's cache: seconds per test of each group, as the last run measured it


def is_of_lab(node_id: str) -> bool:
    """Containers of the oci engine, its SSH gateway, and deaths at any step. `make test` uses all of it in stories."""
    name = node_id.removeprefix("tests/")
    is_on_oci = name.startswith("engines/") and ("[oci" in name or "test_oci" in name)
    return is_on_oci or name.startswith(("attacks/inside/", "crash/", "gateway/"))


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_of_lab(item.nodeid):
            item.add_marker("lab")


def group_of(node_id: str) -> str:
    """Empty: the test may run in any worker."""
    name = node_id.removeprefix("tests/")
    if name.startswith(SECOND_PLATFORM):
        return "second platform"
    for prefix in (*FILES_APART, *FILES_TOGETHER):
        if name.startswith(prefix):
            return prefix
    # One file in one process: its tests share an environment. All files in one process would be the last to end.
    return name.split("::")[0] if is_of_lab(node_id) else ""


def seconds_of(group: str, size: int, pace: dict[str, float]) -> float:
    """How long a group of so many tests will take, by what is known."""
    if group in pace:
        return pace[group] * size
    places = [place for place, prefix in enumerate(FIRST) if group.startswith(prefix) and size > 1]
    return FEW_SECONDS * size + (1000.0 * (len(FIRST) - places[0]) if places else 0.0)


class Scheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """By our groups. Those of xdist's own marker are lost with pytest 9.2: it writes them into a field that is gone."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._cache = config.cache
        self._pace: dict[str, float] = self._cache.get(PACE, {})
        self._took = defaultdict[str, list[float]](list)
        self._is_ordered = False

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid) or nodeid

    def _assign_work_unit(self, node: Any) -> None:
        if not self._is_ordered:
            self._is_ordered = True
            known = [(seconds_of(group, len(unit), self._pace), group) for group, unit in self.workqueue.items()]
            for _, group in sorted(known, reverse=True):
                self.workqueue.move_to_end(group)
        super()._assign_work_unit(node)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        self._took[self._split_scope(self.registered_collections[node][item_index])].append(duration)
        super().mark_test_complete(node, item_index, duration)

    def remove_node(self, node: Any) -> Any:
        """A worker is done: what it measured is kept for the next run."""
        seen = {group: round(sum(took) / len(took), 2) for group, took in self._took.items()}
        self._cache.set(PACE, {**self._pace, **seen})
        return super().remove_node(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None
