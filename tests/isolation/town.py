"""Three tenants that own one of everything, and people with every kind of claim to them."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import asyncpg
from litestar.types import ASGIApp
from msgspec import Struct, json

from gpuaas.api.app import create_app
from gpuaas.core.migrate import migrate
from gpuaas.core.secrets import token_hash
from gpuaas.domain.identity.callers import Caller, Placed
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.sessions import store as sessions
from gpuaas.domain.terminals import commands
from gpuaas.domain.terminals import store as terminals
from gpuaas.wire.environments import Connection, Environment, EnvironmentState
from gpuaas.wire.identity import Role
from gpuaas.wire.link import Sessions
from gpuaas.wire.storage import Backend, PresentVolume
from tests.peek import plant
from tests.postgres import FOLDER, drop_database, fresh_database, template_database
from tests.world import MASTER_KEY, PASSWORD, SLICE, Known, Person, World, known_people, world_on

TENANTS = ("ada", "bob", "cyd")
PREFIXES = {
    "tenant": "ten",
    "project": "proj",
    "allocation": "alloc",
    "group": "group",
    "operation": "op",
    "ssh_key": "key",
    "session": "sess",
    "token": "tok",
    "node": "node",
    "bundle": "rtb",
    "volume": "vol",
    "snapshot": "snap",
    "storage_attachment": "att",
    "terminal": "term",
    "mate": "user",
    "mate_key": "key",
    "grant": "grant",
    "live_session": "live",
    "invitation": "inv",
    "unknown_environment": "alloc",
    "unknown_volume": "vol",
}
PERSONAL = frozenset({"ssh_key", "session", "token"})
INVITATION = "insert into invitations values ($1, $2, $3, $4, 'member', $5, now(), now() + interval '1 day')"
UNKNOWN = """
    insert into unknown_environments (id, node_id, environment_id, environment, first_seen_at, last_seen_at)
    values ('unknown_x', $1, $2, $3, now(), now())
"""
UNKNOWN_VOLUME = """
    insert into unknown_volumes (id, place, volume_id, backend, seen, first_seen_at, last_seen_at)
    values ('unknown_v', $1, $2, 'local', $3, now(), now())
