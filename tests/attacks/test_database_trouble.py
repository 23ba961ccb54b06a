"""Database trouble degrades a replica and never stops it (OPS2): it stays up, says why, keeps its links, recovers."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.terminals import UNREACHABLE, Error
from tests.e2e.stack import free_port
from tests.live import agent, eventually, serving
from tests.postgres import postgres, run
from tests.terminals.browsers import dialled, mint
from tests.terminals.conftest import active
from tests.world import World, database


@dataclass
class Replica:
    world: World
    url: str
    dsn: str
    node_id: str

    @property
    def epoch(self) -> int:
        return self.world.links._links[self.node_id].epoch

    async def get(self, path: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.url) as http:
            return await http.get(path)

    async def problems(self) -> set[str]:
        return {each["code"] for each in (await self.get("/readyz")).json()["problems"]}

    def reports(self, code: str) -> Callable[[], Awaitable[bool]]:
        async def holds() -> bool:
            return code in await self.problems()

        return holds

    async def is_ready(self) -> bool:
        return (await self.get("/readyz")).status_code == 200

    @property
    def database(self) -> str:
        return self.dsn.partition("?")[0].rpartition("/")[2]

    async def alter(self, what: str) -> None:
        await run(await postgres(), f'alter database "{self.database}" {what}')

    async def cut_all(self) -> None:
        every = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{self.database}'"
        await run(await postgres(), every)


@pytest.fixture(scope="module")
async def replica(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Replica]:
    """One for all troubles: it has to recover from each by itself, so the next test finds it well."""
    folder, engine = tmp_path_factory.mktemp("replica"), FakeEngine(clock=SystemClock().now)
    async with database() as dsn, serving(dsn, folder) as (world, url):
        await world.furnish()
        async with agent(world, url, folder / "node", engine) as node_id:
            yield Replica(world, url, dsn, node_id)


@asynccontextmanager
async def read_only(replica: Replica) -> AsyncIterator[str]:
    await replica.alter("set default_transaction_read_only = on")
    await replica.cut_all()
    yield "read_only"
    await replica.alter("set default_transaction_read_only = off")  # nobody cuts connections: they must be renewed


@asynccontextmanager
async def out_of_connections(replica: Replica) -> AsyncIterator[str]:
    await replica.alter("connection limit 0")
    await replica.cut_all()
    yield "too_many_connections"
    await replica.alter("connection limit -1")


@asynccontextmanager
async def full_disk(replica: Replica) -> AsyncIterator[str]:
    """At the driver's edge: every statement that writes is refused its first page."""
    pools = [db.pool for db in (replica.world.services.worker_db, replica.world.services.api_db)]
    originals = [pool._open for pool in pools]
    for pool, original in zip(pools, originals, strict=True):
        pool._open = partial(open_full, original)
        pool.renew()
    yield "disk_full"
    for pool, original in zip(pools, originals, strict=True):
        pool._open, pool._renewed_at = original, float("-inf")
        pool.renew()


async def open_full(original: Callable[[], Awaitable[Any]]) -> Any:
    return Full(await original())


