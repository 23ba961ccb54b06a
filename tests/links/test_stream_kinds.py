"""A stream kind is one file on each end and a registration; no other code knows it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from msgspec import Struct

from gpuaas.agent.streams.kinds import AgentStreams, Node, StreamKinds, StreamRefusedError, StreamSocket
from gpuaas.core.clock import SystemClock
from gpuaas.core.websockets import MessageSocket
from gpuaas.domain.capacity.streams import store
from gpuaas.engines.fake import FakeEngine
from gpuaas.links.streams.kinds import ServerStreamKinds, UnknownStreamKindError
from gpuaas.links.streams.server import STREAM_SECONDS, ExpectedStream
from gpuaas.wire.streams import StreamKind, T
from gpuaas.wire.terminals import TERMINAL
from tests.live import agent, serving
from tests.patience import PATIENCE_SECONDS
from tests.world import World, database


class EchoTarget(Struct, frozen=True, kw_only=True):
    greeting: str
    times: int


class OtherTarget(Struct, frozen=True, kw_only=True):
    path: str


ECHO, MIRROR = StreamKind("echo", EchoTarget), StreamKind("mirror", EchoTarget)


class EchoOnServer:
    """The server's file of the toy kind."""

    def __init__(self, kind: StreamKind[EchoTarget]) -> None:
        self.kind, self.is_running = kind, False

    async def run(self) -> None:
        self.is_running = True


class EchoOnAgent(AgentStreams[EchoTarget]):
    """The agent's file of the toy kind."""

    def __init__(self, node: Node) -> None:
        super().__init__(ECHO)
        self._engine = node.engine

    async def serve(self, socket: StreamSocket, allocation_id: str, target: EchoTarget) -> None:
        await socket.send(f"{target.greeting} {allocation_id} " * target.times)
        while (message := await socket.recv()) != b"end":
            await socket.send(message)


@dataclass(frozen=True)
class Place:
    world: World
    node_id: str
    allocation_id: str


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    """Control plane and agent, which both serve the toy kind. Only the server has a file of the kind `mirror`."""
    folder, engine = tmp_path_factory.mktemp("streams"), FakeEngine(clock=SystemClock().now, gpus=1)
    async with database() as dsn, serving(dsn, folder) as (world, url):
        await world.furnish()
        for kind in (ECHO, MIRROR):
            world.streams.kinds.register(EchoOnServer(kind))
        async with agent(world, url, folder / "node", engine, stream_kinds=[EchoOnAgent]) as node_id:
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            yield Place(world, node_id, id)


async def requested(place: Place, kind: StreamKind[T], target: T) -> ExpectedStream:
    async with place.world.db.write() as tx:
        return await place.world.streams.request(
            tx, kind, target, node_id=place.node_id, allocation_id=place.allocation_id
        )


async def arrived(expected: ExpectedStream) -> MessageSocket:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await expected.arrived


async def next_message(socket: MessageSocket) -> dict[str, object]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        message: dict[str, object] = await socket.receive()
    return {key: value for key, value in message.items() if key in ("text", "bytes", "code") and value is not None}


async def test_a_toy_kind_works_by_its_registration_alone(place: Place) -> None:
    expected = await requested(place, ECHO, EchoTarget(greeting="hello", times=2))
    socket = await arrived(expected)
    assert await next_message(socket) == {"text": f"hello {place.allocation_id} " * 2}
    await socket.send({"type": "websocket.send", "bytes": b"\x00there"})
    assert await next_message(socket) == {"bytes": b"\x00there"}
    await socket.send({"type": "websocket.send", "bytes": b"end"})
    assert await next_message(socket) == {"code": 1000}
    place.world.streams.forget(expected)


def test_the_loop_of_a_registered_kind_runs_beside_the_others(place: Place) -> None:
    echo = [each for each in place.world.streams.kinds if isinstance(each, EchoOnServer)]
    assert [each.run in place.world.streams.loops() for each in echo] == [True, True]


async def test_an_agent_answers_a_kind_that_it_does_not_know_with_the_reason(place: Place) -> None:
    expected = await requested(place, MIRROR, EchoTarget(greeting="hello", times=1))
    socket = await arrived(expected)
    reason = "streams of the kind 'mirror' are not known here; known kinds: echo, terminal"
    assert await next_message(socket) == {"text": f'{{"type":"error","reason":"{reason}"}}'}
    place.world.streams.forget(expected)


async def test_an_agent_answers_a_target_that_it_cannot_read_with_the_reason(place: Place) -> None:
    expected = await requested(place, StreamKind("echo", OtherTarget), OtherTarget(path="/"))
    message = str((await next_message(await arrived(expected)))["text"])
    assert message.startswith('{"type":"error","reason":"the target of this echo stream cannot be read: ')
    place.world.streams.forget(expected)


async def test_a_server_asks_no_node_for_a_kind_that_it_does_not_know(place: Place) -> None:
    with pytest.raises(UnknownStreamKindError, match="'other' are not known here; known kinds: echo, mirror, terminal"):
        await requested(place, StreamKind("other", OtherTarget), OtherTarget(path="/"))
    assert await place.world.value("select count(*) from stream_requests where kind = 'other'") == 0


async def test_a_stream_whose_transaction_is_rolled_back_is_not_expected(place: Place) -> None:
    streams, target = place.world.streams, EchoTarget(greeting="", times=0)
    before, within = dict(streams._expected), []

    async def roll_back() -> None:
        async with place.world.db.write() as tx:
            await streams.request(tx, ECHO, target, node_id=place.node_id, allocation_id=place.allocation_id)
            within.append(len(streams._expected))
            raise RuntimeError("rolled back")

    with pytest.raises(RuntimeError, match="rolled back"):
        await roll_back()
    assert (within, streams._expected) == ([len(before) + 1], before)


async def test_a_request_of_a_newer_replicas_kind_is_passed_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replica that holds the link may be older than the one that asks; only the agent has to know the kind."""
    streams, loop = place.world.streams, asyncio.get_running_loop()
    monkeypatch.setattr(streams, "kinds", ServerStreamKinds())
    expected = ExpectedStream("stream_new", place.node_id, loop.create_future(), asyncio.Event())
    streams._expected[expected.id] = expected
    request = store.StreamRequest(
        id=expected.id,
        node_id=place.node_id,
        allocation_id=place.allocation_id,
        kind="echo",
        target={"greeting": "hi", "times": 1},
        url=streams._url,
        expires_at=place.world.services.clock.now() + timedelta(seconds=STREAM_SECONDS),
    )
    async with place.world.db.write() as tx:
        await store.add(tx, request)
    assert await next_message(await arrived(expected)) == {"text": f"hi {place.allocation_id} "}
    streams.forget(expected)


def test_a_kind_is_registered_once_on_each_end() -> None:
    server = ServerStreamKinds()
    server.register(EchoOnServer(ECHO))
    with pytest.raises(ValueError, match="'echo' is already registered"):
        server.register(EchoOnServer(ECHO))

    class Silent(AgentStreams[EchoTarget]):
        async def serve(self, socket: StreamSocket, allocation_id: str, target: EchoTarget) -> None:
            """Nothing is sent."""

    with pytest.raises(ValueError, match="'echo' is already registered"):
        StreamKinds([Silent(ECHO), Silent(ECHO)])
    kinds = StreamKinds([Silent(ECHO)])
    assert [kind.name for kind in kinds] == [kinds.of("echo").name]
    with pytest.raises(StreamRefusedError, match="'terminal' are not known here; known kinds: echo"):
        kinds.of(TERMINAL.name)
