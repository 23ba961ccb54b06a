"""SEC13: a thief of a node's key takes its link in turn with the node, and answers in its place."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from gpuaas.agent.loop import run_agent
from gpuaas.core.clock import SystemClock
from gpuaas.core.points import NoPoints
from gpuaas.domain.capacity.streams import store as stream_requests
from gpuaas.domain.links.store import CONTEST_SECONDS, DISPUTE_SECONDS, HOLDERS_KEPT
from gpuaas.domain.terminals import store as terminals
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.link import Result, TaskStatus
from gpuaas.wire.terminals import SUBPROTOCOL
from tests.agent.link_server import NOON
from tests.attacks.stolen_key import Open, activated, opening, running, said
from tests.isolation.asgi import Socket
from tests.isolation.machines import Machine, enrol
from tests.links.wires import Wire, dial
from tests.live import agent, eventually, serving
from tests.world import World, database

# The planted bug: nobody remembers that a live link was replaced.
FORGET_DISPUTES = """
    create function forget_dispute() returns trigger language plpgsql as $$
    begin new.link_disputed_until := null; return new; end $$;
    create trigger forget_dispute before update on nodes for each row execute function forget_dispute();
"""
OPEN_KEY_TASK = """
    select ((wants -> 'keys' ->> 'generation')::int, id) from node_tasks
    where allocation_id = $1 and lane = 'keys' and ended_at is null
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


@pytest.fixture
async def machine(world: World) -> Machine:
    return await enrol(world, "robbed")


@pytest.fixture
async def linked(world: World, machine: Machine) -> AsyncIterator[Open]:
    async with opening(world, machine) as open:
        yield open


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


async def test_an_agent_without_a_name_takes_no_link_of_a_node_whose_agent_has_one(
    world: World, machine: Machine, linked: Open
) -> None:
    own = await linked("own")
    thief = await dial(world, machine, instance="")
    await thief.ended()
    assert (thief.closed, own.closed) == ((4401, "refused"), None)
    assert await world.value("select instance from links") == "own"


async def test_a_named_thief_of_an_older_agent_that_has_no_name_is_noticed(
    world: World, machine: Machine, linked: Open
) -> None:
    await linked("")
    await linked("thief")
    await linked("")
    assert await intent(world, machine) == "quarantined"


async def test_the_own_agent_is_remembered_however_many_names_a_thief_uses(
    world: World, machine: Machine, linked: Open
) -> None:
    for number in range(HOLDERS_KEPT):
        await linked(f"restart-{number}")
    await linked("own")
    world.clock.advance(seconds=CONTEST_SECONDS * 10)
    for number in range(HOLDERS_KEPT + 4):
        await linked(f"thief-{number}")
    await linked("own")
    assert await intent(world, machine) == "quarantined"
    kept = await world.value("select array_agg(instance) from link_holders")
    assert not any(name.startswith("restart") for name in kept), "those who can make no contest are forgotten"


async def ask_for_terminal(world: World, allocation_id: str) -> int:
    place = f"/api/v1/allocations/{allocation_id}/terminal-token"
    return (await world.http.post(place, json={})).status_code


async def test_no_terminal_is_opened_while_two_agents_may_have_the_key(
    world: World, machine: Machine, linked: Open
) -> None:
    allocation_id = await activated(world, await linked("own"))
    assert await ask_for_terminal(world, allocation_id) == 201
    await linked("thief")
    assert await ask_for_terminal(world, allocation_id) == 409
    world.clock.advance(seconds=DISPUTE_SECONDS + 1)
    assert await ask_for_terminal(world, allocation_id) == 201
    await linked("own")
    world.clock.advance(seconds=DISPUTE_SECONDS + 1)
    assert await ask_for_terminal(world, allocation_id) == 409
    broken = f"/api/v1/admin/allocations/{allocation_id}/break-glass"
    asked = {"reason": "to look around", "minutes": 5}
    assert (await world.operator.http.post(broken, json=asked)).status_code == 409


async def test_a_terminal_asked_for_before_the_thief_came_does_not_reach_it(
    world: World, machine: Machine, linked: Open
) -> None:
    allocation_id = await activated(world, await linked("own"))
    used, unused = await minted(world, allocation_id), await minted(world, allocation_id)
    terminal = dial_terminal(world, allocation_id, used)
    await eventually(lambda: world.value("select count(*) = 1 from stream_requests"))
    await linked("thief")
    refused = dial_terminal(world, allocation_id, unused)
    while (last := await refused.next())["type"] != "websocket.close":
        pass
    assert (last["code"], last["reason"]) == (4401, "refused")
    async with world.db.write() as tx:
        assert await stream_requests.take(tx, [machine.id], world.clock.now()) == []
    await linked("own")
    async with world.db.read() as tx:
        closed = await terminals.objection(tx, await world.value("select id from terminals"))
    assert closed is not None, "what the other holder may have opened ends with the contest"
    assert "two agents" in closed.reason
    await terminal.hang_up()


async def minted(world: World, allocation_id: str) -> str:
    answer = await world.http.post(f"/api/v1/allocations/{allocation_id}/terminal-token", json={})
    return str(answer.raise_for_status().json()["token"])


def dial_terminal(world: World, allocation_id: str, token: str) -> Socket:
    app: Any = world.app
    return Socket(app, f"/api/v1/terminal/{allocation_id}", subprotocols=[SUBPROTOCOL, token])


async def test_a_revoke_that_the_thief_confirmed_reaches_the_node_once_the_contest_is_settled(
    world: World, machine: Machine, linked: Open
) -> None:
    allocation_id = await activated(world, await linked("own"))
    thief = await linked("thief")
    own_keys = f"/api/v1/allocations/{allocation_id}/own-keys"
    (await world.http.put(own_keys, json={"allowed": True})).raise_for_status()
    await world.nodes.reconcile()
    generation, task_id = await world.value(OPEN_KEY_TASK, allocation_id)
    made = running(allocation_id, key_generation=generation)
    await said(world, thief, Result(task_id=task_id, status=TaskStatus.DONE, at=world.clock.now(), environment=made))
    await world.nodes.reconcile()
    await linked("own")
    await world.operator.http.post(f"/api/v1/admin/nodes/{machine.id}/unquarantine", json={"reason": "key rotated"})
    await world.nodes.reconcile()
    again = await world.value(OPEN_KEY_TASK, allocation_id)
    assert again is not None, "what the other holder confirmed proves nothing"
    assert again[0] > generation


async def released(world: World, wire: Wire) -> str:
    """An allocation of the node that is being released, its removal queued."""
    allocation_id = await activated(world, wire)
    await world.release(allocation_id)
    await world.nodes.reconcile()
    return allocation_id


async def answer_removal(world: World, wire: Wire, allocation_id: str) -> None:
    sql = "select id from node_tasks where allocation_id = $1 and kind = 'environment.remove' order by seq desc limit 1"
    task_id = str(await world.value(sql, allocation_id))
    at = NOON - timedelta(days=1)  # whatever time a thief says
    await said(world, wire, Result(task_id=task_id, status=TaskStatus.DONE, at=at, proofs=PROOF))
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
