"""Recordings of terminals: packs chunks, and exports a recording as asciicast v2."""

import base64
import json
import zlib
from collections.abc import AsyncGenerator
from datetime import datetime

import msgspec

from gpuaas.core.db import Database
from gpuaas.core.secrets import MasterKey
from gpuaas.domain.terminals import store

BATCH = 4  # chunks per read
COMPRESSION = 1
Event = tuple[float, bytes | str]  # seconds since the terminal began; output, or a new size


def packed(master: MasterKey, terminal_id: str, first_byte: int, events: list[Event]) -> bytes:
    """Compress a chunk, and encrypt it bound to its position in its recording."""
    body = zlib.compress(msgspec.msgpack.encode(events), COMPRESSION)
    return master.seal(body, f"{terminal_id} {first_byte}")


async def asciicast(db: Database, master: MasterKey, terminal_id: str, began: datetime) -> AsyncGenerator[bytes, None]:
    """The recording as asciicast v2. Bytes that are not UTF-8 are preserved as base64 in an event of kind `b`, which
    players ignore, before the event with their replacement.
    """
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
    """The length up to the last complete character: a character that is split between two reads is shown with its
    rest.
    """
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # noqa: PLR2004 - the first byte of several
            needed = 2 + (byte >= 0xE0) + (byte >= 0xF0)  # noqa: PLR2004
            return len(data) - back if needed > back else len(data)
        if byte < 0x80:  # noqa: PLR2004 - ASCII
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
