"""A whole control plane in one process on a real database, for tests that come in through the front door.

A plugin of pytest, named in `tests/conftest.py`.
"""

import itertools
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from argon2 import PasswordHasher
from litestar import Litestar
from msgspec import Struct, convert, json

from gpuaas.api.app import create_litestar
from gpuaas.core.clock import Clock
from gpuaas.core.migrate import migrate
from gpuaas.core.settings import Settings
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import add_personal_tenant
from gpuaas.domain.identity.passwords import Passwords
from gpuaas.engines.fake_storage import FakeDisk
from gpuaas.main.demo import Demo
from gpuaas.main.server import Parts, Wired, wired
from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import PlatformRole, Role, User
from gpuaas.wire.timeline import Entry
from tests.fleet import Node, Nodes
from tests.peek import plant
from tests.postgres import FOLDER, drop_database, fresh_database, template_database

PASSWORD = "correct horse battery"
HOST = "gpuaas.test"
MASTER_KEY = "master.key"
SLICE, WHOLE = "sim-h200-slice", "sim-h200-node"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
# One pass over eight kilobytes: a test is not a thief.
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
# What most tests are about is not how much of it there may be; tests/quotas sets the defaults again.
NO_DEFAULT_QUOTAS = "update quota_limits set amount = null where scope = 'platform'"
SPARE: list[Litestar] = []  # routes of worlds that ended: making them takes longer than the rest of a world


