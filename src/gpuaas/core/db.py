"""PostgreSQL: pools by role, and transactions that decode rows into structs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, TypeVar

import asyncpg
import msgspec

from gpuaas.core import trouble
from gpuaas.core.health import Health
from gpuaas.core.hints import Hint, Hints
from gpuaas.core.points import NoPoints, Points
from gpuaas.core.pool import Connection, Pool
from gpuaas.core.traces import NO_TRACES, Traces, nothing

T = TypeVar("T")
AWAY, RERUN, is_away = trouble.AWAY, trouble.RERUN, trouble.is_away
CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 30.0  # the server ends a statement after these,
ANSWER_SECONDS = 40.0  # and we give up on a server that does not even do that


class DbRole(StrEnum):
    """Who a connection is to the database; row-level policies name these."""

    OWNER = "gpuaas_owner"
    API = "gpuaas_api"
    OPERATOR = "gpuaas_operator"
    WORKER = "gpuaas_worker"


class Tx:
    """One open transaction. What must happen after it, when it is known to have committed, is left with it."""

    def __init__(self, connection: Connection, what: str = "") -> None:
        self.connection = connection
        self.what = what  # names its points; core/points.py
        self.hints: list[Hint] = []
        self.on_end: list[Callable[[bool], None]] = []
        self.end_span = nothing

    async def one(self, type: type[T], sql: str, *args: object) -> T:
        row = await self.connection.fetchrow(sql, *args)
        if row is None:
            raise LookupError(f"no row for {type.__name__}")
        return decode(type, row)

    async def maybe(self, type: type[T], sql: str, *args: object) -> T | None:
        row = await self.connection.fetchrow(sql, *args)
        return None if row is None else decode(type, row)

    async def all(self, type: type[T], sql: str, *args: object) -> list[T]:
        return [decode(type, row) for row in await self.connection.fetch(sql, *args)]

    async def value(self, sql: str, *args: object) -> Any:
        return await self.connection.fetchval(sql, *args)

    async def column(self, sql: str, *args: object) -> list[Any]:
        return [row[0] for row in await self.connection.fetch(sql, *args)]

    async def run(self, sql: str, *args: object) -> int:
        """How many rows it touched."""
        words = (await self.connection.execute(sql, *args)).split()
        return int(words[-1]) if words and words[-1].isdigit() else 0

    async def run_many(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        await self.connection.executemany(sql, rows)

    def hint(self, topic: str, row_id: str) -> None:
        """Wake whoever works on this row, once this transaction has committed."""
        self.hints.append((topic, row_id))


class Database:
    """A pool of connections in one role."""

    def __init__(
        self,
        pool: Pool,
        hints: Hints,
        points: Points,
        traces: Traces = NO_TRACES,
        health: Health | None = None,
    ) -> None:
        self.pool, self._hints, self._points, self.traces = pool, hints, points, traces
        self.health = health or Health()

    def _met(self, connection: Connection | None, error: BaseException) -> None:
        """Count an error. A connection without an answer is not used again; one that cannot write may lead to an old
        primary, and so may all others of the pool."""
        if connection is not None and isinstance(error, (asyncio.CancelledError, TimeoutError)):
            connection.terminate()  # neither could wait for a rollback; the server makes it
        if self.health.met(error) is trouble.Reason.READ_ONLY:
            self.pool.renew()

    async def _take(self) -> Connection:
        try:
            return await self.pool.take()
        except BaseException as error:
            self._met(None, error)
            raise

    @asynccontextmanager
    async def write(self, what: str = "") -> AsyncIterator[Tx]:
        """Commits when the block ends, rolls back when it raises; hints leave after the commit."""
        tx = await self.begin(what)
        try:
            yield tx
        except BaseException as error:
            await self.roll_back(tx, error)
            raise
        await self.commit(tx)

    @asynccontextmanager
    async def read(self, what: str = "") -> AsyncIterator[Tx]:
        """Statements on one connection, each a transaction of its own; nothing is held between them. Hints leave at the
        end."""
        connection = await self._take()
        tx = Tx(connection, what)
        try:
            self._points.reach(f"statements:before {what}")
            yield tx
            self._points.reach(f"statements:after {what}")
        except BaseException as error:
            self._met(connection, error)
            raise
        finally:
            self.pool.give(connection)
        if tx.hints:
            self._hints.send(tx.hints)

    async def begin(self, what: str = "") -> Tx:
        """For whoever cannot be a block: each `begin` is followed by one `commit` or one `roll_back`."""
        connection = await self._take()
        try:
            await connection.execute("begin")
        except BaseException as error:
            self._met(connection, error)
            connection.terminate()  # cut in the middle, nobody knows whether it began
            self.pool.give(connection)
            raise
        tx = Tx(connection, what)
        tx.end_span = self.traces.begin("transaction", what=what)
        return tx

    async def commit(self, tx: Tx) -> None:
        self._points.reach(f"commit:before {tx.what}")
        try:
            await tx.connection.execute("commit")
        except BaseException as error:
            await self.roll_back(tx, error)
            raise
        self.pool.give(tx.connection)
        self._points.reach(f"commit:after {tx.what}")
        self._ended(tx, committed=True)

    async def roll_back(self, tx: Tx, error: BaseException | None = None) -> None:
        """A connection that was cut says so to whoever used it; here it only means that nothing is left to undo."""
        try:
            if error is not None:
                self._met(tx.connection, error)
            if not tx.connection.is_closed():
                await self._undo(tx.connection)
        finally:
            self.pool.give(tx.connection)
            self._ended(tx, committed=False)

    async def _undo(self, connection: Connection) -> None:
        try:
            await connection.execute("rollback")
        except AWAY:
            connection.terminate()

    def _ended(self, tx: Tx, *, committed: bool) -> None:
        tx.end_span()
        for callback in tx.on_end:
            callback(committed)
        if committed and tx.hints:
            self._hints.send(tx.hints)

    async def is_read_only(self) -> bool:
        """Asked of a connection that the pool lends; a yes renews the pool."""
        async with self.read() as tx:
            found = bool(await tx.value("select current_setting('transaction_read_only') = 'on'"))
        if found:
            self.pool.renew()
        return found

    async def check_fence(self) -> None:
        """A superuser, or the owner of a table, passes every row-level policy: serving as one is no fence at all."""
        async with self.read() as tx:
            if await tx.value(IS_ABOVE_POLICIES):
                raise RuntimeError("the request role stands above the row-level policies; check the database's roles")
            if unfenced := await tx.column(UNFENCED):
                raise RuntimeError(f"no row-level policies stand between the request role and {', '.join(unfenced)}")

    async def close(self) -> None:
        await self.pool.close()


async def connect(
    dsn: str,
    role: DbRole,
    *,
    hints: Hints,
    points: Points | None = None,
    size: int = 10,
    traces: Traces = NO_TRACES,
    health: Health | None = None,
) -> Database:
    """A pool whose connections are this role from their first statement on."""
    settings = {
        "role": role.value,
        "application_name": f"gpuaas:{role.value}",
        "statement_timeout": f"{STATEMENT_SECONDS:.0f}s",
        "idle_in_transaction_session_timeout": "15s",
        "lock_timeout": "5s",
        "timezone": "UTC",
        "jit": "off",
    }

    async def open_connection() -> Connection:
        connection = await asyncpg.connect(
            dsn, server_settings=settings, timeout=CONNECT_SECONDS, command_timeout=ANSWER_SECONDS
        )
        await prepare(connection)
        return connection

    pool = Pool(open_connection, size)
    pool.give(await pool.take())  # a database that cannot be reached is told at once
    return Database(pool, hints, points or NoPoints(), traces, health)


async def prepare(connection: Connection) -> None:
    """jsonb columns travel as plain Python objects."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + msgspec.json.encode(value),
        decoder=lambda data: msgspec.json.decode(data[1:]),
    )


def decode(type: type[T], row: asyncpg.Record) -> T:
    """A row as a struct: columns by name, enums and nested structs checked; columns it does not name are left out."""
    return msgspec.convert(dict(row), type)


IS_ABOVE_POLICIES = """
    select rolsuper or rolbypassrls or pg_has_role(current_user, 'gpuaas_owner', 'usage')
    from pg_roles where rolname = current_user
"""
UNFENCED = """
    select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations'
        and (not relrowsecurity or pg_has_role(current_user, relowner, 'usage'))
    order by relname
"""
