"""History is kept for good unless a setting says otherwise, and then exactly as long as it says."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from gpuaas.core.settings import load
from gpuaas.domain.workers import store
from gpuaas.domain.workers.janitor import BATCH, KEEP_ALL, Janitor
from gpuaas.wire.allocations import Status
from tests import peek
from tests.postgres import run
from tests.world import World

COUNTS = """
    select (select count(*) from timeline_entries) as timeline, (select count(*) from operations) as operations,
        (select count(*) from cleanup_proofs) as proofs
"""
# Everything but the active allocation's is ten days older.
AGE = (
    "update timeline_entries set at = at - interval '10 days' where subject_id = '{0}'",
    "update operations set ended_at = ended_at - interval '10 days' where subject_id = '{0}'",
    "update cleanup_proofs set at = at - interval '10 days' where allocation_id = '{0}'",
    "update allocations set cleanup_proven_at = cleanup_proven_at - interval '10 days' where id = '{0}'",
)


async def counted(world: World) -> dict[str, int]:
    row = await peek.row(world.db, COUNTS)
    assert row is not None
    return dict(row)


@pytest.fixture
async def aged(world: World) -> World:
    old = await world.allocation(Status.RELEASED)
    await run(world.dsn, *(statement.format(old) for statement in AGE))
    await world.allocation(Status.RELEASED)
    return world


async def sweep(world: World, retention: Mapping[str, timedelta]) -> None:
    await Janitor(world.db, world.clock, retention)("expired")


async def test_by_default_everything_is_kept(aged: World) -> None:
    before = await counted(aged)
    await sweep(aged, KEEP_ALL)
    await sweep(aged, dict.fromkeys(before, timedelta(days=30)))
    assert await counted(aged) == before
    assert load({}, data=Path("/x")).retention == {}


@pytest.mark.parametrize("kind", ["timeline", "operations", "proofs"])
async def test_one_kind_goes_when_it_is_older_than_its_setting(aged: World, kind: str) -> None:
    before = await counted(aged)
    await sweep(aged, {kind: timedelta(days=5)})
    after = await counted(aged)
    assert 0 < after.pop(kind) < before.pop(kind)
    assert after == before


async def test_an_operation_that_its_allocation_names_stays(aged: World) -> None:
    """The release is the last of the allocation: its page shows it."""
    await sweep(aged, {"operations": timedelta(days=5)})
    missing = """
        select a.id from allocations a where not exists (select from operations o where o.id = a.operation_id)
    """
    assert await peek.rows(aged.db, missing) == []


async def test_history_younger_than_a_day_cannot_be_deleted(world: World) -> None:
    with pytest.raises(asyncpg.CheckViolationError, match="younger than a day"):
        async with world.db.write() as tx:
            await store.expire(tx, "timeline", world.clock.now(), BATCH)


def test_settings_name_the_days_of_each_kind() -> None:
    given = {"GPUAAS_RETENTION_TIMELINE_DAYS": "90", "GPUAAS_RETENTION_PROOFS_DAYS": "0.01"}
    kept = load(given, data=Path("/x")).retention
    assert kept == {"timeline": timedelta(days=90), "proofs": timedelta(days=1)}
