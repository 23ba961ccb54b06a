"""Forwards, agents and shared connections of OpenSSH: their sockets are the environment's own."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.gateway.node import Node, free_port, run, until

ECHO_SERVER = """
import socket, sys
if sys.argv[1].isdigit():
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
else:
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen()
print("listening", flush=True)
while True:
    peer, _ = server.accept()
    peer.sendall(b"from inside: " + peer.recv(100))
    peer.close()
"""


@asynccontextmanager
async def server_inside(node: Node, address: str) -> AsyncIterator[None]:
    async with node.session(command=f"exec python3 -u - {address}") as live:
        assert live.process.stdin is not None
        await live.say(ECHO_SERVER)
        live.process.stdin.write_eof()
        await live.see("listening")
        yield


async def talk(stream: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> bytes:
    reader, writer = stream
    try:
        writer.write(b"hello")
        return await reader.read()
    finally:
        writer.close()


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    try:
        return await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return None


async def test_a_local_forward_reaches_a_port_inside(node: Node) -> None:
    port = free_port()
    async with server_inside(node, "4001"), node.session("-N", "-L", f"127.0.0.1:{port}:127.0.0.1:4001"):
        assert await talk(await until(lambda: connected(port))) == b"from inside: hello"


async def test_a_local_forward_reaches_a_unix_socket_inside(node: Node) -> None:
    port = free_port()
    path = "/home/ada/forwarded.sock"
    async with server_inside(node, path), node.session("-N", "-L", f"127.0.0.1:{port}:{path}"):
        assert await talk(await until(lambda: connected(port))) == b"from inside: hello"


async def test_a_dynamic_forward_speaks_socks(node: Node) -> None:
    port = free_port()
    async with server_inside(node, "4002"), node.session("-N", "-D", f"127.0.0.1:{port}"):
        reader, writer = await until(lambda: connected(port))
        writer.write(b"\x05\x01\x00")
        assert await reader.readexactly(2) == b"\x05\x00"
        writer.write(b"\x05\x01\x00\x01" + socket.inet_aton("127.0.0.1") + (4002).to_bytes(2, "big"))
        assert (await reader.readexactly(10))[:2] == b"\x05\x00"
        assert await talk((reader, writer)) == b"from inside: hello"


async def test_a_name_means_inside_what_it_means_there(node: Node) -> None:
    port = free_port()
    node.container.run("sh", "-c", "grep -q named-inside /etc/hosts || echo 127.0.0.1 named-inside >> /etc/hosts")
    async with server_inside(node, "4003"), node.session("-N", "-L", f"127.0.0.1:{port}:named-inside:4003"):
        assert await talk(await until(lambda: connected(port))) == b"from inside: hello"


@asynccontextmanager
async def server_here() -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"from outside: " + await reader.read(100))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


TALK = """python3 -c '
import socket
{connect}
stream.send(b"hello")
print(stream.recv(99).decode())'
"""
READ_PORT = TALK.replace("{connect}", 'stream = socket.create_connection(("127.0.0.1", {port}))')
READ_SOCKET = TALK.replace("{connect}", 'stream = socket.socket(socket.AF_UNIX)\nstream.connect("{path}")')


async def test_a_remote_forward_listens_inside(node: Node) -> None:
    async with server_here() as port:
        code, out, error = await node.ssh(READ_PORT.format(port=4004), "-R", f"127.0.0.1:4004:127.0.0.1:{port}")
    assert (code, out) == (0, "from outside: hello\n"), error


async def test_a_remote_unix_socket_lies_inside(node: Node) -> None:
    for path in ("/home/ada/remote.sock", "/tmp/remote.sock", "/run/remote/remote.sock"):  # noqa: S108 - inside
        node.container.run("install", "-d", "-o", "1000", "/run/remote")
        async with server_here() as port:
            code, out, error = await node.ssh(READ_SOCKET.format(path=path), "-R", f"{path}:127.0.0.1:{port}")
        assert (code, out) == (0, "from outside: hello\n"), error


async def test_a_remote_forward_is_not_open_on_the_node(node: Node) -> None:
    port = free_port()
    async with (
        server_here() as target,
        node.session("-R", f"127.0.0.1:{port}:127.0.0.1:{target}", command="cat") as live,
    ):
        await live.say("ready\n")
        await live.see("ready")
        assert await connected(port) is None


async def test_a_forwarded_agent_signs_inside(node: Node, tmp_path: Path) -> None:
    path = tmp_path / "agent"
    agent = await asyncio.create_subprocess_exec(
        "ssh-agent", "-D", "-a", str(path), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:

        async def is_there() -> bool | None:
            return path.exists() or None

        await until(is_there)
        environment = ["env", f"SSH_AUTH_SOCK={path}"]
        assert (await run(*environment, "ssh-add", "-q", str(node.keys.private("holder"))))[0] == 0
        words = node.ssh_words("-A", node.target, "ssh-add -L; stat -c %U $SSH_AUTH_SOCK")
        code, out, error = await run(*environment, *words)
        assert code == 0, error
        assert node.keys.public("holder").split()[1] in out
        assert out.endswith("ada\n")
    finally:
        agent.terminate()
        await agent.wait()


async def test_one_connection_is_shared_by_many_sessions(node: Node) -> None:
    path = node.keys.folder / "control"  # a short path: OpenSSH adds to it
    sharing = ("-o", f"ControlPath={path}", "-o", "ControlMaster=auto")
    async with node.session(*sharing, "-N"):

        async def is_there() -> bool | None:
            return path.exists() or None

        await until(is_there)
        answers = await asyncio.gather(*(node.ssh(f"echo {number}; exit {number}", *sharing) for number in range(5)))
        assert [(code, out) for code, out, _ in answers] == [(number, f"{number}\n") for number in range(5)]
        assert len(await node.wait_for_connections(1)) == 1
