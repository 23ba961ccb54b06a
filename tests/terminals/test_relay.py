"""A page takes in whatever its socket is sent: only what it says it has drawn keeps a flood out of its memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from gpuaas.core.websockets import MessageSocket
from gpuaas.links.streams.terminal_relay import TerminalRelay
from gpuaas.wire.terminals import WINDOW, Session, Shown

CHUNK = WINDOW // 8
FLOOD = 10 * WINDOW
SESSION = Session(session_id="term_1", resumed=False, recorded=False)


class Ends:
    """Both ends of a relay, in memory: an agent that floods, a page that says what it has drawn."""

    def __init__(self) -> None:
        self.to_page, self.uses, self._flooded = 0, 0, 0
        self.from_page: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def flood(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        if self._flooded >= FLOOD:
            await asyncio.Event().wait()
        self._flooded += CHUNK
        return {"type": "websocket.receive", "bytes": bytes(CHUNK)}

    async def take(self, message: dict[str, Any]) -> None:
        self.to_page += len(message.get("bytes") or b"")

    async def ignore(self, message: dict[str, Any]) -> None:
        pass

    def use(self) -> None:
        self.uses += 1

    async def has_drawn(self, count: int) -> int:
        """What the page has been sent once all that follows from its word has happened."""
        said = msgspec.json.encode(Shown(bytes=count)).decode()
        self.from_page.put_nowait({"type": "websocket.receive", "text": said})
        return await self.settled()

    async def settled(self) -> int:
        for _ in range(20 * FLOOD // CHUNK):
            await asyncio.sleep(0)
        return self.to_page


@asynccontextmanager
async def relayed(ends: Ends, *, offset: int = 0) -> AsyncIterator[None]:
    relay = TerminalRelay(
        MessageSocket(ends.from_page.get, ends.take),
        MessageSocket(ends.flood, ends.ignore),
        offset=offset,
        recorder=None,
        most_recorded=0,
        on_use=ends.use,
    )
    running = asyncio.create_task(relay.run(SESSION))
    yield
    ends.from_page.put_nowait({"type": "websocket.disconnect"})
    await running


async def test_a_page_is_never_sent_more_than_a_window_beyond_what_it_has_drawn() -> None:
    ends = Ends()
    ends.from_page.put_nowait({"type": "websocket.receive", "text": '{"type":"shown","bytes":0}'})
    async with relayed(ends, offset=5_000_000):
        assert await ends.settled() == WINDOW
        assert await ends.has_drawn(3 * CHUNK) == WINDOW + 3 * CHUNK
        assert await ends.has_drawn(0) == WINDOW + 3 * CHUNK  # what was drawn stays drawn
        assert await ends.has_drawn(FLOOD) == FLOOD
    assert ends.uses == FLOOD // CHUNK


async def test_who_says_nothing_of_drawing_is_bounded_by_its_socket_alone() -> None:
    ends = Ends()
    async with relayed(ends):
        assert await ends.settled() == FLOOD