class TestClock:
    """Stands still but for a millisecond a look, so that everything has an order; moves when told.

    It starts a minute behind the database's clock: what begins now by this one has begun by that one.
    """

    __test__ = False

    def __init__(self) -> None:
        self._now = datetime.now(UTC) - timedelta(minutes=1)
        self._started = self._now

    def now(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now

    def monotonic(self) -> float:
        return (self.now() - self._started).total_seconds()

    def advance(self, **by: float) -> None:
        self._now += timedelta(**by)


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody signed in, and what they start with: a tenant, a project, a key."""

    id: str
    email: str
    token: str
    tenant_id: str
    project_id: str
    key_id: str
    http: httpx.AsyncClient


class Known(Struct, frozen=True, kw_only=True):
    """A person of the furnished template, and the token that they were given there."""

    name: str
    id: str
    email: str
    token: str
    tenant_id: str
    project_id: str
    key_id: str


PERSONAL = ("id", "email", "token", "tenant_id", "project_id", "key_id")


class World:
    """One replica. `http` is the default person's client; `as_` somebody else's."""

    def __init__(self, made: Wired, clock: Clock, dsn: str) -> None:
        self.services, self.links, self.streams, self.dsn = made.services, made.nodes.links, made.nodes.streams, dsn
        self.samples, self.terminals = made.nodes.samples, made.nodes.terminals
        self.background = [*made.serving, *made.working]
        self._routes = SPARE.pop() if SPARE else create_litestar(self.services)
        self._routes.state.services = self.services
        self.app, self.db = made.app(self._routes), self.services.worker_db
        self.disk = FakeDisk()  # the storage that all nodes share
        self.nodes = Nodes(self)
        self.stranger = self.client()
        self.people: dict[str, Person] = {}
        self._clock = clock
        self._numbers = itertools.count(1)

    @property
    def clock(self) -> TestClock:
        assert isinstance(self._clock, TestClock), "this world runs on the system's clock"
        return self._clock

    @property
    def ada(self) -> Person:
        return self.people["ada"]

    @property
    def operator(self) -> Person:
        return self.people["operator"]

    @property
    def http(self) -> httpx.AsyncClient:
        return self.ada.http

    def as_(self, name: str) -> httpx.AsyncClient:
        return self.people[name].http

    def client(
        self, token: str = "", *, number: int = 0, headers: Mapping[str, str] | None = None
    ) -> httpx.AsyncClient:
        """Each person calls from an address of their own, so that nobody spends another's attempts."""
        address = f"10.0.{number // 250}.{number % 250 + 1}"
        transport = httpx.ASGITransport(cast("Any", self.app), client=(address, 40_000))
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers={**bearer, **(headers or {})})

    async def sign_up(self, name: str, *, key: str = KEY) -> Person:
        """Through the front door, with a key added."""
        credentials = {"email": f"{name}@example.com", "password": PASSWORD}
        number = next(self._numbers)
        answer = await self.client(number=number).post("/api/v1/auth/personal/signup", json=credentials)
        answer.raise_for_status()
        return await self._welcome(name, answer.json()["access_token"], number, key)

    async def hire_operator(self, name: str = "operator", role: PlatformRole = PlatformRole.ADMIN) -> Person:
        """Nobody signs up as an operator: the row is written by an installer, the login is everybody's."""
        user = User(id=self.services.ids.new("user"), email=f"{name}@example.com", platform_role=role)
        async with self.db.write() as tx:
            await identity.add_user(tx, user, secret_hash=QUICK.hash(PASSWORD), now=self._clock.now())
            await add_personal_tenant(tx, self.services.ids, user, self._clock.now())
        credentials, number = {"email": user.email, "password": PASSWORD}, next(self._numbers)
        answer = await self.client(number=number).post("/api/v1/auth/personal/login", json=credentials)
        answer.raise_for_status()
        return await self._welcome(name, answer.json()["access_token"], number, KEY)

    async def _welcome(self, name: str, token: str, number: int, key: str) -> Person:
        http = self.client(token, number=number)
        me = (await http.get("/api/v1/me")).raise_for_status().json()
        added = await http.post("/api/v1/ssh-keys", json={"title": "laptop", "public_key": key})
        person = self.people[name] = Person(
            id=me["user"]["id"],
            email=me["user"]["email"],
            token=token,
            tenant_id=me["tenants"][0]["id"],
            project_id=me["projects"][0]["id"],
            key_id=added.raise_for_status().json()["id"],
            http=http,
        )
        return person

    async def join(self, person: Person, project_of: Person, *, project: Role | None, tenant: Role | None) -> None:
        """Give a person roles in somebody else's project and tenant."""
        async with self.db.write() as tx:
            owned = await identity.project(tx, project_of.project_id)
            if tenant:
                await identity.add_tenant_member(tx, owned.tenant_id, person.id, tenant)
            if project:
                await identity.add_project_member(tx, owned, person.id, project)

    async def furnish(self) -> None:
        """An operator, the catalog, and Ada with a project."""
        await Demo(self.db, self.services.ids, self._clock.now()).ensure_catalog()
        await plant(self.db, NO_DEFAULT_QUOTAS)
        await self.hire_operator()
        await self.sign_up("ada")

    def admit(self, people: list[Known]) -> None:
        """Sign in those whom the copied database knows already."""
        for known in people:
            http = self.client(known.token, number=next(self._numbers))
            self.people[known.name] = Person(**{field: getattr(known, field) for field in PERSONAL}, http=http)

    async def submit(self, person: Person | None = None, *, key: str = "", **fields: Any) -> httpx.Response:
        """One submit; `fields` go over a plain request for one GPU."""
        who = person or self.ada
        body = {"sku": SLICE, "ssh_key_ids": [who.key_id], "project_id": who.project_id, **fields}
        headers = {"X-Idempotency-Key": key or self.services.ids.new("idem")}
        return await who.http.post("/api/v1/allocations", json=body, headers=headers)

    async def allocation(self, status: Status = Status.ACTIVE, *, of: Person | None = None, **fields: Any) -> str:
        """One that came to this status by the way everybody's does."""
        if not self.nodes.all:
            await self.nodes.add()
        answer = await self.submit(of, **fields)
        assert answer.status_code == 202, answer.text
        id = str(answer.json()["allocations"][0]["id"])
        if status is not Status.REQUESTED:
            await self.bring(id, status)
        row = await self.get(id)
        assert row.status is status, f"{id} is {row.status}: {row.status_reason}"
        return id

    async def bring(self, id: str, status: Status) -> None:
        node = self.node_of(await self.get(id))
        if status is Status.PROVISIONING:
            await self.nodes.reconcile()
            return
        if status is Status.FAILED:
            node.broken["booting"], node.residue = "the disk is full", {"mounts"}
        await self.nodes.settle()
        node.broken.clear()
        if status in (Status.RELEASING, Status.RELEASED, Status.RELEASE_FAILED):
            node.residue = {"mounts"} if status is Status.RELEASE_FAILED else set()
            await self.release(id)
            if status is not Status.RELEASING:
                await self.nodes.settle()

    async def release(self, id: str, person: Person | None = None, reason: str = "") -> httpx.Response:
        return await (person or self.ada).http.post(f"/api/v1/allocations/{id}/release", json={"reason": reason})

    def node_of(self, row: AllocationRow) -> Node:
        return self.nodes.all[row.node_id]

    async def get(self, id: str) -> AllocationRow:
        async with self.db.read() as tx:
            return await allocations.get(tx, id)

    async def seen(self, id: str) -> dict[str, Any]:
        """As Ada's clients see it."""
        answer = await self.http.get(f"/api/v1/allocations/{id}")
        shown: dict[str, Any] = answer.raise_for_status().json()
        return shown

    async def timeline(self, id: str, person: Person | None = None) -> list[Entry]:
        """Oldest first."""
        answer = await (person or self.ada).http.get(f"/api/v1/allocations/{id}/timeline", params={"limit": 200})
        return list(reversed(convert(answer.raise_for_status().json()["items"], list[Entry], strict=False)))

    async def value(self, sql: str, *args: object) -> Any:
        """For looking where no route leads."""
        async with self.db.read() as tx:
            return await tx.value(sql, *args)

    async def close(self) -> None:
        for client in (self.stranger, *(person.http for person in self.people.values())):
            await client.aclose()
        SPARE.append(self._routes)


