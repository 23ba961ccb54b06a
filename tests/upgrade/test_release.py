"""A populated database of release 0.1.0 is upgraded by all migrations, under load, and new code reads and uses it."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import json

from gpuaas.agent import identity
from gpuaas.core.migrate import folder, migrate
from tests.live import serving
from tests.postgres import drop_database, fresh_database, run, template_database
from tests.upgrade import people
from tests.upgrade.landings import Landing
from tests.upgrade.populate import DUMP, KEY, SEEN, program
from tests.upgrade.program_0_1_0 import seen
from tests.upgrade.test_rolling import violations
from tests.world import PASSWORD, SLICE, Known, world_on
from tools.describe_schema import SNAPSHOT, describe

MIGRATION_SECONDS = 60.0  # of all, beside the load


@pytest.fixture
async def released(tmp_path: Path) -> AsyncIterator[str]:
    """The database as the release left it, and its master key in the folder of the test."""
    await template_database("world", migrate)  # the first test creates the cluster's roles
    dsn = await fresh_database()
    await run(dsn, "grant create, usage on schema public to gpuaas_owner")  # the dump grants it after its functions
    restore = [str(program("psql")), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={DUMP}", dsn]
    done = await asyncio.to_thread(subprocess.run, restore, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shutil.copy(KEY, tmp_path / "master.key")
    yield dsn
    await drop_database(dsn)


def before() -> dict[str, Any]:
    """Responses that people received from the release."""
    shown: dict[str, Any] = json.decode(SEEN.read_bytes())
    return shown


async def signed_in(client: Callable[[int], httpx.AsyncClient]) -> list[Known]:
    """Sessions of the dump have expired; the passwords still hold."""
    known = list[Known]()
    for number, (name, person) in enumerate(before()["people"].items()):
        credentials = {"email": person["email"], "password": PASSWORD}
        async with client(number) as http:
            answer = (await http.post("/api/v1/auth/personal/login", json=credentials)).raise_for_status().json()
        known.append(Known(name=name, token=answer["access_token"], tenant_id="", **person))
    return known


async def test_new_code_shows_what_people_saw_before_the_upgrade(released: str, tmp_path: Path) -> None:
    applied = await migrate(released)
    assert applied == sorted(path.name for path in folder().glob("*.sql"))[-len(applied) :]
    assert len(applied) > 20
    assert await describe(released) == SNAPSHOT.read_text()
    async with world_on(released, tmp_path) as world:
        world.admit(await signed_in(lambda number: world.client(number=number + 100)))
        assert await seen(world) == before()
        assert await violations(world) == []


class Load:
    """People who create, read and release through a server of the release until the test stops them."""

    def __init__(self, url: str, person: Known) -> None:
        self.url, self._person = url, person
        self.acknowledged: list[str] = []
        self.answers, self.failures = 0, 0
        self.is_over = asyncio.Event()

    async def creates(self, number: int) -> None:
        async with people.client(self.url, self._person.token) as http:
            while not self.is_over.is_set():
                name = f"load-{number}-{len(self.acknowledged)}"
                body = {"sku": SLICE, "ssh_key_ids": [self._person.key_id], "project_id": self._person.project_id}
                key = {"X-Idempotency-Key": name}
                answer = await self.ask(http, "POST", "/api/v1/allocations", json={**body, "name": name}, headers=key)
                if answer is not None and answer.status_code == httpx.codes.ACCEPTED:
                    id = answer.json()["allocations"][0]["id"]
                    self.acknowledged.append(id)
                    await self.ask(http, "POST", f"/api/v1/allocations/{id}/release", json={"reason": "load"})

    async def reads(self) -> None:
        async with people.client(self.url, self._person.token) as http:
            while not self.is_over.is_set():
                await self.ask(http, "GET", f"/api/v1/projects/{self._person.project_id}/allocations")
                await asyncio.sleep(0.01)

    async def ask(self, http: httpx.AsyncClient, method: str, path: str, **what: Any) -> httpx.Response | None:
        try:
            answer = await http.request(method, path, **what)
        except httpx.TransportError:
            self.failures += 1
            return None
        self.answers += 1
        self.failures += answer.is_server_error
        await asyncio.sleep(0)
        return answer


async def test_a_release_that_serves_people_is_upgraded_and_nothing_acknowledged_is_lost(
    released: str, release: Landing, tmp_path: Path
) -> None:
    """Old code of two releases back may fail after the migrations; what it has acknowledged may not be lost."""
    async with release.server(released, tmp_path, tmp_path / "server.log") as url:
        accounts = {each.name: each for each in await signed_in(lambda _: httpx.AsyncClient(base_url=url))}
        operator, ada = accounts["operator"], accounts["ada"]
        await drain_all(url, operator.token)
        await people.enrol(url, operator.token, tmp_path / "node")
        async with people.new_agent(tmp_path / "node"):  # the agent of the release supports only a real engine
            load = Load(url, ada)
            async with asyncio.TaskGroup() as group:
                for number in range(3):
                    group.create_task(load.creates(number))
                group.create_task(load.reads())
                await people.until(lambda: has_served(load, 20))
                before_upgrade = load.answers
                async with asyncio.timeout(MIGRATION_SECONDS):
                    applied = await migrate(released)
                during = load.answers - before_upgrade
                load.is_over.set()
    assert len(applied) > 20
    assert during > 0, "nobody was served while the migrations ran"
    assert load.acknowledged
    async with serving(released, tmp_path) as (world, url):
        identity.change_server(tmp_path / "node", url)
        async with people.new_agent(tmp_path / "node"), people.client(url, ada.token) as http:
            for id in load.acknowledged:
                await people.settles(http, id)
            fresh = await people.create(http, ada, name="after-the-upgrade")
            await people.release(http, fresh)
            assert set(before()["timelines"]) <= {row["id"] for row in await people.listed(http, ada.project_id)}
        assert await violations(world) == []


async def has_served(load: Load, answers: int) -> bool:
    return load.answers >= answers and bool(load.acknowledged)


async def drain_all(url: str, operator: str) -> None:
    """No agent runs for the nodes of the dump, so the load must not be placed on them."""
    async with people.client(url, operator) as http:
        for node in (await http.get("/api/v1/admin/nodes")).raise_for_status().json()["items"]:
            path = f"/api/v1/admin/nodes/{node['id']}/drain"
            (await http.post(path, json={"reason": "no agent"})).raise_for_status()
