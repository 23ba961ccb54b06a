"""A connection pool. asyncpg's pool takes as much time as a small query (measured), this one almost none."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import asyncpg

from gpuaas.core.trouble import PoolExhausted

CLOSE_SECONDS = 5.0
WAIT_SECONDS = 15.0  # to wait for a free connection
IDLE_SECONDS = 30.0  # until an unused connection is closed
KEPT = 1  # idle connections that stay open: the next request does not wait for one
RENEW_SECONDS = 1.0  # between two renewals: every failed write on a read-only database requests one
Connection: TypeAlias = asyncpg.Connection


class Pool:
    """At most `size` connections, opened on demand; the most recently returned one is used first.

    Therefore connections that a peak opened stay idle, and are closed: each costs PostgreSQL some megabytes.
    """

    def __init__(
        self,
        open_connection: Callable[[], Awaitable[Connection]],
        size: int,
        wait_seconds: float = WAIT_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._open, self._room, self._wait_seconds = open_connection, asyncio.Semaphore(size), wait_seconds
        self.size, self.in_use, self.waiting = size, 0, 0
        self._idle: list[Connection] = []  # the longest idle one first
        self._idle_since: dict[Connection, float] = {}
        self._idle_seconds = idle_seconds
        self._timer: asyncio.TimerHandle | None = None
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
                self._idle_since.pop(connection, None)  # absent while the pool is being closed
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
            self._idle_since[connection] = asyncio.get_running_loop().time()
            self._watch_idle()
        self._free()

    def _watch_idle(self) -> None:
        if self._timer is None and len(self._idle) > KEPT:
            loop = asyncio.get_running_loop()
            since = self._idle_since[self._idle[0]]
            self._timer = loop.call_at(since + self._idle_seconds, self._close_idle, loop)

    def _close_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        before = loop.time() - self._idle_seconds
        while len(self._idle) > KEPT and self._idle_since[self._idle[0]] <= before:
            connection = self._idle.pop(0)
            del self._idle_since[connection]
            connection.terminate()
        self._watch_idle()

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
        self._idle_since.clear()
        while self._idle:
            self._idle.pop().terminate()

    def _free(self) -> None:
        self.in_use -= 1
        self._room.release()

    async def close(self) -> None:
        """Close the pool; connections in use are closed when they are returned."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._idle_since.clear()
        while self._idle:
            await self._idle.pop().close(timeout=CLOSE_SECONDS)
