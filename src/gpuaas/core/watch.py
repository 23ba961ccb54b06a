"""Checks the database every two seconds over a new connection: can it write, its time, and its history.

A database keeps its history while no acknowledged write is lost. A failover to a standby, a restore, or a restored
copy of its disk starts another history: facts that this process has cached may never have happened in it.
"""

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg
import msgspec
import structlog

from gpuaas.core.clock import Clock, DatabaseClock
from gpuaas.core.health import Health

WATCH_SECONDS = 2.0
ANSWER_SECONDS = 5.0
LOOP = "database watch"
CLOCK_SKEW, HISTORY_CHANGED = "clock_skew", "database_history_changed"
log = structlog.get_logger()
Listener = Callable[[], Awaitable[object]]


class Seen(msgspec.Struct, frozen=True):
    """The result of one check; a standby has neither history nor position."""

    is_read_only: bool
    history: str | None
    position: int | None


class Watch:
    def __init__(self, dsn: str, clock: Clock, health: Health) -> None:
        self._dsn, self.clock, self.health = dsn, clock, health
        self.history: str | None = None
        self.changes = 0
        self._position = 0
        self._listeners: list[Listener] = []

    def on_change(self, listener: Listener) -> None:
        """Called when the history of the database has changed: discard cached facts and read them again.
        If one listener fails, all are called again later."""
        self._listeners.append(listener)

    async def run(self) -> None:
        await self.health.repeat(LOOP, self._step)

    async def _step(self) -> None:
        await self.look()
        self.health.worked(LOOP)
        await asyncio.sleep(WATCH_SECONDS)

    async def look(self) -> None:
        settings = {"role": "gpuaas_worker", "application_name": "gpuaas:watch", "timezone": "UTC"}
        connection = await asyncpg.connect(
            self._dsn, server_settings=settings, timeout=ANSWER_SECONDS, command_timeout=ANSWER_SECONDS
        )
        try:
            seen = msgspec.convert(dict(await connection.fetchrow(LOOK)), Seen)
            await self._measure(connection)
            await self._compare(connection, seen)
        finally:
            connection.terminate()
        if seen.is_read_only:
            raise asyncpg.ReadOnlySQLTransactionError("the database accepts no changes")

    async def _measure(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        if not isinstance(self.clock, DatabaseClock):
            return
        question = await connection.prepare("select clock_timestamp()")  # so that the response takes one round trip
        asked = self.clock.monotonic()
        at = await question.fetchval()
        self.clock.measured(asked, at, self.clock.monotonic())
        if not self.clock.is_skewed:
            self.health.notices.pop(CLOCK_SKEW, None)
            return
        skew = f"The system clock of this replica is {self.clock.skew:+.1f} s off the database's, and is not used."
        if CLOCK_SKEW not in self.health.notices:
            log.warning("clock.skewed", seconds=self.clock.skew, uncertainty=self.clock.uncertainty)
        self.health.notices[CLOCK_SKEW] = skew

    async def _compare(self, connection: "asyncpg.Connection[asyncpg.Record]", seen: Seen) -> None:
        history = seen.history
        if history is None or seen.position is None:
            return
        went_back = history == self.history and seen.position < self._position
        if self.history is not None and (went_back or history != self.history):
            for listener in self._listeners:
                await listener()
            await self._note(connection, seen, went_back=went_back)
            self._changed(history)
        elif self.history is None and await self._note(connection, seen, went_back=False):
            self._changed(history)
        self.history, self._position = history, seen.position

    async def _note(self, connection: "asyncpg.Connection[asyncpg.Record]", seen: Seen, *, went_back: bool) -> bool:
        """Whether the history is new and the database has recorded another one before."""
        return not seen.is_read_only and bool(await connection.fetchval("select note_history($1)", went_back))

    def _changed(self, history: str) -> None:
        self.changes += 1
        log.error("database.history_changed", before=self.history, after=history)
        self.health.notices[HISTORY_CHANGED] = (
            "The database may have lost writes: there was a failover or a restore. "
            "Compare the nodes with it; see docs/runbooks/database-trouble.md."
        )


# Only flushed positions count: after a crash, the server may reuse positions that it had not flushed.
LOOK = """
    select current_setting('transaction_read_only') = 'on' as is_read_only,
        database_history() as history,
        case when not pg_is_in_recovery() then (pg_current_wal_flush_lsn() - '0/0')::bigint end as position
"""
