"""PostgreSQL: one pool per role, and transactions that decode rows into structs."""

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
STATEMENT_SECONDS = 30.0  # the server cancels a statement after this time;
ANSWER_SECONDS = 40.0  # the client closes the connection if the server does not


class DbRole(StrEnum):
    """Database roles of connections; row-level security policies refer to them."""

    OWNER = "gpuaas_owner"
    API = "gpuaas_api"
    OPERATOR = "gpuaas_operator"
    WORKER = "gpuaas_worker"


class Tx:
    """One open transaction. It collects hints and callbacks to run after its commit."""

    def __init__(self, connection: Connection, what: str = "") -> None:
        self.connection = connection
        self.what = what  # prefix of its crash points; see core/points.py
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
        """The number of affected rows."""
        words = (await self.connection.execute(sql, *args)).split()
        return int(words[-1]) if words and words[-1].isdigit() else 0

    async def run_many(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        await self.connection.executemany(sql, rows)

    def hint(self, topic: str, row_id: str) -> None:
        """Wake the workers of this row after this transaction has committed."""
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
        """Count an error. A connection that timed out is closed. If a connection cannot write, it may lead to a former
        primary, and all connections of the pool are renewed."""
        if connection is not None and isinstance(error, (asyncio.CancelledError, TimeoutError)):
            connection.terminate()  # neither can wait for a rollback; the server does it when the connection closes
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
        """Commit at the end of the block, roll back if it raises; send hints after the commit."""
        tx = await self.begin(what)
        try:
            yield tx
        except BaseException as error:
            await self.roll_back(tx, error)
            raise
        await self.commit(tx)

    @asynccontextmanager
    async def read(self, what: str = "") -> AsyncIterator[Tx]:
        """Run each statement in a separate transaction on one connection; no lock is held between them. Send hints at
        the end."""
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
        """For callers that cannot use a `with` block: `commit` or `roll_back` follows each `begin`."""
        connection = await self._take()
        try:
            await connection.execute("begin")
        except BaseException as error:
            self._met(connection, error)
            connection.terminate()  # interrupted: the transaction may or may not have begun
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
        """Roll back. The error of a lost connection was raised to its user already; here there is nothing to undo."""
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
        """Whether a pooled connection leads to a read-only server; if so, the pool is renewed."""
        async with self.read() as tx:
            found = bool(await tx.value("select current_setting('transaction_read_only') = 'on'"))
        if found:
            self.pool.renew()
        return found

    async def check_fence(self) -> None:
        """Refuse to serve as a superuser or table owner, because row-level security does not apply to them."""
        async with self.read() as tx:
            if await tx.value(IS_ABOVE_POLICIES):
                raise RuntimeError("the role of requests bypasses row-level security; check the roles of the database")
            if unfenced := await tx.column(UNFENCED):
                raise RuntimeError(f"row-level security does not restrict requests on {', '.join(unfenced)}")

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
    """A pool whose connections use this role from the first statement."""
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
    pool.give(await pool.take())  # fails at once if the database is unreachable
    return Database(pool, hints, points or NoPoints(), traces, health)


async def prepare(connection: Connection) -> None:
    """Encode and decode jsonb columns as Python objects."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + msgspec.json.encode(value),
        decoder=lambda data: msgspec.json.decode(data[1:]),
    )


def decode(type: type[T], row: asyncpg.Record) -> T:
    """Decode a row into a struct by column name, with checked enums and nested structs; ignore other columns."""
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
