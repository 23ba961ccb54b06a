"""Hints between replicas: they travel, coalesced, and never come back to their sender."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import asyncpg
import pytest

from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import PAYLOAD_LIMIT, Hints
from tests.live import eventually

CUT = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen%' and pid <> pg_backend_pid()
"""
Heard = list[tuple[str, bool]]


@asynccontextmanager
async def relaying(dsn: str, *replicas: Hints) -> AsyncIterator[None]:
    """Until every replica listens, which only the database can tell."""
    tasks = [asyncio.create_task(hints.relay(dsn)) for hints in replicas]
    watch = await asyncpg.connect(dsn)

    async def all_listen() -> bool:
        asked = "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen%'"
        return bool(await watch.fetchval(asked) == len(replicas))

    try:
        await eventually(all_listen)
        yield
    finally:
        await watch.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def listener(heard: Heard) -> Callable[[str, bool], None]:
    return lambda row_id, remote: heard.append((row_id, remote))


async def test_a_hint_reaches_both_replicas_once_and_says_where_it_came_from(dsn: str) -> None:
    here, there = Hints("here"), Hints("there")
    local: Heard = []
    remote: Heard = []
    here.on("rows", listener(local))
    there.on("rows", listener(remote))
    async with relaying(dsn, here, there):
        here.send([("rows", "a"), ("rows", "a"), ("other", "b")])

        async def arrived() -> bool:
            return bool(remote)

        await eventually(arrived)
        here.send([("rows", "last")])

        async def last_arrived() -> bool:
            return ("last", True) in remote

        await eventually(last_arrived)
    assert local == [("a", False), ("last", False)]
    assert remote == [("a", True), ("last", True)]


async def test_more_hints_than_fit_one_notification_all_arrive(dsn: str) -> None:
    here, there = Hints("here"), Hints("there")
    remote: Heard = []
    there.on("rows", listener(remote))
    ids = [f"row-{number:06d}" for number in range(3 * PAYLOAD_LIMIT // 10)]
    async with relaying(dsn, here, there):
        here.send([("rows", id) for id in ids])

        async def all_arrived() -> bool:
            return len(remote) == len(ids)

        await eventually(all_arrived)
    assert {row_id for row_id, _ in remote} == set(ids)


async def test_a_cut_connection_is_made_anew_also_by_who_only_listens(dsn: str) -> None:
    here, there = Hints("here"), Hints("there")
    remote: Heard = []
    there.on("rows", listener(remote))
    async with relaying(dsn, here, there):
        other = await asyncpg.connect(dsn)
        await other.execute(CUT)
        await other.close()

        async def arrives_again() -> bool:
            here.send([("rows", "after")])
            return bool(remote)

        await eventually(arrives_again)


async def test_a_hint_leaves_after_the_commit_and_never_after_a_rollback(migrated: str) -> None:
    hints = Hints("here")
    heard: Heard = []
    hints.on("rows", listener(heard))
    db = await connect(migrated, DbRole.WORKER, hints=hints)
    async with db.write() as tx:
        tx.hint("rows", "kept")
        assert heard == []
    with pytest.raises(asyncpg.UndefinedTableError):  # noqa: PT012 - the transaction is what raises
        async with db.write() as tx:
            tx.hint("rows", "lost")
            await tx.run("delete from nowhere")
    await db.close()
    assert heard == [("kept", False)]


def test_a_listener_that_stopped_hears_nothing() -> None:
    hints = Hints("here")
    heard: Heard = []
    stop = hints.on("rows", listener(heard))
    stop()
    hints.send([("rows", "a")])
    assert heard == []