"""
PLATFORM = frozenset({"node", "worker", "slot", "bundle", "unknown_environment", "unknown_volume", "task_key"})


def publication(slug: str) -> dict[str, Any]:
    """A bundle that a node without real engines can stage."""
    locked = {"name": "nothing", "version": "1", "sha256": ["0" * 64]}
    return {
        "product_name": "Probe",
        "slug": slug,
        "version": "1",
        "vendor": "tests",
        "runtime_family": "cpu",
        "recipe": {"python": "3.11", "requirements": [locked], "check": ["true"]},
    }


class Unchecked(Caller):
    """A caller whom the service lets do anything: what is still refused, the database refused."""

    def require(self, permission: Permission, noun: str, thing: Placed) -> None:
        pass

    def require_right(self, permission: Permission, noun: str, thing: Placed, *, has_right: bool, who: str) -> None:
        pass

    def may(self, permission: Permission, thing: Placed) -> bool:
        return True

    def require_tenant(self, permission: Permission, tenant_id: str) -> None:
        pass

    def require_platform(self, permission: Permission) -> None:
        pass

    def require_own(self, noun: str, user_id: str) -> None:
        pass

    def require_write(self) -> None:
        pass


@dataclass(frozen=True)
class Part:
    """A role in the matrix: who asks, and whose things are theirs."""

    name: str
    token: str
    home: str = ""  # the tenant among the three
    is_person: bool = False  # the one whose personal things stand in the town
    writes: bool = False
    leads: bool = False  # may make projects
    is_operator: bool = False
    fence: str = ""  # home as the database sees it, where that is wider


@dataclass
class Town:
    world: World
    parts: list[Part] = field(default_factory=list)
    things: dict[tuple[str, str], str] = field(default_factory=dict)  # (tenant, noun) → id
    marks: dict[str, set[str]] = field(default_factory=dict)  # tenant → what only its people may read

    @property
    def app(self) -> ASGIApp:
        return self.world.app

    def own(self, part: Part, noun: str) -> str:
        """The part's, or for parts with none Ada's; the first of what is only counted."""
        return self.things.get((part.home or "ada", noun)) or self.things.get(("", noun), "0")

    def missing(self, noun: str) -> str:
        return self.world.services.ids.new(PREFIXES[noun])


async def settle(world: World) -> Town:
    """Build it, by the front door as far as that leads."""
    town = Town(world)
    await world.nodes.add(gpus=16)
    for slug in ("offered", "handled"):
        published = await world.operator.http.post("/api/v1/admin/runtime-bundles", json=publication(slug))
        town.things["", "bundle"] = published.raise_for_status().json()["id"]
    bundle = town.things["", "bundle"]
    staged = await world.operator.http.post(f"/api/v1/admin/runtime-bundles/{bundle}/stage", json={})
    staged.raise_for_status()
    people = {"ada": world.ada} | {name: await world.sign_up(name) for name in ("bob", "cyd")}
    for name, person in people.items():
        await own_one_of_everything(town, name, person)
    await world.nodes.settle()
    for name, person in people.items():
        town.things[name, "terminal"] = await open_terminal(world, person, town.things[name, "allocation"])
        town.marks[name].add(town.things[name, "terminal"])
        await share(town, name, person)
    await world.nodes.settle()
    await find_unknown(town)
    await cast_parts(town, people)
    return town


async def find_unknown(town: Town) -> None:
    """A node reported an environment that nobody knows."""
    id, node_id = town.missing("unknown_environment"), next(iter(town.world.nodes.all))
    seen = Environment(allocation_id=id, state=EnvironmentState.RUNNING, boot=1, devices=())
    await plant(town.world.db, UNKNOWN, node_id, id, seen)
    town.things["", "unknown_environment"] = id
    volume_id = town.missing("unknown_volume")
    present = PresentVolume(volume_id=volume_id, backend=Backend.LOCAL, quota="measured")
    await plant(town.world.db, UNKNOWN_VOLUME, node_id, volume_id, present)
    town.things["", "unknown_volume"] = volume_id


async def own_one_of_everything(town: Town, name: str, person: Person) -> None:
    one = (await town.world.submit(person, name=f"{name}-machine")).raise_for_status().json()
    two = (await town.world.submit(person, name=f"{name}-pair", count=2)).raise_for_status().json()
    token = await person.http.post("/api/v1/auth/tokens", json={"title": f"{name}-token", "scopes": ["read"]})
    login = {"email": person.email, "password": PASSWORD}
    (await person.http.post("/api/v1/auth/personal/login", json=login)).raise_for_status()
    sessions = (await person.http.get("/api/v1/auth/sessions")).raise_for_status().json()["items"]
    found = {
        "tenant": person.tenant_id,
        "project": person.project_id,
        "ssh_key": person.key_id,
        "allocation": one["allocations"][0]["id"],
        "operation": one["operation_id"],
        "group": two["group_id"],
        "token": token.raise_for_status().json()["details"]["id"],
        "session": next(each["id"] for each in sessions if not each["current"]),
    }
    found |= await store_one_of_everything(town.world, person, found["allocation"], name)
    town.things |= {(name, noun): id for noun, id in found.items()}
    machines = {each["id"] for each in two["allocations"]}
    town.marks[name] = {*found.values(), *machines, person.id, person.email, f"{name}-machine", f"{name}-pair"}


async def store_one_of_everything(world: World, person: Person, allocation_id: str, name: str) -> dict[str, str]:
    """A volume on the machine, and a snapshot of it."""
    volumes = f"/api/v1/projects/{person.project_id}/volumes"
    made = await person.http.post(volumes, json={"name": f"{name}-data", "size_gib": 1})
    volume_id = made.raise_for_status().json()["id"]
    await world.nodes.settle()
    snapshot = await person.http.post(f"/api/v1/volumes/{volume_id}/snapshots", json={"name": f"{name}-copy"})
    wanted = {"volume_id": volume_id, "mount_path": "/data"}
    attached = await person.http.post(f"/api/v1/allocations/{allocation_id}/storage-attachments", json=wanted)
    return {
        "volume": volume_id,
        "snapshot": snapshot.raise_for_status().json()["id"],
        "storage_attachment": attached.raise_for_status().json()["id"],
    }


async def open_terminal(world: World, person: Person, allocation_id: str) -> str:
    """As a socket would."""
    path, now = f"/api/v1/allocations/{allocation_id}/terminal-token", world.clock.now()
    minted = (await person.http.post(path, json={"record": True})).raise_for_status().json()
    async with world.db.write() as tx:
        ticket = await terminals.take_ticket(tx, token_hash(minted["token"]), allocation_id, now)
        assert ticket is not None
        return await commands.open_terminal(tx, ticket, ids=world.services.ids, source="10.0.0.1", now=now)


async def share(town: Town, name: str, person: Person) -> None:
    """A mate holds the machine, by a key of their own; its owner has granted themselves access."""
    world, id = town.world, town.things[name, "allocation"]
    mate = await world.sign_up(f"{name}-mate")
    await world.join(mate, person, project=Role.MEMBER, tenant=Role.MEMBER)
    place = f"/api/v1/allocations/{id}"
    handed = {"user_id": mate.id, "ssh_key_ids": [mate.key_id]}
    (await person.http.post(f"{place}/handover", json=handed)).raise_for_status()
    granted = {"user_id": person.id, "ssh_key_id": person.key_id}
    grant = (await person.http.post(f"{place}/access-grants", json=granted)).raise_for_status().json()["id"]
    invitation = town.missing("invitation")
    await plant(world.db, INVITATION, invitation, person.tenant_id, person.project_id, person.email, person.id)
    session = await be_seen(town, id, mate)
    found = {"mate": mate.id, "mate_key": mate.key_id, "grant": grant, "live_session": session}
    found["invitation"] = invitation
    town.things |= {(name, noun): thing for noun, thing in found.items()}
    town.marks[name] |= {*found.values(), mate.email}


async def be_seen(town: Town, allocation_id: str, mate: Person) -> str:
    """Their node said that the mate is in."""
    world, id = town.world, town.missing("live_session")
    now = world.services.clock.now()
    inside = Connection(id=id, key_fingerprint="SHA256:x", source="10.0.0.1:1", opened_at=now, user_id=mate.id)
    node_id = (await world.get(allocation_id)).node_id
    async with world.db.write() as tx:
        await sessions.observe(tx, [(node_id, Sessions(allocation_id=allocation_id, sessions=[inside], at=now))])
    return id


async def cast_parts(town: Town, people: dict[str, Person]) -> None:
    world, ada, bob = town.world, people["ada"], people["bob"]
    mates = {name: await world.sign_up(name) for name in ("member", "viewer", "colleague")}
    await world.join(mates["member"], ada, project=Role.MEMBER, tenant=Role.MEMBER)
    await world.join(mates["viewer"], ada, project=Role.VIEWER, tenant=Role.VIEWER)
    await world.join(mates["colleague"], ada, project=None, tenant=Role.MEMBER)
    read_only = await ada.http.post("/api/v1/auth/tokens", json={"title": "reader", "scopes": ["read"]})
    node = next(iter(world.nodes.all.values()))
    issued = await world.operator.http.post("/api/v1/admin/enrolment-tokens", json={"node_name": "unborn"})
    town.parts = [
        Part("anonymous", ""),
        Part("agent", node.id),
        Part("enrolment token", issued.raise_for_status().json()["token"]),
        Part("owner", ada.token, home="ada", is_person=True, writes=True, leads=True),
        Part("member", mates["member"].token, home="ada", writes=True),
        Part("viewer", mates["viewer"].token, home="ada"),
        Part("colleague", mates["colleague"].token, fence="ada"),
        Part("read-only token", read_only.raise_for_status().json()["token"], home="ada", is_person=True),
        Part("other owner", bob.token, home="bob", is_person=True, writes=True, leads=True),
        Part("operator", world.operator.token, is_operator=True),
    ]
    town.things |= {("", "backend"): "shared", ("", "task_key"): "1"}
    town.things |= {("", "node"): node.id, ("", "worker"): "allocations", ("", "sku"): SLICE}


@contextmanager
def checks_off(town: Town) -> Iterator[ASGIApp]:
    """The same routes over the same rows, with a service that lets everybody do everything."""
    routes, services = town.world._routes, town.world.services
    routes.state.services = replace(services, caller_type=Unchecked)
    try:
        yield create_app(routes.state.services, routes)
    finally:
        routes.state.services = services


@asynccontextmanager
async def policies_off(town: Town) -> AsyncIterator[None]:
    """The tables without their fence, in this town's database alone."""
    connection = await asyncpg.connect(town.world.dsn)
    tables = [
        row["name"]
        for row in await connection.fetch("select tablename as name from pg_tables where schemaname = 'public'")
    ]
    try:
        for name in tables:
            await connection.execute(f"alter table {name} disable row level security")
        yield
    finally:
        for name in tables:
            if name != "schema_migrations":
                await connection.execute(f"alter table {name} enable row level security")
        await connection.close()


