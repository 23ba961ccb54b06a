"""Transactions: all or nothing, whatever ends them; rows become structs."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import msgspec
import pytest

from gpuaas.core.db import AWAY, Database, DbRole, Tx, connect
from gpuaas.core.hints import Hints
from tests import peek
from tests.live import eventually

ADD = "insert into regions (name) values ($1)"
COUNT = "select count(*) from regions"


@pytest.fixture
async def db(migrated: str) -> AsyncIterator[Database]:
    made = await connect(migrated, DbRole.WORKER, hints=Hints("here"), size=3)
    yield made
    await made.close()


class Region(msgspec.Struct):
    name: str


async def test_a_block_that_ends_commits_and_one_that_raises_does_not(db: Database) -> None:
    ends: list[bool] = []
    async with db.write() as tx:
        tx.on_end.append(ends.append)
        await tx.run(ADD, "kept")
    with pytest.raises(asyncpg.UniqueViolationError):  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            tx.on_end.append(ends.append)
            await tx.run(ADD, "lost")
            await tx.run(ADD, "kept")
    assert await peek.value(db, "select array_agg(name) from regions") == ["kept"]
    assert ends == [True, False]


async def test_a_cancelled_block_rolls_back_and_gives_its_connection_up(db: Database) -> None:
    entered = asyncio.Event()
    ends: list[bool] = []

    async def hang() -> None:
        async with db.write() as tx:
            tx.on_end.append(ends.append)
            await tx.run(ADD, "lost")
            entered.set()
            await asyncio.Event().wait()

    for _ in range(5):  # more often than the pool has connections
        entered.clear()
        task = asyncio.create_task(hang())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ends == [False] * 5

    async def is_gone() -> bool:
        return bool(await peek.value(db, COUNT) == 0)

    await eventually(is_gone)


async def test_a_connection_cut_in_the_middle_is_an_error_and_leaves_nothing(db: Database, migrated: str) -> None:
    async def cut(tx: Tx) -> None:
        connection = await asyncpg.connect(migrated)
        await connection.execute("select pg_terminate_backend($1)", await tx.value("select pg_backend_pid()"))
        await connection.close()

    ends: list[bool] = []
    with pytest.raises(AWAY):  # noqa: PT012 - as above
        async with db.write() as tx:
            tx.on_end.append(ends.append)
            await tx.run(ADD, "lost")
            await cut(tx)
            await tx.run(ADD, "lost too")
    assert ends == [False]
    assert await peek.value(db, COUNT) == 0


async def test_rows_become_structs_and_a_missing_one_is_told_apart(db: Database) -> None:
    async with db.write() as tx:
        await tx.run(ADD, "north")
        assert await tx.one(Region, "select * from regions") == Region("north")
        assert await tx.maybe(Region, "select * from regions where name = 'south'") is None
        assert await tx.all(Region, "select * from regions") == [Region("north")]
        with pytest.raises(LookupError):
            await tx.one(Region, "select * from regions where name = 'south'")
        with pytest.raises(msgspec.ValidationError):
            await tx.one(Region, "select 1 as name")


async def test_json_travels_as_plain_objects(db: Database) -> None:
    sent = {"text": "é\U0001f600", "list": [1, None, {"deep": True}]}
    async with db.read() as tx:
        assert await tx.value("select $1::jsonb", sent) == sent
