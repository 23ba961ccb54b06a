"""A connection pool. asyncpg's pool takes as much time as a small query (measured), this one almost none."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import asyncpg

from gpuaas.core.trouble import PoolExhausted

CLOSE_SECONDS = 5.0
WAIT_SECONDS = 15.0  # to wait for a free connection
RENEW_SECONDS = 1.0  # between two renewals: every failed write on a read-only database requests one
Connection: TypeAlias = asyncpg.Connection


class Pool:
    """At most `size` connections, opened on demand; the most recently returned one is used first."""

    def __init__(
        self, open_connection: Callable[[], Awaitable[Connection]], size: int, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        self._open, self._room, self._wait_seconds = open_connection, asyncio.Semaphore(size), wait_seconds
        self.size, self.in_use, self.waiting = size, 0, 0
        self._idle: list[Connection] = []
        self._lent: set[Connection] = set()
        self._old: set[Connection] = set()  # acquired before the pool was renewed
        self._renewed_at = float("-inf")
        self._generation = 0  # counts renewals
        self._is_closed = False

    async def take(self) -> Connection:
        if self._room.locked():
            self.waiting += 1
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await self._room.acquire()
            except TimeoutError as error:
                raise PoolExhausted(
                    f"all {self.size} connections stayed in use for {self._wait_seconds:.0f} s"
                ) from error
            finally:
                self.waiting -= 1
        else:
            await self._room.acquire()
        self.in_use += 1
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    break
            else:
                connection = await self._open_current()
        except BaseException:
            self._free()
            raise
        self._lent.add(connection)
        return connection

    async def _open_current(self) -> Connection:
        """Open a connection; repeat if the pool was renewed meanwhile, because it may lead to the old primary."""
        while True:
            generation = self._generation
            connection = await self._open()
            if generation == self._generation:
                return connection
            connection.terminate()

    def give(self, connection: Connection) -> None:
        """Return a connection; close it if a transaction is still open, so that the server rolls back."""
        self._lent.discard(connection)
        is_old = connection in self._old
        self._old.discard(connection)
        if connection.is_closed():
            pass
        elif connection.is_in_transaction() or self._is_closed or is_old:
            connection.terminate()
        else:
            self._idle.append(connection)
        self._free()

    def renew(self) -> None:
        """Discard all current connections, because they may lead to a server that is no longer the primary."""
        if asyncio.get_running_loop().time() - self._renewed_at >= RENEW_SECONDS:
            self._drop_all()

    async def renew_now(self) -> None:
        self._drop_all()

    def _drop_all(self) -> None:
        self._renewed_at = asyncio.get_running_loop().time()
        self._generation += 1
        self._old |= self._lent
        while self._idle:
            self._idle.pop().terminate()

    def _free(self) -> None:
        self.in_use -= 1
        self._room.release()

    async def close(self) -> None:
        """Close the pool; connections in use are closed when they are returned."""
        self._is_closed = True
        while self._idle:
            await self._idle.pop().close(timeout=CLOSE_SECONDS)
