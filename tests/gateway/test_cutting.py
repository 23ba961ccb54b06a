"""A connection that must end does end, whatever its process inside, its descriptors and its reason are."""

import fcntl
import os
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager

import msgspec
import pytest

from gpuaas.engines.base import EngineError
from gpuaas.gateway import kernel
from gpuaas.wire.gateway import ACCESS_FILE
from tests.gateway.bundle import Container
from tests.gateway.conftest import USERNAME
from tests.gateway.node import ALLOCATION, Keys, Node

MOST_OF_SELECT = 1_024  # descriptors from here on cannot be given to select()


@contextmanager
def many_descriptors() -> Iterator[None]:
    """A process that is started meanwhile inherits so many that its next ones are past the limit of select()."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * MOST_OF_SELECT), hard))
    with ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        null = os.open("/dev/null", os.O_RDONLY)
        opened.callback(os.close, null)
        for _ in range(MOST_OF_SELECT):
            copy = os.dup(null)
            opened.callback(os.close, copy)
            os.set_inheritable(copy, True)
        yield


@pytest.fixture
async def crowded(container: Container, keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Node]:
    """The gateway of a busy node."""
    root = tmp_path_factory.mktemp("crowded")
    root.chmod(0o700)
    node = Node(root, container, keys, USERNAME)
    with many_descriptors():
        await node.start()
    try:
        yield node
    finally:
        await node.close()


async def test_a_gateway_with_many_descriptors_cuts_a_session_whose_key_is_revoked(crowded: Node) -> None:
    holder, guest = crowded.keys.authorized("holder"), crowded.keys.authorized("guest", granted=True)
    await crowded.set_keys(holder, guest)
    async with crowded.session(command="echo ready; exec cat", key="guest") as live:
        await live.see("ready")
        assert (await crowded.set_keys(holder)).is_open
        code, shown = await live.end()
    assert code == 255
    assert "key" in shown
    assert not await crowded.gateway.connections(ALLOCATION)


async def test_a_session_that_keeps_its_error_output_full_is_cut_like_any_other(node: Node) -> None:
    """The client does not read, so sshd cannot pass it on, and the process fills the buffer whenever there is room."""
    guest = node.keys.authorized("guest", granted=True)
    await node.set_keys(node.keys.authorized("holder"), guest)
    async with node.session(command="echo ready; yes >&2", key="guest") as live:
        await node.wait_for_connections(1)
        assert (await node.set_keys(node.keys.authorized("holder"))).is_open
        assert (await live.end())[0] == 255
    assert (await node.ssh("echo served"))[1] == "served\n"


async def test_every_request_is_answered_even_one_that_fails_in_an_unforeseen_way(node: Node) -> None:
    path = node.root / "environments" / ALLOCATION / ACCESS_FILE
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(node.access, bind="\0")))  # no address at all
    with pytest.raises(EngineError, match="the SSH gateway of the node failed"):
        await node.gateway.sync(ALLOCATION)


@pytest.fixture(params=["pipe", "socket"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """The reading and the writing end, the latter with a number past the limit of select()."""
    if request.param == "pipe":
        reading, writing = os.pipe()
    else:
        reading, writing = (each.detach() for each in socket.socketpair())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * MOST_OF_SELECT), hard))
    high = fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, MOST_OF_SELECT)
    yield reading, high
    for descriptor in (reading, writing, high):
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_is_written_at_once_arrives(pair: tuple[int, int]) -> None:
    reading, writing = pair
    assert kernel.write_at_once(writing, b"over\n")
    assert os.read(reading, 100) == b"over\n"
    assert os.get_blocking(writing), "the flag is shared with the process inside"


def test_a_full_buffer_is_an_error_and_never_waited_for(pair: tuple[int, int]) -> None:
    _, writing = pair

    def fill() -> None:
        while True:
            kernel.write_at_once(writing, bytes(4_096))

    with pytest.raises(BlockingIOError):
        fill()


def test_a_file_is_not_written_to(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("file") / "file"
    with path.open("wb") as file:
        assert not kernel.write_at_once(file.fileno(), b"over\n")
    assert path.read_bytes() == b""
