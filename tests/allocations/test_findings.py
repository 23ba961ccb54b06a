"""What a sample says about health, in the words that people read."""

from datetime import UTC, datetime

import pytest

from gpuaas.domain.metrics.findings import findings
from gpuaas.wire.metrics import MemoryKills, Sample

AT = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(("count", "killed"), [(1, "1 process"), (3, "3 processes")])
def test_processes_that_the_kernel_killed_are_counted_with_the_day(count: int, killed: str) -> None:
    sample = Sample(allocation_id="a", boot=1, at=AT, readings=(), memory_kills=MemoryKills(count=count, at=AT))
    (found,) = findings(sample)
    assert found.words == (
        f"The kernel killed {killed} for lack of memory since the last boot, most recently at 2026-03-01 12:00:05 UTC."
    )
    assert found.next_step == "Use less memory at a time, or resize the allocation. Other processes keep running."
