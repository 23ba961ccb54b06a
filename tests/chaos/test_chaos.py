"""Nothing acknowledged is lost, no slot is held twice, every operation ends and nothing is destroyed in error: whatever
dies, freezes, fills up or lies about the time while clients work."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.chaos import proofs
from tests.chaos.figures import Evidence, Figures, figures
from tests.chaos.load import SKU, Ack, Record
from tests.chaos.node import GPUS
from tests.chaos.rig import READY_SECONDS, Rig, rig
from tests.chaos.scenarios import SCENARIOS, Scenario, Unavailable, sigkill_in_flight

if TYPE_CHECKING:
    import asyncpg

WARM_SECONDS = 4.0


@pytest.fixture(scope="module")
async def made() -> AsyncIterator[Rig]:
    async with rig() as opened:
        yield opened


async def survive(rig: Rig, scenario: Scenario, *, warm: float = WARM_SECONDS) -> Figures:
    """Clients work before, during and after it; then everything that was begun may end."""
    assert rig.load is not None
    rig.load.record = Record(kept=rig.load.record.kept, released=rig.load.record.released)
    stop, before = asyncio.Event(), [replica.ended_unasked for replica in rig.replicas]
    working = asyncio.create_task(rig.load.run(rig.clients, stop))
    try:
        await asyncio.sleep(warm)
        await scenario(rig)
        await asyncio.sleep(warm / 2)
    finally:
        stop.set()
        await working
    unsettled = await rig.settle()
    async with rig.database() as database:
        found = await figures(database, rig.load.record, rig.evidence(), excused=await excused(rig, scenario))
    assert [replica.ended_unasked for replica in rig.replicas] == before, "a replica ended though nobody killed it"
    assert rig.load.record.errors == 0, "a request was answered 500"
    assert not unsettled, unsettled
    return found


async def excused(rig: Rig, scenario: Scenario) -> frozenset[str]:
    """Operations that a standby never got are lost by what asynchronous replication is; the other figures stay."""
    if scenario.__name__ != "failover_that_lost_writes" or rig.load is None:
        return frozenset()
    async with rig.database() as database:
        known = {row[0] for row in await database.fetch("select id from operations")}
        alive = {row[0] for row in await database.fetch("select id from allocations")}
    gone = (ack for ack in rig.load.record.acks if ack.operation_id not in known or ack.allocation_id not in alive)
    return frozenset(ack.operation_id for ack in gone)


@pytest.mark.chaos
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_fault_of_the_whole_system_under_load_harms_nothing(made: Rig, name: str) -> None:
    if proofs.is_done(name):
        pytest.skip("proven at this commit already; FRESH=1 runs it again")
    began = time.monotonic()
    try:
        found = await survive(made, SCENARIOS[name])
    except Unavailable as lacking:
        pytest.skip(str(lacking))
    proofs.append(name, found, time.monotonic() - began)
    assert found.is_clean, found
    assert found.acknowledged > 0


@pytest.fixture(scope="module")
async def sampled() -> AsyncIterator[tuple[Rig, Figures]]:
    async with rig(seed=7, clients=3) as opened:
        opened.pace = 0.4
        yield opened, await survive(opened, sigkill_in_flight, warm=1)


async def test_killed_replicas_harm_nothing(sampled: tuple[Rig, Figures]) -> None:
    assert sampled[1].is_clean, sampled[1]
    assert sampled[1].acknowledged > 0


# Red twins: for each figure a planted fault that it must count.


async def drop(rig: Rig, record: Record, nodes: list[Evidence]) -> None:
    """A restart that was acknowledged, and of which the database knows nothing."""
    record.acks.append(Ack("restart", next(iter(record.kept)), "op_never_written", 0.0))


async def forget(rig: Rig, record: Record, nodes: list[Evidence]) -> None:
    """A restart that is acknowledged while the standby gets nothing, and a failover to it; nothing is excused."""
    assert rig.load is not None
    await asyncio.to_thread(rig.servers.add_standby)
    await asyncio.to_thread(rig.servers.lose_touch)
    id = next(iter(record.kept))
    done = await rig.load.insist("POST", f"/allocations/{id}/restart", {})
    record.acks.append(Ack("restart", id, done["operation_id"], 0.0))
    await asyncio.to_thread(rig.servers.fail_over)
    await rig.settle()


async def give_twice(rig: Rig, record: Record, nodes: list[Evidence]) -> None:
    """Without the index that allows one live claim of a slot, replicas that choose at the same moment sell twice."""
    assert rig.load is not None
    wanted = {"sku": SKU, "ssh_key_ids": [rig.load.key_id], "gpu_count": GPUS // 2}
    async with rig.database() as database:
        await database.execute("drop index claims_slot_once")
        async with database.transaction():
            await database.execute("lock table claims in share row exclusive mode")
            # Each replica sees room for two. All four do not fit, and none sees the others' claims.
            asked = [
                asyncio.create_task(rig.load.insist("POST", f"{url}/api/v1/allocations", wanted))
                for url in rig.replica_urls * 2
            ]
            assert not await rig.until(lambda: waiting(database, len(asked)), READY_SECONDS)
        made = [each["allocations"][0]["id"] for each in await asyncio.gather(*asked)]
    for id in made:
        await rig.load.ask("POST", f"/allocations/{id}/release", {})  # refused where the node refused the second one
    assert not await rig.settle()
    nodes[:] = rig.evidence()


async def waiting(database: "asyncpg.Connection[asyncpg.Record]", number: int) -> str:
    found = await database.fetchval("select count(*) from pg_locks where not granted")
    return "" if found == number else f"{found} requests wait"


async def never_end(rig: Rig, record: Record, nodes: list[Evidence]) -> None:
    async with rig.database() as database:
        await database.execute(
            "update operations set status = 'running', ended_at = null "
            "where id = (select id from operations where status = 'succeeded' limit 1)"
        )


async def destroy(rig: Rig, record: Record, nodes: list[Evidence]) -> None:
    """Somebody else's release, by the product's own way: no client of ours asked for it."""
    assert rig.load is not None
    id = next(iter(record.kept))
    rig.load.record.released.discard(id)
    await rig.load.insist("POST", f"/allocations/{id}/release", {})
    await rig.settle()
    nodes[:] = rig.evidence()


UNPLANT = """
    update operations set status = 'succeeded', ended_at = now() where status = 'running';
    delete from claims where released_at is not null;
    create unique index if not exists claims_slot_once on claims (slot_id) where released_at is null;
"""
Plant = Callable[[Rig, Record, list[Evidence]], Awaitable[None]]


@pytest.mark.parametrize(
    ("plant", "figure"),
    [
        (drop, "lost"),
        pytest.param(forget, "lost", marks=pytest.mark.chaos),  # takes a standby and a failover
        (give_twice, "held_twice"),
        (never_end, "without_end"),
        (destroy, "destroyed"),
    ],
)
async def test_each_figure_counts_a_planted_fault(sampled: tuple[Rig, Figures], plant: Plant, figure: str) -> None:
    rig = sampled[0]
    assert rig.load is not None
    record, nodes = replace(rig.load.record, acks=list(rig.load.record.acks)), rig.evidence()
    assert record.kept, "the load kept no allocation"
    await plant(rig, record, nodes)
    async with rig.database() as database:
        found = await figures(database, record, nodes)
        await database.execute(UNPLANT)
    counted = {name: len(getattr(found, name)) for name in ("lost", "held_twice", "without_end", "destroyed")}
    assert counted.pop(figure) >= 1
    assert set(counted.values()) == {0}, found
