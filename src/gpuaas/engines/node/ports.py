"""Allocates numbers least recently used first, so that stale clients do not reach other environments."""

import asyncio
import contextlib
import errno
import json
import socket
from collections.abc import Iterator
from pathlib import Path

from gpuaas.engines.node import files

TRIES, PAUSE_SECONDS = 40, 0.05


class Recency:
    """Last use of each number in a range, stored on disk; losing the file only loses the order."""

    def __init__(self, path: Path, numbers: range) -> None:
        self._path, self._numbers = path, numbers
        try:
            used = json.loads(path.read_text())
        except (FileNotFoundError, ValueError):
            used = []
        self._used: dict[int, None] = dict.fromkeys(used)  # oldest use first

    def order(self) -> Iterator[int]:
        """Unused numbers first, then by last use. A generator, because callers use one of the first."""
        yield from (number for number in self._numbers if number not in self._used)
        yield from (number for number in list(self._used) if number in self._numbers)

    def touch(self, number: int) -> None:
        """Record a use."""
        self._used.pop(number, None)
        self._used[number] = None
        with contextlib.suppress(OSError):  # a full disk only loses the order
            files.write_whole(self._path, json.dumps(list(self._used)).encode(), durable=False)


def try_listen(address: str, port: int) -> socket.socket | None:
    """A bound socket, or None when another program has the port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return None
        raise
    listener.setblocking(False)
    return listener


async def listen(address: str, port: int) -> socket.socket | None:
    """Like `try_listen`, with retries: a forked child keeps copies of all sockets, including the one that tested the
    port, until its exec."""
    for _ in range(TRIES):
        if (listener := try_listen(address, port)) is not None:
            return listener
        await asyncio.sleep(PAUSE_SECONDS)
    return None


def is_free(address: str, port: int) -> bool:
    listener = try_listen(address, port)
    if listener is not None:
        listener.close()
    return listener is not None
