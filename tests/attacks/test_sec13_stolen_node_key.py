"""SEC13: a thief of a node's key takes its link in turn with the node, and answers in its place."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from gpuaas.agent.loop import run_agent
from gpuaas.core.clock import SystemClock
from gpuaas.core.points import NoPoints
from gpuaas.domain.links.store import CONTEST_SECONDS, DISPUTE_SECONDS
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.environments import Environment, EnvironmentState, ProofItem
from gpuaas.wire.link import Ack, Result, TaskStatus
from tests.agent.link_server import NOON
from tests.isolation.machines import Machine, enrol
from tests.links import wires as wires_of
from tests.links.wires import Wire, task_of, writing
from tests.live import agent, eventually, serving
from tests.world import World, database

# The planted bug: nobody remembers that a live link was replaced.
FORGET_DISPUTES = """
    create function forget_dispute() returns trigger language plpgsql as $$
    begin new.link_disputed_until := null; return new; end $$;
    create trigger forget_dispute before update on nodes for each row execute function forget_dispute();
"""
PROOF = [ProofItem(item="processes", ok=True, evidence="believe me")]


async def test_two_live_agents_with_one_key_are_noticed_and_the_node_is_quarantined(tmp_path: Path) -> None:
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        engine = FakeEngine(clock=SystemClock().now, gpus=1)
        async with agent(world, url, tmp_path / "node", engine):
            pass  # enrolled, and stopped again
        shutil.copytree(tmp_path / "node", tmp_path / "stolen")
        async with agent(world, url, tmp_path / "node", engine) as node_id, thief(tmp_path / "stolen"):
            await eventually(lambda: is_quarantined(world, node_id))
        overview = (await world.operator.http.get("/api/v1/admin/overview")).json()
        assert [(one["code"], one["subject_id"]) for one in overview["alerts"]] == [("node_contested", node_id)]
        assert overview["nodes"]["contested"] == 1
        audited = await world.value("select count(*) from audit where action = 'node.contested'")
        told = await world.value("select count(*) from timeline_entries where phase = 'link_contested'")
        assert (audited, told) == (1, 1)


@asynccontextmanager
async def thief(folder: Path) -> AsyncIterator[None]:
    """A second real agent, from a copy of the node's folder."""
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_agent(
            folder=folder,
            engine=FakeEngine(clock=SystemClock().now, gpus=1),
            clock=SystemClock(),
            points=NoPoints(),
            stop=stop,
            stop_environments=lambda: False,
            agent_version="1",
        )
    )
    try:
        yield
    finally:
        stop.set()
        await running


Open = Callable[[str], Awaitable[Wire]]


@pytest.fixture
async def machine(world: World) -> Machine:
    return await enrol(world, "robbed")


@pytest.fixture
async def linked(world: World, machine: Machine) -> AsyncIterator[Open]:
    """Opens links of the node as agent processes of these names; all are over after the test."""
    wires: list[Wire] = []

    async def open(instance: str) -> Wire:
        wires.append(await wires_of.linked(world, machine, instance=instance))
        return wires[-1]

    yield open
    for wire in wires:
        await wire.hang_up()


async def is_quarantined(world: World, node_id: str) -> bool:
    node = (await world.operator.http.get(f"/api/v1/admin/nodes/{node_id}")).json()
    return node["intent"] == "quarantined" and node["contested_at"] is not None and "key" in node["intent_reason"]


async def intent(world: World, machine: Machine) -> str:
    return str((await world.operator.http.get(f"/api/v1/admin/nodes/{machine.id}")).json()["intent"])


async def test_restarts_of_one_agent_are_no_contest_however_quick(world: World, machine: Machine, linked: Open) -> None:
    for number in range(12):
        wire = await linked(f"process-{number}")
        if number % 2:
            await wire.close(1000, "stopped")  # otherwise it died without a word, and the next one replaces its link
    for _ in range(3):
        await linked("process-12")  # one whose link broke and that dials again
    assert await intent(world, machine) == "active"


async def test_holders_that_alternate_more_slowly_than_a_minute_are_noticed_when_the_other_returns(
    world: World, machine: Machine, linked: Open
) -> None:
    await linked("own")
    await linked("thief")
    world.clock.advance(seconds=CONTEST_SECONDS + 1)
    await linked("own")
    assert await intent(world, machine) == "active"
    await linked("thief")
    assert await intent(world, machine) == "quarantined"


async def released(world: World, wire: Wire) -> str:
    """An allocation of the node that is being released, its removal queued."""
    allocation_id, task_id = await task_of(world)
    made = Environment(
        allocation_id=allocation_id, state=EnvironmentState.RUNNING, boot=1, port=20_000, host_key="ssh-ed25519 x"
    )
    wire.say(Result(task_id=task_id, status=TaskStatus.DONE, at=world.clock.now(), environment=made))
    async with writing(world):
        await wire.heard(Ack)
    await world.nodes.reconcile()
    assert (await world.seen(allocation_id))["status"] == "active"
    await world.release(allocation_id)
    await world.nodes.reconcile()
    return allocation_id


async def answer_removal(world: World, wire: Wire, allocation_id: str) -> None:
    sql = "select id from node_tasks where allocation_id = $1 and kind = 'environment.remove' order by seq desc limit 1"
    task_id = str(await world.value(sql, allocation_id))
    at = NOON - timedelta(days=1)  # whatever time a thief says
    wire.say(Result(task_id=task_id, status=TaskStatus.DONE, at=at, proofs=PROOF))
    async with writing(world):
        await wire.heard(Ack)
    await world.nodes.reconcile()


async def test_a_forged_removal_never_counts_as_a_proof(world: World, machine: Machine, linked: Open) -> None:
    own = await linked("own")
    allocation_id = await released(world, own)
    thief = await linked("thief")
    await answer_removal(world, thief, allocation_id)
    assert (await world.seen(allocation_id))["status"] == "releasing"
    own = await linked("own")
    assert await intent(world, machine) == "quarantined"
    world.clock.advance(seconds=DISPUTE_SECONDS + 1)
    await world.nodes.reconcile()
    shown = await world.get(allocation_id)
    assert (shown.status.value, shown.cleanup_proven_at) == ("releasing", None)
    await world.operator.http.post(f"/api/v1/admin/nodes/{machine.id}/unquarantine", json={"reason": "key rotated"})
    await world.nodes.reconcile()
    shown = await world.get(allocation_id)
    assert (shown.status.value, shown.cleanup_proven_at) == ("releasing", None), "the node is asked again"
    await answer_removal(world, own, allocation_id)
    assert (await world.get(allocation_id)).status.value == "released"


async def test_a_removal_answered_after_a_restart_that_nobody_contests_counts_soon(world: World, linked: Open) -> None:
    own = await linked("before")
    allocation_id = await released(world, own)
    again = await linked("after")
    await answer_removal(world, again, allocation_id)
    assert (await world.seen(allocation_id))["status"] == "releasing"
    world.clock.advance(seconds=DISPUTE_SECONDS + 1)
    await world.nodes.reconcile()
    assert (await world.get(allocation_id)).status.value == "released"


async def test_the_twin_that_forgets_a_replaced_link_takes_the_forged_removal(
    world: World, machine: Machine, linked: Open
) -> None:
    connection = await asyncpg.connect(world.dsn)
    try:
        await connection.execute(FORGET_DISPUTES)
    finally:
        await connection.close()
    with pytest.raises(AssertionError, match="released"):
        await test_a_forged_removal_never_counts_as_a_proof(world, machine, linked)
