"""Forward-only SQL migrations, run under an advisory lock: any number of replicas may start at once."""

import hashlib
from pathlib import Path

import asyncpg

LOCK = 7_142_001  # any number, the same everywhere
LEDGER = """
    create table if not exists schema_migrations
    (name text primary key, digest text not null, applied_at timestamptz not null default clock_timestamp())
"""


class EditedMigrationError(RuntimeError):
    """A migration that this database has run now reads differently."""


def folder() -> Path:
    """Beside the package in a wheel, at the top of the tree in a checkout."""
    here = Path(__file__).resolve()
    installed = here.parents[1] / "migrations"
    return installed if installed.is_dir() else here.parents[3] / "migrations"


async def migrate(dsn: str, migrations: Path | None = None) -> list[str]:
    """Apply what is missing, each in its own transaction; the names applied."""
    files = sorted((migrations or folder()).glob("[0-9]*.sql"))
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("select pg_advisory_lock($1)", LOCK)
        await connection.execute("set lock_timeout = '10s'")
        await connection.execute(LEDGER)
        rows = await connection.fetch("select name, digest from schema_migrations")
        known = {row["name"]: row["digest"] for row in rows}
        return [file.name for file in files if await _apply(connection, file, known.get(file.name))]
    finally:
        await connection.close()


async def _apply(connection: "asyncpg.Connection[asyncpg.Record]", file: Path, known: str | None) -> bool:
    sql = file.read_text()  # noqa: ASYNC240 - at start, before anything is served
    digest = hashlib.sha256(sql.encode()).hexdigest()
    if known == digest:
        return False
    if known is not None:
        raise EditedMigrationError(f"{file.name} was changed after it ran here; write a new migration instead")
    async with connection.transaction():
        await connection.execute(sql)
        await connection.execute("reset role")
        await connection.execute("insert into schema_migrations (name, digest) values ($1, $2)", file.name, digest)
    return True
