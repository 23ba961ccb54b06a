"""One running platform, and cells of the authorization matrix on it: a person's standing, a change, real clients."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from gpuaas.main.agent import oci
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.identity import Role
from tests.access.authorization import CHANGES, ENTRIES, OWN_FILE, PLACE, STANDINGS, Standing, allows
from tests.access.real_clients import Client, EventStream, Forward, Reattached, Route, Sftp, Shell, TerminalSocket
from tests.engines.benches import Key, place
from tests.engines.openssh import OpenSsh
from tests.live import agent, eventually, serving
from tests.patience import PATIENCE_SECONDS
from tests.terminals.browsers import browsing
from tests.world import Person, World, database

PORTS = range(28_760, 28_800)
READ, EVENTS, CONTROL = f"GET {PLACE}/{{id}}", f"GET {PLACE}/{{id}}/events", f"POST {PLACE}/{{id}}/extend"
RECORDING = f"GET {PLACE}/{{id}}/terminals/{{terminal_id}}/recording"
ADD_KEYS = "add a key of one's own"
# The entry points that are tried with a real client.
REAL = (
    *(READ, EVENTS, CONTROL, RECORDING),
    *("SSH login", OWN_FILE, "SFTP", "TCP forwarding", "terminal", "terminal re-attach"),
)
# Changes that a person makes through the API; a tenant role is changed by nobody yet.
BY_API = tuple(change for change in CHANGES if change not in ("none", "tenant role lowered"))
GRANT_ENDS_IN = timedelta(seconds=1)
ECHO = """
import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile: self.wfile.write(line)
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Echo)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
FURNISH = """
umask 077; mkdir -p ~/.ssh; echo '{line}' > ~/.ssh/authorized_keys
nohup python3 -c '{echo}' > ~/port 2> /dev/null < /dev/null &
until [ -s ~/port ]; do sleep 0.02; done; cat ~/port
"""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Scene:
    """A standing, and what happens to it."""

    standing: str
    change: str

    def __str__(self) -> str:
        return f"{self.standing}; {self.change}"

    @property
    def is_possible(self) -> bool:
        """Whether the API offers this change to somebody of this standing."""
        one = STANDINGS[self.standing]
        is_member = one.project is not None
        offered = {
            "grant revoked": one.granted,
            "grant expired": one.granted,
            "handed over": one.holds,
            "holder removed": not one.holds,
            "holder demoted": not one.holds,
            "person suspended": True,
            "role lowered to member": one.project in ("owner", "admin"),
            "left the tenant": is_member and one.tenant == "member",  # a tenant admin who leaves a project stays in it
        }
        return offered.get(self.change, is_member)

    def before(self, entry: str) -> bool:
        return allows(entry, STANDINGS[self.standing], "none")

    def after(self, entry: str) -> bool:
        return allows(entry, STANDINGS[self.standing], self.change)


def every_scene() -> list[Scene]:
    scenes = [Scene(standing, change) for standing in STANDINGS for change in BY_API]
    return [scene for scene in scenes if scene.is_possible]


