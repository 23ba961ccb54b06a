"""Budgets at their edges: the one above is refused with a reason, and neighbours are not affected."""

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncssh
import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.gateway.environments import CONNECTION_DESCRIPTORS
from gpuaas.gateway.limits import NAME, NODE_FULL, Limits
from gpuaas.gateway.sessions import SESSION_DESCRIPTORS
from gpuaas.wire.gateway import ACCESS_FILE
from tests.gateway import bundle
from tests.gateway.conftest import USERNAME
from tests.gateway.node import ALLOCATION, Keys, Node, free_port, until

NEIGHBOUR = "alc_neighbour"
LIMITS = Limits(connections=4, strangers=3, strangers_per_source=2, connections_per_person=2, sessions=2, terminals=1)


@pytest.fixture(scope="module")
async def node(
    container: bundle.Container, keys: Keys, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Node]:
    root = tmp_path_factory.mktemp("root")
    root.chmod(0o700)
    write_limits(root, LIMITS)
    started = Node(root, container, keys, USERNAME)
    await started.start()
    try:
        yield started
    finally:
        await started.gateway.close_environment(NEIGHBOUR, "the test is over")
        await started.close()


def write_limits(root: Path, limits: Limits) -> None:
    (root / NAME).write_bytes(msgspec.json.encode(asdict(limits)))


async def neighbour(node: Node) -> int:
    """Another environment of the same node admits the holder; its port."""
    port = free_port()
    folder = node.root / "environments" / NEIGHBOUR
    folder.mkdir(parents=True, exist_ok=True)
    access = msgspec.structs.replace(node.first_access(), allocation_id=NEIGHBOUR, port=port)
    (folder / ACCESS_FILE).write_bytes(msgspec.json.encode(access))
    assert (await node.gateway.sync(NEIGHBOUR)).is_open
    return port


async def admits_elsewhere(node: Node) -> None:
    here = node.port
    node.port = await neighbour(node)
    try:
        assert (await node.ssh("exit 9"))[0] == 9
    finally:
        node.port = here


async def test_connections_of_a_person_and_of_an_environment_are_bounded(node: Node) -> None:
    await node.set_keys(*(node.keys.authorized(name) for name in ("holder", "bob", "eve")))
    async with AsyncExitStack() as open:
        for name in ("bob", "bob", "eve"):
            live = await open.enter_async_context(node.session("-tt", key=name))
            await live.see("$")
        code, _, error = await node.ssh("true", key="bob")
        assert (code, error.strip()) == (
            255,
            "This person has too many connections to this environment. Close some first.",
        )
        await node.wait_for_connections(3)
        assert (await node.ssh("exit 5"))[0] == 5
        await until(lambda: reaches(node, 3))
        live = await open.enter_async_context(node.session("-tt"))
        await live.see("$")
        assert b"has reached its limit of connections" in await refusal(node)
        assert (await node.ssh("true"))[0] == 255
        await admits_elsewhere(node)
        assert len(await node.gateway.connections(ALLOCATION)) == 4
    await node.wait_for_connections(0)
    assert (await node.ssh("exit 6"))[0] == 6


async def reaches(node: Node, count: int) -> bool | None:
    """Those that were refused are gone, too."""
    return len(list((node.root / "connections").iterdir())) == count or None


async def refusal(node: Node) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
    try:
        return await reader.read()
    finally:
        writer.close()


async def test_sessions_of_a_connection_are_bounded(node: Node) -> None:
    async with AsyncExitStack() as open:
        folder = open.enter_context(TemporaryDirectory(prefix="m"))  # the path of a socket is short
        shared = ("-o", f"ControlPath={folder}/s")
        master = await open.enter_async_context(node.session(*shared, "-M", "-tt"))
        await master.see("$")
        second = await open.enter_async_context(node.session(*shared, "-tt"))
        await second.see("$")
        code, _, error = await node.ssh("true", *shared)
        assert (code, "too many sessions" in error) == (255, True), error
        await second.say("echo $((40 + 2)) goes on\n")
        await second.see("42 goes on")
        assert (await node.ssh("exit 4"))[0] == 4


async def test_an_operator_can_permit_more_sessions_than_the_default(node: Node) -> None:
    """The one above that limit is told the reason, too: sshd does not refuse it first."""
    most = Limits().sessions + 1
    write_limits(node.root, replace(LIMITS, sessions=most))
    await node.gateway.upgrade()
    try:
        async with asyncssh.connect(
            "127.0.0.1",
            node.port,
            username=node.username,
            client_keys=[str(node.keys.private("holder"))],
            known_hosts=([asyncssh.import_public_key(node.keys.public("host"))], [], []),
            config=None,
            agent_path=None,
        ) as client:
            started = [await client.create_process("echo ready; read line") for _ in range(most)]
            assert [await each.stdout.readline() for each in started] == ["ready\n"] * most
            refused = await client.run("true")
            assert (refused.exit_status, "too many sessions" in str(refused.stderr)) == (255, True), refused
    finally:
        write_limits(node.root, LIMITS)
        await node.gateway.upgrade()


async def test_terminals_of_an_environment_are_bounded(node: Node) -> None:
    await neighbour(node)
    terminal = await node.gateway.terminals.open(ALLOCATION, 1, "term_1")
    with pytest.raises(EngineError, match="1 terminals at most"):
        await node.gateway.terminals.open(ALLOCATION, 1, "term_2")
    (await node.gateway.terminals.open(NEIGHBOUR, 1, "term_3")).close()
    terminal.close()
    await node.gateway.terminals.settle()


async def test_silent_connections_make_room_for_newcomers(node: Node) -> None:
    silent = [await asyncio.open_connection("127.0.0.1", node.port) for _ in range(LIMITS.strangers_per_source + 1)]
    first, *others = [reader for reader, _ in silent]
    await first.read()  # until it is closed
    assert first.at_eof()
    for reader in others:
        assert (await reader.readline()).startswith(b"SSH-2.0-")
    for _, writer in silent:
        writer.close()


async def test_connections_without_a_key_are_bounded_for_an_environment_whatever_their_addresses(node: Node) -> None:
    """Three that are silent are the limit; the fourth replaces the oldest, and nobody who has a key is kept out."""
    silent = [await connect_from(node, f"127.0.0.{number}") for number in (1, 2, 3)]
    await until(lambda: reaches(node, LIMITS.strangers))
    silent.append(await connect_from(node, "127.0.0.4"))
    assert await silent[0][0].read() == b""
    await until(lambda: reaches(node, LIMITS.strangers))
    assert (await node.ssh("exit 8"))[0] == 8
    for _, writer in silent:
        writer.close()


async def test_descriptors_of_the_gateway_are_bounded(node: Node) -> None:
    """The node permits so few that there is none for a third connection; who is in stays, and it admits again later."""
    pid = (await node.gateway.status()).pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    async with node.session("-tt") as first, node.session("-tt") as second:
        for live in (first, second):
            await live.see("$")
        budget = 2 * (CONNECTION_DESCRIPTORS + SESSION_DESCRIPTORS)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (2 * budget, before[1]))  # half of so few is the gateway's own
        try:
            assert NODE_FULL.encode() in await refusal(node)
            assert (await node.ssh("true"))[0] == 255
            await second.say("echo $((40 + 2)) goes on\n")
            await second.see("42 goes on")
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        (await connect_from(node, "127.0.0.1"))[1].close()


async def connect_from(node: Node, host: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that says nothing; sshd has answered it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port, local_addr=(host, 0))
    assert (await reader.readline()).startswith(b"SSH-2.0-")
    return reader, writer
