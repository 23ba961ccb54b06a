"""One statement beside the product, to see what is in the database, or to plant something there."""

from typing import Any

import asyncpg

from gpuaas.core.db import Database


async def value(db: Database, sql: str, *args: object) -> Any:
    async with db.pool.lend() as connection:
        return await connection.fetchval(sql, *args)


async def rows(db: Database, sql: str, *args: object) -> list[asyncpg.Record]:
    async with db.pool.lend() as connection:
        found: list[asyncpg.Record] = await connection.fetch(sql, *args)
        return found


async def row(db: Database, sql: str, *args: object) -> asyncpg.Record | None:
    async with db.pool.lend() as connection:
        return await connection.fetchrow(sql, *args)


async def plant(db: Database, sql: str, *args: object) -> None:
    async with db.pool.lend() as connection:
        await connection.execute(sql, *args)