async def becomes(wanted: bool, look: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Whether a look gives this within the time."""
    try:
        async with asyncio.timeout(seconds):
            while await look() is not wanted:
                await asyncio.sleep(0.05)
    except TimeoutError:
        return False
    return True


@dataclass(frozen=True)
class Inside:
    """Where the environment is, and what runs in it: an echo server, and a recorded terminal of its holder."""

    url: str
    environment: Environment
    port: int
    terminal_id: str

    def of_key(self, ssh: OpenSsh) -> dict[str, Client]:
        return {"SSH login": Shell(ssh), "SFTP": Sftp(ssh), "TCP forwarding": Forward(ssh, self.port)}

    def of_credential(self, http: httpx.AsyncClient) -> dict[str, Client]:
        id = self.environment.allocation_id
        place = f"/api/v1/allocations/{id}"
        return {
            READ: Route(http, "GET", place),
            EVENTS: EventStream(http, f"{place}/events"),
            CONTROL: Route(http, "POST", f"{place}/extend", {"hours": 1}),
            RECORDING: Route(http, "GET", f"{place}/terminals/{self.terminal_id}/recording"),
            "terminal": TerminalSocket(http, self.url, id),
            "terminal re-attach": Reattached(http, self.url, id),
        }


@dataclass(frozen=True)
class Cell:
    """Pat, who stands in some way to an allocation, and Hal, who holds it unless Pat does."""

    world: World
    standing: Standing
    pat: Person
    hal: Person
    id: str
    grant_id: str
    inside: "Inside"
    clients: dict[str, Client]

    @property
    def holder(self) -> Person:
        return self.pat if self.standing.holds else self.hal

    async def walk(self, scene: Scene, *, seconds: float = PATIENCE_SECONDS) -> list[str]:
        """Open what may be opened, make the change, and tell what differs from the model after so many seconds."""
        found = [*await asyncio.gather(*(self._begin(scene, entry) for entry in self.clients))]
        await self.make(scene.change)
        if not allows(ADD_KEYS, self.standing, "none") and allows(ADD_KEYS, self.standing, scene.change):
            await self._choose_key()
        if not any(what for _, what in found):
            found += await asyncio.gather(*(self._end(scene, entry, seconds) for entry in self.clients))
        return [f"{scene.standing}, {scene.change}: {entry} {what}" for entry, what in found if what]

    async def _choose_key(self) -> None:
        """Somebody who holds an allocation from now on enters it with a key of their own."""
        path, body = f"/api/v1/allocations/{self.id}/ssh-keys", {"ssh_key_ids": [self.pat.key_id]}
        (await self.pat.http.put(path, json=body)).raise_for_status()

    async def _begin(self, scene: Scene, entry: str) -> tuple[str, str]:
        client, wanted = self.clients[entry], scene.before(entry)
        is_right = await becomes(wanted, client.open if wanted else client.enters, PATIENCE_SECONDS)
        return entry, "" if is_right else f"is {'refused' if wanted else 'allowed'} before"

    async def _end(self, scene: Scene, entry: str, seconds: float) -> tuple[str, str]:
        client, wanted = self.clients[entry], scene.after(entry)
        if client.is_lasting and scene.before(entry):
            if not wanted and not await becomes(True, client.is_cut, seconds):
                return entry, "stays open"
            if wanted and await client.is_cut():
                return entry, "was cut"
        is_right = await becomes(wanted, client.enters, seconds)
        return entry, "" if is_right else f"is {'refused' if wanted else 'allowed'}"

    async def make(self, change: str) -> None:
        """As people do it: through the API, by whoever leads the project."""
        ada, place = self.world.http, f"/api/v1/allocations/{self.id}"
        members = f"/api/v1/projects/{self.world.ada.project_id}/members"
        pat, hal = f"{members}/{self.pat.id}", f"{members}/{self.hal.id}"
        match change:
            case "role lowered to member" | "role lowered to viewer":
                answer = await ada.put(pat, json={"role": change.rpartition(" ")[2]})
            case "removed from the project":
                answer = await ada.delete(pat)
            case "left the tenant":
                answer = await self.pat.http.delete(pat)
            case "grant revoked":
                answer = await ada.delete(f"{place}/access-grants/{self.grant_id}")
            case "grant expired":
                end = (datetime.now(UTC) + GRANT_ENDS_IN).isoformat()
                answer = await ada.patch(f"{place}/access-grants/{self.grant_id}", json={"expires_at": end})
            case "handed over":
                answer = await ada.post(f"{place}/handover", json={"user_id": self.hal.id})
            case "holder removed":
                answer = await ada.delete(hal)
            case "holder demoted":
                answer = await ada.put(hal, json={"role": "viewer"})
            case _:
                suspend = f"/api/v1/admin/users/{self.pat.id}/suspend"
                answer = await self.world.operator.http.post(suspend, json={"reason": "abuse"})
        answer.raise_for_status()


class Stage:
    """A served control plane and a real node; one cell after the other."""

    def __init__(self, world: World, url: str, folder: Path) -> None:
        self.world, self.url, self._folder = world, url, folder

    @asynccontextmanager
    async def cell(self, standing: Standing) -> AsyncIterator[Cell]:
        number, keys = next(_numbers), {name: Key() for name in ("pat", "desk", "hal")}
        people = {name: await self._person(f"{name}{number}", keys[name]) for name in ("pat", "hal")}
        pat, hal = people["pat"], people["hal"]
        roles = {"project": standing.project, "tenant": standing.tenant}
        await self.world.join(
            pat, self.world.ada, **{what: Role(role) if role else None for what, role in roles.items()}
        )
        await self.world.join(hal, self.world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
        holder = pat if standing.holds else hal
        id, environment = await self._allocation(holder)
        added = await pat.http.post("/api/v1/ssh-keys", json={"title": "desk", "public_key": line(keys["desk"])})
        added.raise_for_status()
        ssh = {name: self.ssh(f"{name}{number}", environment, keys[name]) for name in keys}
        grant_id = await self._furnish(standing, holder, pat, id)
        holders = ssh["pat" if standing.holds else "hal"]
        port = int(await holders.says(FURNISH.format(line=line(keys["desk"]), echo=ECHO)))
        inside = Inside(self.url, environment, port, await self._recorded(holder, id))
        async with self.http(pat.token) as http, AsyncExitStack() as stack:
            clients = {**inside.of_credential(http), **inside.of_key(ssh["pat"]), OWN_FILE: Shell(ssh["desk"])}
            for client in clients.values():
                stack.push_async_callback(client.close)
            try:
                yield Cell(self.world, standing, pat, hal, id, grant_id, inside, clients)
            finally:
                await self._release(id)

    def http(self, token: str) -> httpx.AsyncClient:
        """Over a real socket."""
        return httpx.AsyncClient(
            base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_SECONDS
        )

    def ssh(self, name: str, environment: Environment, key: Key) -> OpenSsh:
        return OpenSsh(self._new_folder(name), environment, key, "gpu")

    def _new_folder(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        return folder

    async def _person(self, name: str, key: Key) -> Person:
        return await self.world.sign_up(name, key=line(key))

    async def _allocation(self, holder: Person) -> tuple[str, Environment]:
        submitted = await self.world.submit(holder, project_id=self.world.ada.project_id)
        id = str(submitted.raise_for_status().json()["allocations"][0]["id"])

        async def is_up() -> bool:
            seen = await self.world.seen(id)
            assert seen["status"] != "failed", seen
            return bool(seen["status"] == "active")

        await eventually(is_up)
        where = (await self.world.seen(id))["connection"]
        running = EnvironmentState.RUNNING
        return id, Environment(allocation_id=id, state=running, boot=1, port=where["port"], host_key=where["host_key"])

    async def _furnish(self, standing: Standing, holder: Person, pat: Person, id: str) -> str:
        """Allow the own key file, grant if so, and wait until the node has it; the id of the grant."""
        place, grant_id = f"/api/v1/allocations/{id}", ""
        (await holder.http.put(f"{place}/own-keys", json={"allowed": True})).raise_for_status()
        if standing.granted:
            wish = {"user_id": pat.id, "ssh_key_id": pat.key_id}
            granted = await holder.http.post(f"{place}/access-grants", json=wish)
            grant_id = str(granted.raise_for_status().json()["id"])

        await self.installed(id)
        return grant_id

    async def installed(self, id: str) -> None:
        """Wait until the node has confirmed the current key set."""

        async def is_installed() -> bool:
            return bool((await self.world.http.get(f"/api/v1/allocations/{id}/ssh-keys")).json()["installed"])

        await eventually(is_installed)

    async def _recorded(self, holder: Person, id: str) -> str:
        async with browsing(self.world, self.url, id, holder, record=True) as browser:
            return str((await browser.session()).session_id)

    async def _release(self, id: str) -> None:
        (await self.world.release(id)).raise_for_status()

        async def is_released() -> bool:
            return (await self.world.get(id)).released_at is not None

        await eventually(is_released)


def line(key: Key) -> str:
    return f"{key.authorized.type} {key.authorized.blob}"


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    async with database() as dsn, serving(dsn, folder) as (world, url):
        await world.furnish()
        with place(0) as node:
            async with agent(world, url, node / "node-a", oci(node / "node-a", gpus=2, ports=PORTS)):
                yield Stage(world, url, folder)


assert set(REAL) <= set(ENTRIES)