class Kept(Struct, frozen=True):
    """What a town consists of besides its database."""

    people: list[Known]
    parts: list[Part]
    things: list[tuple[str, str, str]]  # tenant, noun, id
    marks: dict[str, set[str]]


@asynccontextmanager
async def founded(data: Path) -> AsyncIterator[Town]:
    """A copy of the one that is built once per test run; its nodes are rows without engines behind them."""
    dsn = await fresh_database(template=await template_database("town", build_town))
    try:
        data.mkdir(parents=True, exist_ok=True)
        shutil.copy(town_folder() / MASTER_KEY, data / MASTER_KEY)
        async with world_on(dsn, data) as world:
            kept = json.decode((town_folder() / "town.json").read_bytes(), type=Kept)
            world.admit(kept.people)
            things = {(tenant, noun): id for tenant, noun, id in kept.things}
            yield Town(world, parts=kept.parts, things=things, marks=kept.marks)
    finally:
        await drop_database(dsn)


def town_folder() -> Path:
    return Path(os.environ[FOLDER]) / "town"


async def build_town(dsn: str) -> None:
    await migrate(dsn)
    town_folder().mkdir()
    async with world_on(dsn, town_folder()) as world:
        await world.furnish()
        town = await settle(world)
        things = [(tenant, noun, id) for (tenant, noun), id in town.things.items()]
        kept = Kept(people=known_people(world), parts=town.parts, things=things, marks=town.marks)
    (town_folder() / "town.json").write_bytes(json.encode(kept))
