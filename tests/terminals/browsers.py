"""A browser's side of a terminal, without the browser: a token, a socket, and what came by it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from gpuaas.wire.terminals import SUBPROTOCOL, Error, Exit, Notice, Resize, Session, to_browser
from tests.patience import PATIENCE_SECONDS
from tests.world import Person, World


class Browser:
    """One open socket. `seen` is every byte it was shown."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen = bytearray()
        self.said: list[Session | Exit | Error | Notice] = []

    async def type(self, text: str | bytes) -> None:
        await self.socket.send(text.encode() if isinstance(text, str) else text)

    async def resize(self, cols: int, rows: int) -> None:
        await self.socket.send(msgspec.json.encode(Resize(cols=cols, rows=rows)).decode())

    async def next(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            message = await self.socket.recv()
        if isinstance(message, bytes):
            self.seen += message
        else:
            self.said.append(to_browser.decode(message))

    async def shows(self, text: str | bytes) -> None:
        wanted = text.encode() if isinstance(text, str) else text
        while wanted not in self.seen:
            await self.next()

    async def session(self) -> Session:
        while not self.said:
            await self.next()
        assert isinstance(self.said[0], Session), self.said
        return self.said[0]

    async def ended(self) -> tuple[int, Any]:
        """How it was closed, and the last word before."""
        try:
            while True:
                await self.next()
        except ConnectionClosed as closed:
            return (closed.rcvd.code if closed.rcvd else 1006), (self.said[-1] if self.said else None)


async def mint(person: Person, allocation_id: str, **asked: object) -> dict[str, Any]:
    answer = await person.http.post(f"/api/v1/allocations/{allocation_id}/terminal-token", json=asked)
    minted: dict[str, Any] = answer.raise_for_status().json()
    return minted


@asynccontextmanager
async def dialled(url: str, allocation_id: str, token: str, **options: Any) -> AsyncIterator[Browser]:
    """At this replica, with this token."""
    address = f"ws{url.removeprefix('http')}/api/v1/terminal/{allocation_id}"
    protocols: Any = [SUBPROTOCOL, token]
    async with connect(address, subprotocols=protocols, compression=None, proxy=None, **options) as socket:
        yield Browser(socket)


@asynccontextmanager
async def browsing(
    world: World, url: str, allocation_id: str, person: Person | None = None, **asked: object
) -> AsyncIterator[Browser]:
    """A token minted and used."""
    minted = await mint(person or world.ada, allocation_id, **asked)
    async with dialled(url, allocation_id, minted["token"]) as browser:
        yield browser
