"""Forward-only SQL migrations, run under an advisory lock, so that several replicas can start at the same time.

A file runs in one transaction. A file whose first line is `-- no transaction` does not: its statements, separated by
blank lines, run one by one, so that it can build indexes concurrently. After a crash it starts again at its first
statement, so each statement must be idempotent; an invalid index left by a crash is dropped first. A running server may
hold locks that a file needs: after a deadlock or a lock timeout the file runs again.
"""

import asyncio
import hashlib
from pathlib import Path

import asyncpg

LOCK = 7_142_001  # an arbitrary constant, the same in all releases
POLL_SECONDS = 0.05
MOST_TRIES = 20  # of one file, while others hold what it needs
BLOCKED = (asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError)
NO_TRANSACTION = "-- no transaction"
LEDGER = """
    create table if not exists schema_migrations
    (name text primary key, digest text not null, applied_at timestamptz not null default clock_timestamp())
"""


class EditedMigrationError(RuntimeError):
    """A migration file was changed after this database ran it."""


def folder() -> Path:
    """The folder of migrations: beside the package in a wheel, at the top of the tree in a checkout."""
    here = Path(__file__).resolve()
    installed = here.parents[1] / "migrations"
    return installed if installed.is_dir() else here.parents[3] / "migrations"


async def migrate(dsn: str, migrations: Path | None = None) -> list[str]:
    """Apply missing migrations, each in a separate transaction; return their names."""
    files = sorted((migrations or folder()).glob("[0-9]*.sql"))
    connection = await asyncpg.connect(dsn)
    try:
        # Poll: a backend inside pg_advisory_lock() holds a snapshot, and a concurrent index build would wait for it.
        while not await connection.fetchval("select pg_try_advisory_lock($1)", LOCK):  # noqa: ASYNC110 - another process
            await asyncio.sleep(POLL_SECONDS)
        await connection.execute(LEDGER)
        rows = await connection.fetch("select name, digest from schema_migrations")
        known = {row["name"]: row["digest"] for row in rows}
        applied = [file.name for file in files if await _apply(connection, file, known.get(file.name))]
        if await connection.fetchval("select to_regprocedure('note_cluster()') is not null"):
            await connection.execute("select note_cluster()")
        return applied
    finally:
        await connection.close()


async def _apply(connection: "asyncpg.Connection[asyncpg.Record]", file: Path, known: str | None) -> bool:
    sql = file.read_text()  # noqa: ASYNC240 - at start, before anything is served
    digest = hashlib.sha256(sql.encode()).hexdigest()
    if known == digest:
        return False
    if known is not None:
        raise EditedMigrationError(f"{file.name} was changed after it ran here; write a new migration instead")
    for tries_left in reversed(range(MOST_TRIES)):
        try:
            if sql.startswith(NO_TRANSACTION):
                await _run_statements(connection, sql)
                await connection.execute(RECORD, file.name, digest)
            else:
                await _run_transaction(connection, sql, file.name, digest)
        except BLOCKED:
            if not tries_left:
                raise
            await asyncio.sleep(POLL_SECONDS)
        else:
            break
    return True


async def _run_transaction(connection: "asyncpg.Connection[asyncpg.Record]", sql: str, name: str, digest: str) -> None:
    async with connection.transaction():
        await connection.execute("set local lock_timeout = '10s'")
        await connection.execute(sql)
        await connection.execute("reset role")
        await connection.execute(RECORD, name, digest)


async def _run_statements(connection: "asyncpg.Connection[asyncpg.Record]", sql: str) -> None:
    """Without a lock timeout: a concurrent build waits for older transactions without blocking others."""
    statements = [part for part in sql.split("\n\n") if _is_statement(part)]
    try:
        for name in await connection.fetch(INVALID_INDEXES):
            if any(f"index concurrently if not exists {name[0]} " in part for part in statements):
                await connection.execute(f'drop index concurrently if exists "{name[0]}"')
        for statement in statements:
            await connection.execute(statement)
    finally:
        if not connection.is_closed():
            await connection.execute("reset role")


def _is_statement(part: str) -> bool:
    return any(line.strip() and not line.startswith("--") for line in part.splitlines())


RECORD = "insert into schema_migrations (name, digest) values ($1, $2)"
INVALID_INDEXES = """
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    where not i.indisvalid and c.relnamespace = 'public'::regnamespace
"""
