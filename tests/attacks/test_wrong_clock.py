"""A replica whose system clock is ten minutes wrong decides nothing by it (OPS5)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpuaas.core.clock import Clock, DatabaseClock, SystemClock
from gpuaas.engines.fake import FakeEngine
from tests.live import agent, eventually, serving
from tests.world import World

EXPIRE = """
    update allocations set expires_at = $2::timestamptz, expiry_warned_at = clock_timestamp() where id = $1
"""
LOOKED_AT = "select count(*) from work where worker = 'limits' and row_id = $1 and until is null"


class Wrong(SystemClock):
    by = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.by


async def status_after_a_look(world: World, id: str, system: Wrong) -> str:
    """Of an allocation that ends in five minutes and was told so; by a clock ten minutes ahead it is over."""

    async def is_active() -> bool:
        return bool((await world.seen(id))["status"] == "active")

    await eventually(is_active)
    system.by = timedelta(minutes=10)
    async with world.db.write() as tx:
        await tx.run("delete from work where worker = 'limits' and row_id = $1", id)  # looks from before do not count
        await tx.run(EXPIRE, id, datetime.now(UTC) + timedelta(minutes=5))
        tx.hint("limits", id)

    async def was_looked_at() -> bool:
        return not await is_active() or int(await world.value(LOOKED_AT, id)) > 0

    await eventually(was_looked_at)
    return str((await world.seen(id))["status"])


@pytest.mark.parametrize("is_trusted", [False, True])
async def test_a_replica_ten_minutes_ahead_releases_nothing_early_and_says_that_its_clock_is_wrong(
    migrated: str, tmp_path: Path, *, is_trusted: bool
) -> None:
    """The second case is the red twin: a replica that trusts its own clock, as all did."""
    engine, system = FakeEngine(clock=SystemClock().now), Wrong()
    clock: Clock = system if is_trusted else DatabaseClock(system)
    async with serving(migrated, tmp_path, clock=clock) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            is_kept = await status_after_a_look(world, id, system) == "active"
            assert is_kept is not is_trusted

        async def is_told() -> bool:
            ready = (await world.stranger.get("/readyz")).json()
            assert ready["status"] == "ok"
            return [each["code"] for each in ready["notices"]] == ["clock_skew"]

        if not is_trusted:
            await eventually(is_told)
