"""One statement beside the product, to see what is in the database, or to plant something there."""

from typing import Any

import asyncpg

from gpuaas.core.db import Database


async def value(db: Database, sql: str, *args: object) -> Any:
    async with db.read() as tx:
        return await tx.connection.fetchval(sql, *args)


async def rows(db: Database, sql: str, *args: object) -> list[asyncpg.Record]:
    async with db.read() as tx:
        found: list[asyncpg.Record] = await tx.connection.fetch(sql, *args)
        return found


async def row(db: Database, sql: str, *args: object) -> asyncpg.Record | None:
    async with db.read() as tx:
        return await tx.connection.fetchrow(sql, *args)


async def plant(db: Database, sql: str, *args: object) -> None:
    async with db.read() as tx:
        await tx.connection.execute(sql, *args)
