"""Connections lent one at a time. asyncpg's own pool costs as much again as the small query it is for (measured)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import asyncpg

CLOSE_SECONDS = 5.0
Connection: TypeAlias = asyncpg.Connection


class Pool:
    """At most `size` connections, opened as they are needed; the one given back last is lent first."""

    def __init__(self, open_connection: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._open, self._room = open_connection, asyncio.Semaphore(size)
        self.size, self.in_use, self.waiting = size, 0, 0
        self._idle: list[Connection] = []
        self._is_closed = False

    async def take(self) -> Connection:
        if self._room.locked():
            self.waiting += 1
            try:
                await self._room.acquire()
            finally:
                self.waiting -= 1
        else:
            await self._room.acquire()
        self.in_use += 1
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await self._open()
        except BaseException:
            self._free()
            raise

    def give(self, connection: Connection) -> None:
        """One that is still inside a transaction is cut: the server rolls it back."""
        if connection.is_closed():
            pass
        elif connection.is_in_transaction() or self._is_closed:
            connection.terminate()
        else:
            self._idle.append(connection)
        self._free()

    def _free(self) -> None:
        self.in_use -= 1
        self._room.release()

    async def close(self) -> None:
        """Those at work are cut when they come back."""
        self._is_closed = True
        while self._idle:
            await self._idle.pop().close(timeout=CLOSE_SECONDS)
