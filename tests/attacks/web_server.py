"""The HTTP front end as a process of its own, with the limits it is given: what stalls it does not stall the test.

The application reads a whole body and answers with its length; a WebSocket gets back what it sends, and is
admitted at `/admitted`.
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from gpuaas.core.settings import Settings
from gpuaas.core.websockets import admit_of
from gpuaas.main.front_end import FrontEndLimits
from gpuaas.main.server import listener
from tests.patience import PATIENCE_SECONDS

HOST = "127.0.0.1"
ENOUGH = 1 << 40
UNLIMITED = FrontEndLimits(
    head_bytes=ENOUGH,
    url_bytes=ENOUGH,
    header_count=ENOUGH,
    framing_bytes=ENOUGH,
    pipelined=ENOUGH,
    head_seconds=ENOUGH,
    request_seconds=ENOUGH,
    waiting_per_source=ENOUGH,
    waiting=ENOUGH,
)


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        if scope["path"] == "/admitted":
            admit_of(scope)()
        while (message := await receive())["type"] == "websocket.receive":
            await send({**message, "type": "websocket.send"})
        return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return
        size, more = size + len(message["body"]), message["more_body"]
    client, scheme = (scope["client"] or ("",))[0], scope["scheme"]
    body = f"{size} {client} {scheme}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


class WebServer:
    """Addresses a running front end by raw sockets."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """With a small send buffer: what was sent, the server has read, but for some kilobytes."""
        made = socket.create_connection((HOST, self.port))
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        return await asyncio.open_connection(sock=made)

    async def get(self, headers: str = "") -> str:
        """The body of one request of somebody else."""
        reader, writer = await self.open()
        try:
            writer.write(f"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n".encode())
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = (await reader.read()).decode()
        finally:
            writer.close()
        assert answer.startswith("HTTP/1.1 200"), answer
        return answer.partition("\r\n\r\n")[2]


@contextmanager
def web_server(folder: Path, limits: FrontEndLimits, proxies: str = "") -> Iterator[WebServer]:
    arguments = msgspec.json.encode([msgspec.to_builtins(limits), str(folder), proxies]).decode()
    command = [sys.executable, "-m", "tests.attacks.web_server", arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            yield WebServer(int(process.stdout.readline()))
        finally:
            process.kill()


async def main(arguments: str) -> None:
    limits, folder, proxies = msgspec.json.decode(arguments)
    settings = Settings(data=Path(folder), port=0, trusted_proxies=proxies)
    server = listener(app, settings, FrontEndLimits(**limits))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    sys.stdout.write(f"{server.servers[0].sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await task


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
