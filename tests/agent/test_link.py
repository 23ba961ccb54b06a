"""The link itself: proof, loss, return."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from gpuaas.agent.link import LONGEST_RETRY_SECONDS, PING_SECONDS, Link
from gpuaas.agent.outgoing import Outgoing
from gpuaas.wire.environments import NodeFacts
from gpuaas.wire.link import (
    Beat,
    Challenge,
    EndTerminals,
    Hello,
    Lease,
    OpenStream,
    Report,
    Result,
    Task,
    TaskStatus,
    Welcome,
    link_proof,
)
from gpuaas.wire.spares import WantedSpares
from gpuaas.wire.task_keys import TaskKeyStatement
from tests.agent.link_server import NOON, eventually
from tests.agent.world import NODE_ID, World, enrolled, ensure, world_in


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with world_in(tmp_path) as world:
        yield world


def test_a_proof_is_good_for_one_nonce_one_node_and_one_origin(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    identity = enrolled(tmp_path, "https://gpuaas.example.org", key)
    proof = identity.prove(b"nonce")
    public = key.public_key()
    public.verify(proof, link_proof(b"nonce", NODE_ID, "https://gpuaas.example.org:443"))
    for nonce, node_id, origin in [
        (b"other", NODE_ID, "https://gpuaas.example.org:443"),
        (b"nonce", "node_other", "https://gpuaas.example.org:443"),
        (b"nonce", NODE_ID, "https://evil.example.org:443"),
        (b"nonce", NODE_ID, "http://gpuaas.example.org:443"),
        (b"nonce", NODE_ID, "https://gpuaas.example.org:444"),
    ]:
        with pytest.raises(InvalidSignature):
            public.verify(proof, link_proof(nonce, node_id, origin))


async def test_every_link_is_opened_by_a_new_proof(world: World) -> None:
    async with world.agent():
        await world.server.drop()
        await world.server.linked_after(1)
    assert len({hello.proof for hello in world.server.hellos}) == len(world.server.hellos) == 2


async def test_after_a_drop_the_agent_comes_back_and_reports_again(world: World) -> None:
    async with world.agent():
        await eventually(lambda: len(world.server.all(Report)) == 1)
        for n in range(1, 4):
            await world.server.drop()
            await world.server.linked_after(n)
            await eventually(lambda n=n: len(world.server.all(Report)) == n + 1)  # type: ignore[misc]
        await world.server.give("t1", ensure("t1"))
        assert (await world.server.result("t1")).status is TaskStatus.DONE


async def test_a_task_goes_on_while_the_server_is_away_and_its_result_arrives_after(world: World) -> None:
    world.engine.gates["ensure"].shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.engine.gates["ensure"].reached.wait()
        await world.server.stop()
        world.engine.gates["ensure"].open()
        await eventually(lambda: "alloc_a" in world.engine.here)
        await world.server.start()
        done = await world.server.result("t1")
    assert [one.phase for one in done.phases] == ["preparing", "booting", "access_ready"]
    assert world.engine.calls == ["start", "ensure alloc_a"]


async def test_a_result_is_sent_on_every_link_until_it_is_acknowledged(world: World) -> None:
    world.server.acknowledges = False
    async with world.agent():
        await world.server.say(ensure("t1"))
        first = await world.server.result("t1")
        await world.server.drop()
        assert await world.server.result("t1", nth=2) == first
        world.server.acknowledges = True
        await world.server.drop()
        assert await world.server.result("t1", nth=3) == first
        await world.server.say(ensure("t2", "alloc_b"))
        await world.server.result("t2")  # so the acknowledgement before it was heard
        epoch = world.server.epoch
        await world.server.drop()
        await world.server.linked_after(epoch)
        await eventually(lambda: isinstance(world.server.heard[-1], Report | Beat))
    assert len(world.server.all(Result, "t1")) == 3


async def test_what_a_newer_server_says_is_ignored_and_the_link_lives(world: World) -> None:
    async with world.agent():
        await world.server.say(msgspec.Raw(msgspec.msgpack.encode({"type": "stream", "id": 1})))
        await world.server.say(msgspec.Raw(b"\xc1"))
        await world.server.say(Welcome(epoch=9, server_time=NOON))
        await world.server.give("t1", ensure("t1"))
        assert (await world.server.result("t1")).status is TaskStatus.DONE
    assert world.server.epoch == 1


async def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    """The proof for one origin is never shown to another."""
    dialled: list[ServerConnection] = []

    async def elsewhere(connection: ServerConnection) -> None:
        dialled.append(connection)

    async with serve(elsewhere, "127.0.0.1", 0) as other:
        target = f"ws://127.0.0.1:{port_of(other)}/"
        asked = 0

        def redirect(connection: ServerConnection, request: Request) -> Response:
            nonlocal asked
            asked += 1
            answer = connection.respond(307, "")
            answer.headers["Location"] = target
            return answer

        async with serve(elsewhere, "127.0.0.1", 0, process_request=redirect) as server:
            enrolled(tmp_path, f"http://127.0.0.1:{port_of(server)}", Ed25519PrivateKey.generate())
            world, stop = World(tmp_path, None), asyncio.Event()  # type: ignore[arg-type]
            async with asyncio.TaskGroup() as group:
                group.create_task(world.run(stop))
                await eventually(lambda: asked >= 2)
                stop.set()
    assert dialled == []


async def test_a_server_that_is_silent_counts_as_dead_and_is_dialled_again(tmp_path: Path) -> None:
    """Its kernel still holds the connection, but nobody answers a ping any more."""
    dialled, ended = 0, asyncio.Event()

    async def freeze(connection: ServerConnection) -> None:
        nonlocal dialled
        dialled += 1
        await connection.send(msgspec.msgpack.encode(Challenge(nonce=b"n", server_time=NOON)))
        await connection.recv()
        await connection.send(msgspec.msgpack.encode(Welcome(epoch=1, server_time=NOON)))
        connection.transport.pause_reading()
        await ended.wait()

    class Nobody:
        def welcomed(self, welcome: Welcome) -> None:
            pass

        def received(self, task: Task) -> None:
            pass

        def logins_kept(self, ids: list[str]) -> None:
            pass

        def acknowledged(self, task_ids: list[str]) -> None:
            pass

        async def leased(self, lease: Lease) -> None:
            pass

        def asked(self, stream: OpenStream) -> None:
            pass

        def ended(self, terminals: EndTerminals) -> None:
            pass

        def wanted_spares(self, wanted: WantedSpares) -> None:
            pass

        def stated(self, statement: TaskKeyStatement) -> None:
            pass

    async with serve(freeze, "127.0.0.1", 0, ping_interval=None, close_timeout=0.1) as server:
        link = link_to(tmp_path, f"http://127.0.0.1:{port_of(server)}", ping_seconds=0.02)
        running = asyncio.create_task(link.run(Nobody()))
        await eventually(lambda: dialled >= 2)
        running.cancel()
        await asyncio.wait({running})
        ended.set()


def test_the_first_retry_is_quick_and_none_is_slow(tmp_path: Path) -> None:
    longest = link_to(tmp_path / "a", "http://127.0.0.1:1", byte=b"\xff")
    delays = [round(longest._delay(failures), 2) for failures in range(10)]
    assert delays == [0.5, 0.5, 0.5, 1, 1, 2, 2, 4, 4, 8]
    assert longest._delay(100000) <= LONGEST_RETRY_SECONDS
    assert link_to(tmp_path / "b", "http://127.0.0.1:1", byte=b"\x00")._delay(5) == 0


def link_to(folder: Path, url: str, *, byte: bytes = b"\x00", ping_seconds: float = PING_SECONDS) -> Link:
    folder.mkdir(exist_ok=True)
    identity = enrolled(folder, url, Ed25519PrivateKey.generate())
    facts = NodeFacts(engine="none", simulated=True, vcpus=1, memory_mib=1, ssh_host="")

    def introduce(nonce: bytes) -> Hello:
        proof = identity.prove(nonce)
        return Hello(node_id=NODE_ID, proof=proof, agent_version="1", engine="none", boot_id="", facts=facts)

    return Link(
        identity=identity,
        introduce=introduce,
        outgoing=Outgoing(),
        monotonic=lambda: 0.0,
        randomness=lambda size: byte * size,
        ping_seconds=ping_seconds,
    )


async def test_outgoing_drops_progress_and_never_results() -> None:
    outgoing = Outgoing(limit=2)
    result = Result(task_id="t", status=TaskStatus.DONE, at=NOON)
    assert not outgoing.put(Beat())  # no link
    outgoing.open()
    assert [outgoing.put(one) for one in (Beat(), Beat(), Beat(), result)] == [True, True, False, True]
    assert [await outgoing.get() for _ in range(3)] == [Beat(), Beat(), result]
    outgoing.put(Beat())
    outgoing.open()  # a new link begins with nothing of the old one
    outgoing.put(result)
    assert await outgoing.get() == result


def port_of(server: Server) -> int:
    port: int = next(iter(server.sockets)).getsockname()[1]
    return port
