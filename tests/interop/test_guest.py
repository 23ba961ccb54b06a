"""The engine on another kernel, with cgroup v2 only."""

from pathlib import Path

import pytest

from tests.interop import guest

pytestmark = pytest.mark.interop
SECONDS = 1_500


def test_the_engine_with_cgroup_v2_only(tmp_path: Path) -> None:
    run = guest.run("tests/interop/guest_tests.py", seconds=SECONDS, console=tmp_path / "console")
    outcomes = run.outcomes()
    assert run.is_passed, run.console[-20_000:]
    assert set(outcomes.values()) == {"PASSED"}
    assert len(outcomes) > 20