@asynccontextmanager
async def world_on(
    dsn: str, data: Path, *, clock: Clock | None = None, caller_type: type[Caller] = Caller, port: int = 8080
) -> AsyncIterator[World]:
    """One replica on this database; replicas of one world share the folder, and so the master key."""
    clock = clock or TestClock()
    config = Settings(data=data, dsn=dsn, port=port, pool_size=20)
    parts = Parts(clock=clock, passwords=Passwords(QUICK), caller_type=caller_type)
    async with wired(config, dsn, parts) as made:
        world = World(made, clock, dsn)
        try:
            yield world
        finally:
            await world.close()


@asynccontextmanager
async def database() -> AsyncIterator[str]:
    """A migrated database of one's own."""
    dsn = await fresh_database(template=await template_database("world", migrate))
    try:
        yield dsn
    finally:
        await drop_database(dsn)


@asynccontextmanager
async def furnished(data: Path, *, caller_type: type[Caller] = Caller) -> AsyncIterator[World]:
    """A world with its operator, its catalog and Ada; nodes are the test's to add."""
    dsn = await fresh_database(template=await template_database("furnished", build_furnished))
    try:
        data.mkdir(parents=True, exist_ok=True)
        shutil.copy(template_folder() / MASTER_KEY, data / MASTER_KEY)
        async with world_on(dsn, data, caller_type=caller_type) as world:
            world.admit(json.decode((template_folder() / "people.json").read_bytes(), type=list[Known]))
            yield world
    finally:
        await drop_database(dsn)


def template_folder() -> Path:
    """What belongs to the furnished template besides its database: the master key, and who is signed in."""
    return Path(os.environ[FOLDER]) / "furnished"


async def build_furnished(dsn: str) -> None:
    """Once per test run: signing up through the front door takes longer than copying a database in which it is done."""
    await migrate(dsn)
    template_folder().mkdir()
    async with world_on(dsn, template_folder()) as world:
        await world.furnish()
        people = known_people(world)
    (template_folder() / "people.json").write_bytes(json.encode(people))


def known_people(world: World) -> list[Known]:
    """For `World.admit` of a copy of this world's database."""
    return [
        Known(name=name, **{field: getattr(person, field) for field in PERSONAL})
        for name, person in world.people.items()
    ]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A control plane with an operator, a catalog and Ada; a node joins with the first allocation."""
    async with furnished(tmp_path) as made:
        yield made


@pytest.fixture
async def migrated() -> AsyncIterator[str]:
    """The DSN of a migrated, empty database."""
    async with database() as dsn:
        yield dsn
