"""Following the timeline under concurrent writers: nothing lost, nothing twice; over SSE, also when it breaks off."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import httpx
import msgspec

from gpuaas.api.stream import KEEPALIVE_SECONDS, Resumed, entry_follower
from gpuaas.core.db import Database
from gpuaas.domain.timeline import store
from gpuaas.domain.timeline.store import START, NewEntry, Subject
from gpuaas.sdk.exchange import Options
from gpuaas.wire.timeline import Entry
from tests import peek
from tests.allocations.rows import NOON
from tests.live import eventually, serving
from tests.patience import PATIENCE_SECONDS
from tests.timeline.looking import look
from tests.world import Person, World

WRITERS, EACH = 12, 15


async def write_side_by_side(db: Database, person: Person, seed: int) -> None:
    """Transactions that overlap: numbers are given in one order and committed in another."""
    source = random.Random(seed)
    subject = Subject(kind="test", id="test", tenant_id=person.tenant_id, project_id=person.project_id)

    async def writer(number: int) -> None:
        for step in range(EACH):
            async with db.write() as tx:
                await store.record(tx, subject, NewEntry(phase=f"{number}-{step}", at=NOON, actor="system"), None)
                for _ in range(source.randrange(6)):
                    await asyncio.sleep(0)

    await asyncio.gather(*(writer(number) for number in range(WRITERS)))


def expected() -> list[str]:
    return sorted(f"{number}-{step}" for number in range(WRITERS) for step in range(EACH))


async def test_entries_behind_an_open_transaction_wait_and_are_told_when_it_ends(world: World) -> None:
    subject = Subject(kind="test", id="test", tenant_id=world.ada.tenant_id, project_id=world.ada.project_id)
    async with world.db.write() as older:
        await store.record(older, subject, NewEntry(phase="older", at=NOON, actor="system"), None)
        async with world.db.write() as newer:
            await store.record(newer, subject, NewEntry(phase="newer", at=NOON, actor="system"), None)
        behind = await look(world, START)
        assert (behind.found, behind.is_waiting) == ([], True)

    async def is_told() -> bool:  # other tests' transactions in this cluster hold followers back
        return not (await look(world, START)).is_waiting

    await eventually(is_told)
    then = await look(world, START)
    assert [each.item.phase for each in then.in_order()] == ["older", "newer"]


async def test_a_stream_tells_what_waited_behind_an_open_transaction_without_another_hint(world: World) -> None:
    subject = Subject(kind="test", id="test", tenant_id=world.ada.tenant_id, project_id=world.ada.project_id)
    follower = entry_follower(world.services, world.ada.token, world.ada.project_id, "test", Resumed(START))
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(follower.events()) as events:
        assert await anext(events) == ": following\n\n"
        async with world.db.write() as older:
            await older.run("select pg_current_xact_id()")
            async with world.db.write() as newer:
                await store.record(newer, subject, NewEntry(phase="newer", at=NOON, actor="system"), None)
            telling = asyncio.create_task(anext(events))
            assert (await look(world, START)).is_waiting
            assert not telling.done()
        assert '"phase":"newer"' in await telling


async def test_a_follower_loses_nothing_and_hears_nothing_twice(world: World) -> None:
    after, heard = START, list[str]()

    async def is_all_heard() -> bool:
        nonlocal after
        for each in (await look(world, after)).in_order():
            after = each.cursor
            heard.append(each.item.phase)
        return len(heard) >= WRITERS * EACH

    writing = asyncio.create_task(write_side_by_side(world.db, world.ada, seed=3))
    await eventually(is_all_heard)
    await writing
    await is_all_heard()
    assert sorted(heard) == expected()


async def test_a_follower_by_number_alone_would_lose_entries(world: World) -> None:
    """The red twin: `id > last` passes over what commits late."""
    last, heard = 0, list[str]()
    asked = "select id, phase from timeline_entries where subject_id = 'test' and id > $1 order by id"
    writing = asyncio.create_task(write_side_by_side(world.db, world.ada, seed=3))
    is_over = False
    while not is_over:
        is_over = writing.done()  # so that one look follows the last commit
        for row in await peek.rows(world.db, asked, last):
            last = row["id"]
            heard.append(row["phase"])
    assert len(set(heard)) < len(expected())


class Stream:
    """A client of server-sent events: what it heard, and where it was."""

    def __init__(self, http: httpx.AsyncClient, path: str) -> None:
        self._http, self._path = http, path
        self.last_id = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[Entry]]:
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        async with self._http.stream("GET", self._path, headers=headers, timeout=30) as answer:
            answer.raise_for_status()
            async with aclosing(self._entries(answer)) as entries:
                yield entries

    async def _entries(self, answer: httpx.Response) -> AsyncGenerator[Entry, None]:
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                self.last_id = value
            elif name == "data":
                yield msgspec.json.decode(value, type=Entry)


@asynccontextmanager
async def real_client(person: Person, url: str) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {person.token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        yield http


async def test_a_stream_broken_off_again_and_again_resumes_without_loss_or_repeat(
    migrated: str, tmp_path: Path
) -> None:
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with real_client(world.ada, url) as http:
            stream = Stream(http, f"/api/v1/projects/{world.ada.project_id}/events")
            async with stream.open():
                stream.last_id = "0-0"
            writing = asyncio.create_task(write_side_by_side(world.db, world.ada, seed=5))
            heard: list[str] = []
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(heard) < WRITERS * EACH:
                    async with stream.open() as entries:
                        async for entry in entries:
                            heard.append(entry.phase)
                            if len(heard) % 17 == 0 or len(heard) == WRITERS * EACH:
                                break
            await writing
    assert sorted(heard) == expected()


async def test_an_allocations_stream_begins_at_its_beginning_and_goes_on_as_it_happens(
    migrated: str, tmp_path: Path
) -> None:
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        await world.nodes.add()  # which never does anything
        async with real_client(world.ada, url) as http:
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            stream = Stream(http, f"/api/v1/allocations/{id}/events")
            heard: list[str] = []
            async with asyncio.timeout(PATIENCE_SECONDS), stream.open() as entries:
                async for entry in entries:
                    heard.append(entry.phase)
                    if entry.phase == "provisioning":
                        (await world.release(id)).raise_for_status()
                    if entry.phase == "releasing":
                        break
    assert heard == ["requested", "placed", "provisioning", "releasing"]


async def test_a_revoked_token_ends_its_stream(migrated: str, tmp_path: Path) -> None:
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with real_client(world.ada, url) as http:
            path = f"/api/v1/projects/{world.ada.project_id}/events"
            async with asyncio.timeout(PATIENCE_SECONDS), http.stream("GET", path, timeout=30) as answer:
                lines = answer.aiter_lines()
                assert await anext(lines) == ": following"
                (await world.http.post("/api/v1/auth/logout")).raise_for_status()
                world.services.hints.send([(store.EVENTS, world.ada.project_id)])
                rest = [line async for line in lines]
    assert "event: end" in rest


async def test_another_tenants_stream_does_not_exist(world: World) -> None:
    a = await world.allocation()
    eve = await world.sign_up("eve")
    for path in (f"projects/{world.ada.project_id}/events", f"allocations/{a}/events", "allocations/none/events"):
        assert (await eve.http.get(f"/api/v1/{path}")).status_code == 404


async def test_a_reader_that_goes_away_at_once_is_forgotten(world: World) -> None:
    listeners = world.services.hints._listeners[store.EVENTS]
    before = list(listeners)
    follower = entry_follower(world.services, world.ada.token, world.ada.project_id, None, Resumed(START))
    async with aclosing(follower.events()) as events:
        assert await anext(events) == ": following\n\n"
        assert len(listeners) == len(before) + 1
    assert listeners == before


def test_a_quiet_stream_is_heard_from_twice_before_a_client_doubts_it() -> None:
    assert Options().silence > 2 * KEEPALIVE_SECONDS
