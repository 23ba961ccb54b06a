"""The order of events survives a dump that is restored into another cluster, where transaction ids start over."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import pytest

from gpuaas.api.stream import entry_follower, resume
from gpuaas.core.db import Database, DbRole, connect
from gpuaas.core.embedded import Embedded, binaries
from gpuaas.core.hints import Hints
from gpuaas.core.migrate import migrate
from gpuaas.core.paging import Paging
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.store import START, Cursor, NewEntry, Subject
from gpuaas.wire.timeline import Entry
from tests import peek
from tests.allocations.rows import NOON
from tests.live import eventually
from tests.postgres import SETTINGS, quickest_place, run
from tests.timeline.looking import look
from tests.world import World

AHEAD = 5_000  # transactions that the first cluster has seen and the second has not
SPEND = f"do $$ begin for i in 1..{AHEAD} loop perform pg_current_xact_id(); commit; end loop; end $$"
ROLES = """
    do $$ declare name text; begin
        foreach name in array array['gpuaas_owner', 'gpuaas_api', 'gpuaas_operator', 'gpuaas_worker'] loop
            execute format('create role %I nologin', name);
            execute format('grant %I to current_user', name);
        end loop;
    end $$
"""


def program(name: str, dsn: str, *arguments: str, text: str = "") -> str:
    """One of PostgreSQL's programs, as ourselves, on this database."""
    parts = urlsplit(dsn)
    place = {"PGHOST": parse_qs(parts.query)["host"][0], "PGUSER": "gpuaas", "PGDATABASE": parts.path.strip("/")}
    embedded = Embedded(Path("/nonexistent"))
    path = binaries(embedded.package, embedded._owner(), embedded.shared) / name
    done = subprocess.run(
        [path, *arguments], env={**os.environ, **place}, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@asynccontextmanager
async def another_cluster(folder: Path) -> AsyncIterator[str]:
    cluster = Embedded(folder, settings=SETTINGS)
    dsn = await cluster.start()
    try:
        yield dsn
    finally:
        await cluster.stop()


async def write(db: Database, world: World, *phases: str, subject_id: str = "test") -> None:
    subject = Subject(kind="test", id=subject_id, tenant_id=world.ada.tenant_id, project_id=world.ada.project_id)
    for phase in phases:
        async with db.write() as tx:
            await store.record(tx, subject, NewEntry(phase=phase, at=NOON, actor="system"), None)


async def follow(db: Database, world: World, after: Cursor, *, subject_id: str = "test") -> list[store.Followed[Entry]]:
    return (await look(world, after, subject_id=subject_id, db=db)).in_order()


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="gpuaas-restore-", dir=quickest_place()) as made:
        Path(made).chmod(0o755)
        yield Path(made)


async def test_events_keep_their_order_in_another_cluster(world: World, folder: Path) -> None:
    await run(world.dsn, SPEND, "select note_cluster()")
    await write(world.db, world, "first", "second")

    async def is_settled() -> bool:  # other tests' transactions in this cluster hold followers back
        return len(await follow(world.services.api_db, world, START)) == 2

    await eventually(is_settled)
    held = (await follow(world.services.api_db, world, START))[-1].cursor
    dump = program("pg_dump", world.dsn)
    async with another_cluster(folder) as dsn:
        await run(dsn, ROLES, "grant create, usage on schema public to gpuaas_owner")
        program("psql", dsn, "--single-transaction", "-v", "ON_ERROR_STOP=1", "-q", text=dump)
        db = await connect(dsn, DbRole.WORKER, hints=Hints("here"))
        api_db = await connect(dsn, DbRole.API, hints=Hints("here"))
        try:
            await write(db, world, "unnoticed", subject_id="twin")
            assert await follow(api_db, world, held, subject_id="twin") == []  # the red twin: the old order hides it
            assert await migrate(dsn) == []
            await write(db, world, "third", "fourth")
            assert phases(await follow(api_db, world, held)) == ["third", "fourth"]
            assert phases(await follow(api_db, world, START)) == ["first", "second", "third", "fourth"]
            async with db.read() as tx:
                rows = await store.recent(tx, world.ada.project_id, Paging(2, "~"))
            assert phases(rows)[:2] == ["fourth", "third"]
        finally:
            await api_db.close()
            await db.close()


def phases(rows: list[store.Followed[Entry]]) -> list[str]:
    return [each.item.phase for each in rows]


async def test_the_same_cluster_keeps_its_epoch(world: World) -> None:
    before = await peek.value(world.db, "select history_epoch()")
    for _ in range(2):
        assert await peek.value(world.db, "select note_cluster()") is False
    assert await peek.value(world.db, "select history_epoch()") == before


async def test_a_database_that_finds_itself_elsewhere_raises_its_epoch_once(world: World) -> None:
    before = await peek.value(world.db, "select history_epoch()")
    await peek.plant(world.db, "update platform set value = 'another' where key = 'cluster'")
    assert await peek.value(world.db, "select note_cluster()") is True
    assert await peek.value(world.db, "select note_cluster()") is False
    assert await peek.value(world.db, "select history_epoch()") > before


async def test_a_place_that_a_lost_database_gave_out_starts_over_from_the_present(world: World) -> None:
    """Waiting for that place would hide everything that happens until then."""
    here = await peek.value(world.db, "select history_epoch()")
    path = f"/api/v1/projects/{world.ada.project_id}/events"
    for lost in (f"{here}-{10**12}-1", f"{here + 1}-1-1"):
        heard = await first_lines(world, path, lost)
        assert heard[0] == "event: reset"
        assert Cursor.parse(heard[1].removeprefix("id: ")) is not None
    assert "event: reset" not in await first_lines(world, path, f"{here}-1-1")


async def first_lines(world: World, path: str, last_id: str) -> list[str]:
    async with world.db.read() as tx:
        after = await resume(tx, last_id)
    follower = entry_follower(world.services, world.ada.token, world.ada.project_id, None, after)
    events = follower.events()
    try:
        assert await anext(events) == ": following\n\n"
        await write(world.db, world, path)
        return (await anext(events)).splitlines()
    finally:
        await events.aclose()
