"""Records the output of a terminal in compressed, encrypted chunks, at most a quarter of a second late."""

import asyncio
from contextlib import suppress
from datetime import datetime

from gpuaas.core.clock import Clock
from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.secrets import MasterKey
from gpuaas.domain.terminals import store
from gpuaas.domain.terminals.recordings import Event, packed
from gpuaas.domain.terminals.store import Chunk

FLUSH_SECONDS = 0.25
CHUNK_BYTES = 1 << 20  # written at once, and held in memory at most twice
LOOP = "recordings"


class Recorder:
    """Records one terminal while this replica relays it. Bytes have offsets, so bytes that are shown again are stored
    once.
    """

    def __init__(
        self,
        *,
        db: Database,
        master: MasterKey,
        terminal_id: str,
        kept_to: int,
        began: datetime,
        clock: Clock,
    ) -> None:
        self._db, self._master, self._id = db, master, terminal_id
        self._began, self._clock = began, clock
        self._kept_to = kept_to
        self._events: list[Event] = []
        self._first, self._size = kept_to, 0
        self._wake, self._room = asyncio.Event(), asyncio.Event()
        self._room.set()
        self._is_over = False

    def _seconds(self) -> float:
        return (self._clock.now() - self._began).total_seconds()

    @property
    def length(self) -> int:
        return self._kept_to

    async def add(self, offset: int, data: bytes) -> None:
        """Waits while the recorder is far behind: backpressure on the terminal."""
        if (known := self._kept_to - offset) > 0:
            data = data[known:]
        if not data:
            return
        if known < 0:  # a replica crashed with the bytes before; later ones keep their offsets
            await self._write_now()
            self._first = self._kept_to = offset
        self._events.append((self._seconds(), bytes(data)))
        self._kept_to += len(data)
        self._size += len(data)
        self._wake.set()
        if self._size >= CHUNK_BYTES:
            self._room.clear()
            await self._room.wait()

    def resize(self, cols: int, rows: int) -> None:
        self._events.append((self._seconds(), f"{cols}x{rows}"))
        self._wake.set()

    async def run(self) -> None:
        """Write chunks until `finish`, and then the rest."""
        while not self._is_over or self._events:
            await self._wake.wait()
            self._wake.clear()
            if self._size < CHUNK_BYTES and not self._is_over:
                with suppress(TimeoutError):
                    async with asyncio.timeout(FLUSH_SECONDS):
                        await self._full_or_over()
            await self._write_now()

    async def _full_or_over(self) -> None:
        while self._size < CHUNK_BYTES and not self._is_over:
            self._wake.clear()
            await self._wake.wait()

    def finish(self) -> None:
        self._is_over = True
        self._wake.set()

    async def _write_now(self) -> None:
        events, first, size = self._events, self._first, self._size
        self._events, self._first, self._size = [], self._kept_to, 0
        self._room.set()
        if not events:
            return
        body = await asyncio.to_thread(packed, self._master, self._id, first, events)
        chunk = Chunk(first_byte=first, length=size, body=body)
        while True:
            try:
                async with self._db.read("keep what a terminal showed") as tx:
                    await store.add_chunk(tx, self._id, chunk)
            except (*AWAY, *RERUN) as error:
                await asyncio.sleep(self._db.health.failed(LOOP, error))
            else:
                self._db.health.worked(LOOP)
                return
