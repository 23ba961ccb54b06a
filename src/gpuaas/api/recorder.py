"""What a terminal shows, kept as it is shown: a chunk at a time, compressed and sealed, a moment behind at most."""

import asyncio
import base64
import json
import zlib
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import datetime

import msgspec

from gpuaas.core.clock import Clock
from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.secrets import MasterKey
from gpuaas.domain.terminals import store
from gpuaas.domain.terminals.store import Chunk

FLUSH_SECONDS = 0.25
CHUNK_BYTES = 1 << 20  # kept at once, and held in memory at most twice
LOOP = "recordings"
BATCH = 4  # chunks read at a time
COMPRESSION = 1
Event = tuple[float, bytes | str]  # seconds since the terminal began; output, or a new size


class Recorder:
    """Of one terminal while this replica shows it. Bytes are known by their offset: shown again, they are kept once."""

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
        """Waits when it is far behind, and so does whoever writes."""
        if (known := self._kept_to - offset) > 0:
            data = data[known:]
        if not data:
            return
        if known < 0:  # lost with a replica that died; what follows stands in its right place
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
        """Until `finish`, and then to the last byte."""
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
        body = await asyncio.to_thread(self._packed, events, first)
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

    def _packed(self, events: list[Event], first: int) -> bytes:
        packed = zlib.compress(msgspec.msgpack.encode(events), COMPRESSION)
        return self._master.seal(packed, f"{self._id} {first}")


async def asciicast(db: Database, master: MasterKey, terminal_id: str, began: datetime) -> AsyncGenerator[bytes, None]:
    """The recording as asciicast v2, byte for byte: bytes that are no text stand, base64, in an event of kind `b` that
    players ignore, right before what they are shown as."""
    header = {"version": 2, "width": 80, "height": 24, "timestamp": int(began.timestamp())}
    yield json.dumps(header).encode() + b"\n"
    after, place, rest = None, 0, b""
    while True:
        async with db.read() as tx:
            chunks = await store.chunks(tx, terminal_id, after, BATCH)
        if not chunks:
            break
        for chunk in chunks:
            body = master.open(chunk.body, f"{terminal_id} {chunk.first_byte}")
            offset = chunk.first_byte
            lines: list[bytes] = []
            for at, what in msgspec.msgpack.decode(zlib.decompress(body)):
                if isinstance(what, str):
                    lines.append(line(at, "r", what))
                    continue
                fresh = rest + what[max(0, place - offset) :]
                offset += len(what)
                place = max(place, offset)
                whole = complete(fresh)
                fresh, rest = fresh[:whole], fresh[whole:]
                lines += shown(at, fresh)
            yield b"".join(lines)
            after = chunk
    if rest:
        yield b"".join(shown(0.0, rest))


def complete(data: bytes) -> int:
    """How much of it ends with a whole character: what a read cut in two is shown with its other half."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # noqa: PLR2004 - the first byte of several
            needed = 2 + (byte >= 0xE0) + (byte >= 0xF0)  # noqa: PLR2004
            return len(data) - back if needed > back else len(data)
        if byte < 0x80:  # noqa: PLR2004 - a byte of its own
            break
    return len(data)


def shown(at: float, data: bytes) -> list[bytes]:
    if not data:
        return []
    try:
        return [line(at, "o", data.decode())]
    except UnicodeDecodeError:
        exact = base64.b64encode(data).decode()
        return [line(at, "b", exact), line(at, "o", data.decode(errors="replace"))]


def line(at: float, kind: str, text: str) -> bytes:
    return msgspec.json.encode((round(at, 6), kind, text)) + b"\n"
