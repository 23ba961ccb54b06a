"""One clock for all replicas, and a database that is not the one it was."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from gpuaas.core.clock import ClockUnknown, DatabaseClock, SystemClock
from gpuaas.core.health import Health
from gpuaas.core.migrate import migrate
from gpuaas.core.trouble import is_away
from gpuaas.core.watch import CLOCK_SKEW, HISTORY_CHANGED, Watch
from tests.clusters import pair
from tests.postgres import run

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Hand:
    """A system clock and a monotonic clock, moved by hand."""

    def __init__(self, wrong_by: float = 0.0) -> None:
        self.at, self.wrong_by = 100.0, wrong_by

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.at - 100 + self.wrong_by)

    def monotonic(self) -> float:
        return self.at


def test_nothing_can_be_decided_before_the_first_measurement() -> None:
    clock = DatabaseClock(Hand())
    with pytest.raises(ClockUnknown) as raised:
        clock.now()
    assert is_away(raised.value)
    assert (clock.skew, clock.uncertainty, clock.is_skewed) == (None, None, False)


def test_the_time_is_the_databases_at_the_middle_of_the_round_trip_and_goes_on_with_the_monotonic_clock() -> None:
    system = Hand(wrong_by=600)
    clock = DatabaseClock(system)
    clock.measured(99.0, NOON, 101.0)
    assert clock.now() == NOON
    assert clock.uncertainty == pytest.approx(1.0)
    system.at += 60
    assert clock.now() == NOON + timedelta(seconds=60)
    assert clock.skew == pytest.approx(600)


@pytest.mark.parametrize(("wrong_by", "round_trip", "is_skewed"), [(600, 0.1, True), (1.2, 0.1, True), (1.2, 1, False)])
def test_a_system_clock_is_reported_only_when_the_round_trip_cannot_explain_it(
    wrong_by: float, round_trip: float, *, is_skewed: bool
) -> None:
    clock = DatabaseClock(Hand(wrong_by))
    clock.measured(100 - round_trip / 2, NOON, 100 + round_trip / 2)
    assert clock.is_skewed is is_skewed


def test_a_slow_answer_does_not_replace_a_good_one_and_a_step_of_the_database_is_followed() -> None:
    system = Hand()
    clock = DatabaseClock(system)
    clock.measured(100.0, NOON, 100.0)
    system.at = 110.0
    clock.measured(106.0, NOON + timedelta(seconds=9), 110.0)  # 8 s at the middle: within its uncertainty of 2 s
    assert clock.now() == NOON + timedelta(seconds=10)
    clock.measured(109.9, NOON + timedelta(seconds=500), 110.0)
    assert clock.now() == pytest.approx(NOON + timedelta(seconds=500.05), abs=timedelta(milliseconds=1))


async def test_a_look_measures_the_time_and_names_a_clock_that_is_wrong(migrated: str) -> None:
    class Ahead(SystemClock):
        def now(self) -> datetime:
            return super().now() + timedelta(minutes=10)

    health = Health()
    watch = Watch(migrated, DatabaseClock(Ahead()), health)
    await watch.look()
    assert abs(watch.clock.now() - datetime.now(UTC)) < timedelta(seconds=60)  # and not ten minutes
    assert "+600" in health.notices[CLOCK_SKEW] or "+599" in health.notices[CLOCK_SKEW]
    right = Watch(migrated, DatabaseClock(SystemClock()), health)
    await right.look()
    assert CLOCK_SKEW not in health.notices
    assert right.history is not None
    assert (right.changes, watch.changes) == (0, 0)


async def test_a_history_is_noticed_by_a_process_that_started_after_it_changed(migrated: str) -> None:
    await Watch(migrated, SystemClock(), Health()).look()
    await run(migrated, "update platform set value = 'of the dumped cluster' where key = 'history'")
    health = Health()
    watch = Watch(migrated, SystemClock(), health)
    await watch.look()
    assert watch.changes == 1
    assert HISTORY_CHANGED in health.notices
    again = Watch(migrated, SystemClock(), Health())
    await again.look()
    assert again.changes == 0


async def test_a_position_that_went_back_is_another_history(migrated: str) -> None:
    """As after a copy of the disk was put back: cluster and timeline are the same, the writes are not."""
    watch, told = Watch(migrated, SystemClock(), Health()), list[int]()
    await watch.look()
    watch._position += 1 << 40

    async def note() -> None:
        told.append(1)

    async def fail_once() -> None:
        if len(told) == 1:
            raise asyncpg.DiskFullError("planted")

    watch.on_change(note)
    watch.on_change(fail_once)
    with pytest.raises(asyncpg.DiskFullError):
        await watch.look()
    await watch.look()  # all are told again, for one of them could not
    assert (len(told), watch.changes) == (2, 1)
    await watch.look()
    assert watch.changes == 1


async def test_a_standby_is_read_only_and_its_promotion_is_another_history(tmp_path: Path) -> None:
    def prepare() -> None:
        servers.add_standby()

    with pair() as servers:
        await migrate(servers.dsn)
        await asyncio.to_thread(prepare)
        watch, changed = Watch(servers.dsn, DatabaseClock(SystemClock()), Health()), asyncio.Event()

        async def note() -> None:
            changed.set()

        watch.on_change(note)
        await watch.look()
        before = watch.history
        assert before is not None
        servers.lead_to(servers.standby)
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await watch.look()
        assert watch.history == before
        await asyncio.to_thread(servers.fail_over)
        await watch.look()
        assert watch.history is not None
        cluster, timeline, database = before.split("/")
        assert watch.history == f"{cluster}/{int(timeline, 16) + 1:08X}/{database}"
        assert changed.is_set()
