"""The browser people use, driven as they would: Debian's Chromium.

A machine that boots beside it changes the host's network, and Chromium drops whatever it is loading when that happens.
People have theirs elsewhere, so stories give it a network of its own with one address, which leads to the server.
"""

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from tests.patience import PATIENCE_SECONDS

FLAGS = (
    "--no-sandbox",  # tests run as root, where Chromium's own sandbox refuses to
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = "Chromium is not here; as root: apt-get install chromium-headless-shell"
DOOR_SECONDS = PATIENCE_SECONDS


def executable() -> str | None:
    """Without the parts that only a window needs, if it is here."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


@asynccontextmanager
async def chromium(*flags: str, command: str | Path | None = None) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=command or executable(), args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            await browser.close()


class Way:
    """From Chromium to the server. A story may cut it: to the page this is a server that is gone."""

    def __init__(self) -> None:
        self.is_cut = False
        self.taken = set[asyncio.StreamWriter]()

    @contextmanager
    def cut(self) -> Iterator[None]:
        self.is_cut = True
        for writer in self.taken:
            writer.transport.abort()
        yield
        self.is_cut = False


@asynccontextmanager
async def quiet_chromium(port: int, *flags: str, way: Way | None = None) -> AsyncIterator[Browser]:
    """With port `port` of the loopback as the only place it can reach."""
    with tempfile.TemporaryDirectory(prefix="gpuaas-chromium-") as folder:
        async with apart(Path(folder), port, way or Way()) as command, chromium(*flags, command=command) as browser:
            yield browser


@asynccontextmanager
async def apart(folder: Path, port: int, way: Way) -> AsyncIterator[Path]:
    """A command that runs Chromium in a network of its own; who knocks at `port` there is led to the same port here."""
    command, hatch = folder / "chromium", folder / "hatch"
    become_root = "" if os.geteuid() == 0 else "--user --map-root-user "
    inside = f"{sys.executable} {Path(__file__).with_name('apart.py')} {port} {hatch} {executable()}"
    command.write_text(f'#!/bin/sh\nexec unshare --net {become_root}{inside} "$@"\n')
    command.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as handing:
        handing.bind(str(hatch))
        handing.listen()
        handing.setblocking(False)
        opening = asyncio.create_task(lead(handing, port, way))
        try:
            yield command
        finally:
            opening.cancel()
            with suppress(asyncio.CancelledError):
                await opening


async def lead(handing: socket.socket, port: int, way: Way) -> None:
    """Takes the listening socket that was made in the other network, and serves who comes to it."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(DOOR_SECONDS):
        given, _ = await loop.sock_accept(handing)
    with given:
        given.setblocking(True)
        _, [door], _, _ = await asyncio.to_thread(socket.recv_fds, given, 1, 1)

    async def knocked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.transport.abort()
            return
        if way.is_cut:
            writer.transport.abort()
            there[1].transport.abort()
            return
        ends = {writer, there[1]}
        way.taken |= ends
        await asyncio.gather(pour(reader, there[1]), pour(there[0], writer))
        way.taken -= ends

    server = await asyncio.start_server(knocked, sock=socket.socket(fileno=door))
    async with server:
        await server.serve_forever()


async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
