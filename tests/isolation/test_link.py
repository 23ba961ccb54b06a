"""The link opens to a node that proves it is that node, and to nothing else; and then speaks for that node alone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import quote

import pytest

from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.link import Beat, LogLines, Progress, Refused, Report, Result, TaskStatus
from tests.isolation.asgi import Socket
from tests.isolation.ledger import changes, ledger
from tests.isolation.machines import Machine, acknowledged, challenged, decoder, encode, enrol
from tests.world import World

Fleet = dict[str, Machine]
Refusal = tuple[object, ...]
HELD_ON = "select string_agg(distinct node_id, ' ') from device_holds"
UNKNOWN = "select id || ' ' || unknown_environments::text from nodes where unknown_environments <> '{}'"


@pytest.fixture
async def fleet(world: World) -> Fleet:
    """A machine of ours, another's, one that was retired; and a name nobody has."""
    fleet = {name: await enrol(world, name) for name in ("mine", "other", "retired")}
    for verb in ("drain", "retire"):
        path = f"/api/v1/admin/nodes/{fleet['retired'].id}/{verb}"
        (await world.operator.http.post(path, json={})).raise_for_status()
    return fleet


async def refusal(socket: Socket, said: Callable[[bytes], bytes | str]) -> Refusal:
    """What a caller who is not let in gets to see; the node itself is told that it dialled another URL."""
    socket.say(said(await challenged(socket)))
    last = await socket.next()
    if last["type"] == "websocket.send":
        assert isinstance(decoder.decode(last["bytes"]), Refused)
        last = await socket.next()
    return (last["type"], last.get("code"), last.get("reason"))


def impostures(fleet: Fleet, unborn: str) -> dict[str, tuple[Machine, str, Callable[[bytes], bytes | str]]]:
    """Who dials, at which address, saying what to the challenge."""
    mine, other, retired = fleet["mine"], fleet["other"], fleet["retired"]
    nobody, stale = "node_00000000000000000000000000", b"\x07" * 32
    return {
        "a node that there is not": (mine, nobody, lambda nonce: mine.hello(nonce, as_=nobody)),
        "another's id with our key": (mine, other.id, lambda nonce: mine.hello(nonce, as_=other.id)),
        "our address, another's hello": (mine, mine.id, lambda nonce: mine.hello(nonce, as_=other.id)),
        "another's address, our hello": (mine, other.id, mine.hello),
        "our id with another's key": (mine, mine.id, lambda nonce: other.hello(nonce, as_=mine.id)),
        "never enrolled": (mine, unborn, lambda nonce: mine.hello(nonce, as_=unborn)),
        "retired": (retired, retired.id, retired.hello),
        "proof for another server": (mine, mine.id, lambda nonce: mine.hello(nonce, origin="http://evil:80")),
        "proof of yesterday": (mine, mine.id, lambda _: mine.hello(stale)),
        "not a hello": (mine, mine.id, lambda _: encode(Beat())),
        "rubbish": (mine, mine.id, lambda _: b"\xff\x00rubbish"),
        "nothing": (mine, mine.id, lambda _: b""),
        "text": (mine, mine.id, lambda _: "hello"),
        "NUL in the id": (mine, "node_\x00", lambda nonce: mine.hello(nonce, as_="node_\x00")),
        "an id of a thousand": (mine, "n" * 1000, lambda nonce: mine.hello(nonce, as_="n" * 1000)),
    }


async def test_whoever_is_not_the_node_is_refused_as_if_the_node_were_not(world: World, fleet: Fleet) -> None:
    asked = await world.operator.http.post("/api/v1/admin/enrolment-tokens", json={"node_name": "unborn"})
    cases = impostures(fleet, asked.json()["node_id"])
    before = await ledger(world.dsn)
    seen: dict[str, Refusal] = {}
    for token in ("", world.ada.token, world.operator.token):
        for name, (machine, address, said) in cases.items():
            seen[f"{name} {token[:4]}"] = await refusal(machine.dial(quote(address), token=token), said)
    assert set(seen.values()) == {("websocket.close", 4401, "refused")}, seen
    assert changes(before, await ledger(world.dsn)) == []


async def test_the_node_itself_is_let_in(world: World, fleet: Fleet) -> None:
    """So that the refusals above mean something."""
    socket = await fleet["mine"].link()
    assert world.links.count == 1
    await socket.hang_up()
    assert world.links.count == 0


async def test_no_other_socket_is_there(world: World, fleet: Fleet) -> None:
    app: Any = world.app
    for path in ("/", "/api/v1/allocations", "/internal/v1/nodes", "/internal/v1/nodes/enrol", "/terminal/x"):
        last = await Socket(app, path).next()
        assert last["type"] == "websocket.close"


@pytest.fixture
async def writing(world: World) -> AsyncIterator[None]:
    task = asyncio.ensure_future(world.links.messages.write())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def a_task_of(world: World, machine: Machine) -> tuple[str, str]:
    """An allocation on that machine, and the task queued for it."""
    answer = (await world.submit()).raise_for_status().json()
    await world.nodes.reconcile()
    allocation_id = answer["allocations"][0]["id"]
    return allocation_id, await world.value("select id from node_tasks where node_id = $1", machine.id)


def lies(world: World, allocation_id: str, task_id: str) -> list[bytes]:
    """Everything a node can say of a task; the result last, for it is acknowledged."""
    now = world.clock.now()
    standing = Environment(allocation_id=allocation_id, state=EnvironmentState.RUNNING, boot=1, port=2222, host_key="x")
    return [
        encode(Progress(task_id=task_id, phase="booting", note="a lie", at=now)),
        encode(LogLines(task_id=task_id, first_seq=1, lines=["a lie"], at=now)),
        encode(Report(environments=[standing], at=now)),
        encode(Result(task_id=task_id, status=TaskStatus.DONE, at=now, environment=standing)),
    ]


@pytest.mark.parametrize("speaker", ["mine", "other"])
async def test_a_node_speaks_for_itself_alone(world: World, fleet: Fleet, writing: None, speaker: str) -> None:
    """The same words by the node they are about are believed; by another they tell only of its own drift."""
    victim = await fleet["other"].link()
    await world.services.index.refresh()
    allocation_id, task_id = await a_task_of(world, fleet["other"])
    socket = victim if speaker == "other" else await fleet["mine"].link()
    before = await ledger(world.dsn)
    for lie in lies(world, allocation_id, task_id):
        socket.say(lie)
    await acknowledged(socket)
    changed = changes(before, await ledger(world.dsn))
    if speaker == "other":
        assert {"node_tasks", "task_logs", "timeline_entries"} <= set(changed)
    else:
        assert changed == ["device_holds", "nodes", "unknown_environments"]
        assert await world.value(HELD_ON) == fleet["mine"].id
        assert await world.value(UNKNOWN) == f"{fleet['mine'].id} {{{allocation_id}}}"
    for each in {victim, socket}:
        await each.hang_up()


async def test_what_a_machine_enrols_with_opens_no_other_door(world: World) -> None:
    machine = await enrol(world, "first")
    asked = await world.operator.http.post("/api/v1/admin/enrolment-tokens", json={"node_name": "second"})
    for credential in (asked.json()["token"], machine.id):
        assert (await world.client(credential).get("/api/v1/me")).status_code == 401
