"""Database errors as a real PostgreSQL raises them, each with its reason; and a pool that forgets an old primary."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from gpuaas.core.db import Database, DbRole, connect
from gpuaas.core.health import Failure, Health
from gpuaas.core.hints import Hints
from gpuaas.core.points import NoPoints
from gpuaas.core.pool import Connection, Pool
from gpuaas.core.trouble import AWAY, HARD, REASONS, PoolExhausted, Reason, is_away, reason_of
from tests.clusters import pair
from tests.live import eventually
from tests.postgres import postgres, run

ADD = "insert into regions (name) values ($1)"


@pytest.fixture
async def db(migrated: str) -> AsyncIterator[Database]:
    made = await connect(migrated, DbRole.WORKER, hints=Hints("here"), size=3)
    yield made
    await made.close()


def name_of(dsn: str) -> str:
    return dsn.partition("?")[0].rpartition("/")[2]


async def test_a_read_only_database(db: Database) -> None:
    with pytest.raises(AWAY) as raised:  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            await tx.run("set transaction read only")
            await tx.run(ADD, "north")
    assert reason_of(raised.value) is Reason.READ_ONLY
    assert db.health.errors == {Reason.READ_ONLY: 1}


async def test_a_pool_of_read_only_connections_is_renewed(db: Database, migrated: str) -> None:
    """As after a failover behind a proxy: the connections stay open, and lead to what is a standby now."""
    await run(await postgres(), f'alter database "{name_of(migrated)}" set default_transaction_read_only = on')
    await db.pool._idle.pop().close()
    taken = await db.pool.take()  # it began while the database was read-only, and stays so
    await run(await postgres(), f'alter database "{name_of(migrated)}" set default_transaction_read_only = off')
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await taken.execute("insert into regions (name) values ('lent')")
    db.pool.give(taken)
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        async with db.write() as tx:
            await tx.run(ADD, "first")
    async with db.write() as tx:  # red twin: without Database._met the same connection is lent again, for ever
        await tx.run(ADD, "second")
    assert taken.is_closed()


async def test_a_connection_lent_before_a_renewal_is_not_lent_again(db: Database) -> None:
    lent = await db.pool.take()
    db.pool.renew()
    assert not lent.is_closed()
    db.pool.give(lent)
    assert lent.is_closed()


async def test_no_connection_left_for_us(migrated: str, db: Database) -> None:
    await run(await postgres(), f'alter database "{name_of(migrated)}" connection limit 1')
    held = await db.pool.take()
    with pytest.raises(asyncpg.TooManyConnectionsError) as raised:
        async with db.read():
            pass
    db.pool.give(held)
    assert reason_of(raised.value) is Reason.TOO_MANY_CONNECTIONS
    assert db.health.errors[Reason.TOO_MANY_CONNECTIONS] == 1


async def test_a_full_disk() -> None:
    with pair(disk="150m") as servers:
        if not servers.is_small:
            pytest.skip("a small disk needs root: it is a mount of its own")
        connection = await asyncpg.connect(servers.dsn)
        await connection.execute("create table planted (filling text)")
        with servers.full_disk(), pytest.raises(AWAY) as raised:
            await connection.execute("insert into planted select repeat('x', 1000) from generate_series(1, 10000)")
        await connection.close()
    assert reason_of(raised.value) is Reason.DISK_FULL


async def test_our_own_connections_are_all_in_use(migrated: str) -> None:
    async def open_connection() -> Connection:
        return await asyncpg.connect(migrated)

    db = Database(Pool(open_connection, 1, wait_seconds=0.01), Hints("here"), NoPoints())
    held = await db.pool.take()
    with pytest.raises(PoolExhausted) as raised:
        async with db.read():
            pass
    db.pool.give(held)
    assert reason_of(raised.value) is Reason.POOL_EXHAUSTED
    assert db.health.errors == {Reason.POOL_EXHAUSTED: 1}
    assert (db.pool.in_use, db.pool.waiting) == (0, 0)
    await db.close()


async def test_a_statement_that_takes_too_long(db: Database) -> None:
    with pytest.raises(asyncpg.QueryCanceledError) as raised:  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            await tx.run("set local statement_timeout = 1")
            await tx.value("select pg_sleep(10)")
    assert reason_of(raised.value) is Reason.SLOW


async def test_a_backend_that_is_ended(db: Database, migrated: str) -> None:
    with pytest.raises(AWAY) as raised:  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            await run(migrated, f"select pg_terminate_backend({await tx.value('select pg_backend_pid()')})")
            await tx.run(ADD, "north")
    assert reason_of(raised.value) is Reason.UNREACHABLE


async def test_a_database_that_is_dropped_or_not_there(db: Database, migrated: str) -> None:
    with pytest.raises(AWAY) as raised:
        await asyncpg.connect(migrated.replace(name_of(migrated), "nothing_of_that_name"))
    assert reason_of(raised.value) is Reason.UNREACHABLE
    with pytest.raises(AWAY) as raised:
        await asyncpg.connect("postgresql://nobody@/x?host=/nowhere")
    assert reason_of(raised.value) is Reason.UNREACHABLE


async def test_what_is_our_own_bug_is_no_trouble(db: Database) -> None:
    for sql in ("select wrong", "insert into regions values (null)", "select 1 / 0"):
        with pytest.raises(asyncpg.PostgresError) as raised:
            async with db.read() as tx:
                await tx.run(sql)
        assert not is_away(raised.value)
    with pytest.raises(asyncpg.DataError) as refused:
        async with db.read() as tx:
            await tx.value("select $1::int", "no number")
    assert not is_away(refused.value)
    assert not db.health.errors


def test_each_class_has_one_reason_and_none_hides_another() -> None:
    for place, (kind, reason) in enumerate(REASONS):
        assert not any(issubclass(kind, before) for before, _ in REASONS[:place]), kind
        assert reason_of(kind.__new__(kind)) is reason


async def test_a_loop_survives_any_error_and_says_what_is_wrong_until_it_works_again() -> None:
    health, errors = Health(), [asyncpg.DiskFullError("no space"), RuntimeError("a bug")]
    seen: list[Failure] = []
    worked = asyncio.Event()

    async def step() -> None:
        seen.extend(health.failing.values())
        if errors:
            raise errors.pop(0)
        worked.set()
        await asyncio.sleep(0)

    task = asyncio.create_task(health.repeat("planted", step))
    await worked.wait()

    async def is_well() -> bool:
        return not health.failing

    await eventually(is_well)
    assert not task.done()
    task.cancel()
    assert [(each.reason, each.is_unready, each.failures) for each in seen[:2]] == [
        (Reason.DISK_FULL, True, 1),
        (None, False, 2),
    ]
    assert health.failed_steps == {("planted", "disk_full"): 1, ("planted", "bug"): 1}
    assert Reason.SLOW not in HARD
