"""Everything the database holds, as one fingerprint a table: what changed nothing left the same."""

import asyncpg

TABLES = "select tablename from pg_tables where schemaname = 'public' order by tablename"
# A refusal is counted and told to the auditors; nothing else may come of it.
LEFT_OUT = {
    "audit": "where result <> 'denied' and action <> 'audit.export'",
    "audit_repeats": "where false",
    "rate_limits": "where false",
    "attempt_delays": "where false",
}
FINGERPRINT = (
    "select count(*) || ' ' || coalesce(md5(string_agg(t::text, ';' order by t::text)), '') from {table} t {where}"
)


async def ledger(dsn: str) -> dict[str, str]:
    """Table by table, read as the tables' owner, whom no policy keeps from seeing."""
    connection = await asyncpg.connect(dsn)
    try:
        names = [row["tablename"] for row in await connection.fetch(TABLES)]
        statements = [FINGERPRINT.format(table=name, where=LEFT_OUT.get(name, "")) for name in names]
        return {name: await connection.fetchval(sql) for name, sql in zip(names, statements, strict=True)}
    finally:
        await connection.close()


def changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [name for name in after if before[name] != after[name]]


async def dump(dsn: str) -> str:
    """Every row of every table as text, bytes in hexadecimal."""
    connection = await asyncpg.connect(dsn)
    try:
        names = [row["tablename"] for row in await connection.fetch(TABLES)]
        rows = [await connection.fetch(f"select '{name} ' || t::text as row from {name} t") for name in names]
        return "\n".join(str(row["row"]) for table in rows for row in table)
    finally:
        await connection.close()