class Full:
    """A connection to a database that cannot extend a file."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def execute(self, sql: str, *args: object) -> str:
        if sql.strip().startswith(("insert", "update", "delete")):
            raise asyncpg.DiskFullError("could not extend file: No space left on device")
        return str(await self._inner.execute(sql, *args))

    async def fetch(self, sql: str, *args: object) -> Any:
        if "insert into" in sql or "update " in sql:
            raise asyncpg.DiskFullError("could not extend file: No space left on device")
        return await self._inner.fetch(sql, *args)

    async def fetchrow(self, sql: str, *args: object) -> Any:
        if "insert into" in sql or "update " in sql:
            raise asyncpg.DiskFullError("could not extend file: No space left on device")
        return await self._inner.fetchrow(sql, *args)


@pytest.mark.parametrize("trouble", [read_only, out_of_connections, full_disk])
async def test_a_replica_stays_up_says_why_keeps_its_links_and_recovers_alone(replica: Replica, trouble: Any) -> None:
    world, epoch = replica.world, replica.epoch
    async with trouble(replica) as reason:
        await eventually(replica.reports(f"database_{reason}"))
        ready = await replica.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "degraded")
        assert (await replica.get("/healthz")).status_code == 200
        refused = await world.submit()
        assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
        assert refused.json()["facts"]["reason"] == reason
        assert refused.headers["Retry-After"] == "1"
        assert replica.epoch == epoch

        async def is_counted() -> bool:
            line = f'gpuaas_database_errors_total{{reason="{reason}"}} 0.0'
            return line not in (await replica.get("/metrics")).text

        await eventually(is_counted)
    await eventually(replica.is_ready)
    assert replica.epoch == epoch
    id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]

    async def is_active() -> bool:
        return bool((await world.seen(id))["status"] == "active")

    await eventually(is_active)


async def test_no_loop_of_a_replica_ends_while_its_database_is_read_only(replica: Replica) -> None:
    """What ended replicas before: the check-in let the error escape. It fails, and goes on."""
    world = replica.world
    tasks = [asyncio.ensure_future(loop()) for loop in world.background]
    try:
        async with read_only(replica):

            async def check_in_fails() -> bool:
                return "check-in" in world.services.health.failing

            await eventually(check_in_fails)
            assert not any(task.done() for task in tasks)
        await eventually(replica.is_ready)
        assert not any(task.done() for task in tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_replicas_do_not_take_each_other_for_dead_after_an_outage(migrated: str, tmp_path: Path) -> None:
    """The first to check in again sees that the others did not, and must not close their links."""
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (first, url), serving(migrated, tmp_path) as (other, _):
        await first.furnish()
        async with agent(first, url, tmp_path / "node", engine) as node_id:
            epoch = first.links._links[node_id].epoch
            await other.links.check_in("http://other")
            age = "update replicas set seen_at = seen_at - interval '1 minute'"
            async with other.db.write() as tx:  # an outage of a minute, as both see it
                await tx.run(age)
                other.links._checked_in_at -= 60
                await tx.run("lock table replicas in share row exclusive mode")
            await other.links.check_in("http://other")
            async with first.db.read() as tx:
                assert await tx.value("select count(*) from links where node_id = $1", node_id) == 1
            assert first.links._links[node_id].epoch == epoch


async def test_readiness_reports_a_disk_with_little_room(replica: Replica) -> None:
    services = replica.world.services
    usual = services.min_free_mib
    await eventually(replica.is_ready)
    object.__setattr__(services, "min_free_mib", 1 << 40)
    try:
        assert await replica.problems() == {"disk_nearly_full"}
        assert (await replica.get("/readyz")).status_code == 503
        assert (await replica.get("/healthz")).status_code == 200
    finally:
        object.__setattr__(services, "min_free_mib", usual)


async def test_a_terminal_that_cannot_be_opened_says_why_and_its_ticket_stays_good(replica: Replica) -> None:
    world = replica.world
    id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
    await active(world, id)
    minted = await mint(world.ada, id)
    async with full_disk(replica), dialled(replica.url, id, minted["token"]) as browser:
        code, last = await browser.ended()
        assert (code, last) == (
            UNREACHABLE,
            Error(reason="the database does not answer now; try again in a few seconds"),
        )
    async with dialled(replica.url, id, minted["token"]) as browser:
        await browser.session()


async def test_a_replica_that_starts_while_the_database_is_read_only_answers_and_waits(
    migrated: str, tmp_path: Path
) -> None:
    name, port = migrated.partition("?")[0].rpartition("/")[2], free_port()
    await run(await postgres(), f'alter database "{name}" set default_transaction_read_only = on')
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gpuaas.main", "server", "--data", str(tmp_path), "--port", str(port)),
        env={**os.environ, "GPUAAS_DSN": migrated, "GPUAAS_LOG_LEVEL": "error"},
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            await eventually(partial(answers, http, "/healthz", 200))
            ready = await http.get("/readyz")
            assert (ready.status_code, ready.json()["problems"][0]["code"]) == (503, "database_read_only")
            refused = await http.get("/api/v1/me")
            assert (refused.status_code, refused.json()["facts"]["reason"]) == (503, "read_only")
            await run(await postgres(), f'alter database "{name}" set default_transaction_read_only = off')
            await eventually(partial(answers, http, "/readyz", 200))
            assert process.returncode is None
    finally:
        process.kill()
        await process.wait()


async def answers(http: httpx.AsyncClient, path: str, status: int) -> bool:
    try:
        return (await http.get(path)).status_code == status
    except httpx.TransportError:
        return False


async def test_readiness_tells_strangers_no_address_login_or_file(world: World) -> None:
    secret = "postgresql://gpuaas_login@10.0.0.7/gpuaas"
    for loop, error in (("check-in", OSError(secret)), ("sweep", RuntimeError(secret))):
        world.services.health.failed(loop, error)
    told = (await world.client().get("/readyz")).text
    assert "check-in" in told
    assert "sweep" in told
    assert "gpuaas_login" not in told
    assert str(world.services.data) not in told
