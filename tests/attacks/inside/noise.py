"""Ways in which one allocation takes all it can get: from inside, and through its own SSH port."""

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.attacks.inside import exhaust
from tests.engines.openssh import OpenSsh
from tests.patience import PATIENCE_SECONDS

PROGRAM = Path(exhaust.__file__).read_text()
STRANGERS, FORWARDS, TERMINALS = 40, 200, 8
LISTENER_PORT = 7007
LISTENER = f"""
import socket
server, kept = socket.create_server(("127.0.0.1", {LISTENER_PORT}), backlog=1000), []
print("listening", flush=True)
while True: kept.append(server.accept()[0])
"""


async def exhaust_inside(ssh: OpenSsh, resource: str, seconds: float) -> None:
    """The program may be ended for what it takes; that is its own affair."""
    process = await ssh.spawn("ssh", *ssh.options(), ssh.target, f"sudo python3 - {resource} {seconds}")
    async with asyncio.timeout(seconds + PATIENCE_SECONDS):
        await process.communicate(PROGRAM.encode())


async def flood_with_strangers(ssh: OpenSsh, seconds: float) -> None:
    """Connections that prove no key, renewed as they are dropped."""
    loop, links = asyncio.get_running_loop(), list[asyncio.StreamWriter]()
    ends = loop.time() + seconds
    while loop.time() < ends:
        for _ in range(STRANGERS):
            _, writer = await asyncio.open_connection("127.0.0.1", ssh.environment.port)
            links.append(writer)
        await asyncio.sleep(0.1)
        while len(links) > STRANGERS:
            links.pop(0).close()
    for link in links:
        link.close()


async def flood_with_forwards(ssh: OpenSsh, seconds: float) -> None:
    """Forwarded connections of one SSH connection, renewed without end."""
    loop, links = asyncio.get_running_loop(), list[asyncio.StreamWriter]()
    with tempfile.TemporaryDirectory() as folder:
        local = f"{folder}/local"
        options = (*ssh.options(), "-L", f"{local}:127.0.0.1:{LISTENER_PORT}")
        process = await ssh.spawn("ssh", *options, ssh.target, f"exec python3 -c '{LISTENER}'")
        try:
            assert process.stdout is not None
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await process.stdout.readline() == b"listening\n"
            ends = loop.time() + seconds
            while loop.time() < ends:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_unix_connection(local)
                    writer.write(b"x" * 1000)
                    links.append(writer)
                if len(links) > FORWARDS:
                    links.pop(0).close()
                    await asyncio.sleep(0)
        finally:
            for link in links:
                link.close()
            process.kill()
            await process.communicate()


async def flood_terminals(ssh: OpenSsh, seconds: float) -> None:
    """Terminals that write as fast as they can, to clients that read everything."""

    async def write() -> None:
        command = f"timeout {seconds} yes {'x' * 200}"
        process = await ssh.spawn("ssh", *ssh.options(), "-tt", ssh.target, command)
        assert process.stdout is not None
        async with asyncio.timeout(seconds + PATIENCE_SECONDS):
            while await process.stdout.read(1 << 16):
                pass
            await process.communicate()

    await asyncio.gather(*(write() for _ in range(TERMINALS)))


FROM_OUTSIDE: dict[str, Callable[[OpenSsh, float], Awaitable[None]]] = {
    "ssh_flood": flood_with_strangers,
    "forwards": flood_with_forwards,
    "terminal_flood": flood_terminals,
}
KINDS = (*exhaust.RESOURCES, *FROM_OUTSIDE)


async def make_noise(ssh: OpenSsh, kind: str, seconds: float) -> None:
    if flood := FROM_OUTSIDE.get(kind):
        await flood(ssh, seconds)
    else:
        await exhaust_inside(ssh, kind, seconds)
