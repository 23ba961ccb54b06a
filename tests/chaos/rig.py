"""Two replicas behind one address, a real PostgreSQL with a standby, and nodes: all of them processes that may die."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg
import httpx

from gpuaas.agent import identity
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.migrate import migrate
from gpuaas.core.points import NoPoints
from gpuaas.main import up_file
from gpuaas.main.demo import Demo
from tests.chaos.balancer import Balancer
from tests.chaos.figures import Evidence
from tests.chaos.load import Load
from tests.chaos.node import GPUS, KeptEngine, environments_of, removed_of
from tests.clusters import Pair, pair
from tests.e2e.stack import free_port
from tests.world import KEY, NO_DEFAULT_QUOTAS

ROOT = Path(__file__).parents[2]
REPLICAS, NODES = 2, 2
CLIENTS = 10
READY_SECONDS, SETTLE_SECONDS = 60.0, 120.0
UNSETTLED = """
    select 'operation ' || id || ' ' || kind from operations where status = 'running'
    union all select 'task ' || id || ' ' || kind from node_tasks where status in ('queued', 'sent')
    union all select 'node ' || id || ' is offline' from nodes where offline_since is not null
"""


class Program:
    """A process that is started again when it ends, as by any supervisor."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environ: dict[str, str]) -> None:
        self.name, self._command, self._log, self.environ = name, command, log, environ
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.deaths = 0
        self._asked = 0

    async def start(self) -> None:
        await self._spawn()
        self._keeper = asyncio.create_task(self._keep())

    async def _spawn(self) -> None:
        with self._log.open("ab") as out:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=ROOT,
                env={**os.environ, **self.environ},
            )

    async def _keep(self) -> None:
        while True:
            assert self._process is not None
            await self._process.wait()
            self.deaths += 1
            await asyncio.sleep(0.2)
            await self._spawn()

    @property
    def ended_unasked(self) -> int:
        return self.deaths - self._asked

    def kill(self) -> None:
        """As a crash does: nothing is said, nothing is finished."""
        if self._process is not None and self._process.returncode is None:
            self._asked += 1
            self._process.kill()

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._process is not None:
                self._process.send_signal(number)

    async def stop(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def tail(self) -> str:
        return f"--- {self.name}\n{self._log.read_text(errors='replace')[-1500:]}" if self._log.exists() else ""


class Rig:
    def __init__(self, folder: Path, servers: Pair, clients: int) -> None:
        self.folder, self.servers, self.clients = folder, servers, clients
        self._ports = [free_port() for _ in range(REPLICAS)]
        self.balancer = Balancer(self._ports)
        self.replicas: list[Program] = []
        self.agents: list[Program] = []
        self.load: Load | None = None
        self.pace = 1.0  # less: a shorter sample of the same

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.balancer.port}"

    @property
    def replica_urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self._ports]

    @property
    def programs(self) -> list[Program]:
        return [*self.replicas, *self.agents]

    async def rest(self, seconds: float) -> None:
        """While clients go on working."""
        await asyncio.sleep(seconds * self.pace)

    def node_folder(self, number: int) -> Path:
        return self.folder / f"node-{number}"

    async def open(self, seed: int) -> None:
        await self.balancer.start()
        await migrate(self.servers.dsn)
        (self.folder / "shared").mkdir()
        (self.folder / "server").mkdir()
        await self._start_replica(0)
        await self.eventually(self._is_ready)  # the first makes the master key that both use
        await self._start_replica(1)
        await self.eventually(self._is_ready)
        await self._furnish(seed)

    async def _start_replica(self, number: int) -> None:
        port = self._ports[number]
        environ = {
            "GPUAAS_DSN": self.servers.dsn,
            "GPUAAS_URL": self.url,
            "GPUAAS_ADVERTISE_URL": f"http://127.0.0.1:{port}",
            "GPUAAS_LOG_LEVEL": "warning",
            "GPUAAS_MIN_FREE_MIB": "1",
        }
        command = [sys.executable, "-m", "gpuaas.main", "server", "--data", str(self.folder / "server")]
        log = self.folder / f"replica-{number}.log"
        program = Program(f"replica {number}", [*command, "--port", str(port)], log, environ)
        self.replicas.append(program)
        await program.start()

    async def _furnish(self, seed: int) -> None:
        db = await connect(self.servers.dsn, DbRole.WORKER, hints=Hints("rig"), size=1)
        try:
            async with self.database() as database:
                await database.execute(NO_DEFAULT_QUOTAS)
            world = Demo(db, Ids(SystemClock()), SystemClock().now())
            people = await world.ensure_people(up_file.people(self.url, demo=True), demo=True)
            await world.ensure_catalog()
            user, operator = people.users[0], people.users[-1]
            async with httpx.AsyncClient(base_url=f"{self.url}/api/v1", timeout=20) as http:
                tokens = [await log_in(http, each.email, each.password) for each in (user, operator)]
                for number in range(NODES):
                    await self._enrol(http, tokens[1], number, world)
                await self._start_load(http, tokens[0], seed)
        finally:
            await db.close()

    async def _enrol(self, http: httpx.AsyncClient, operator: str, number: int, world: Demo) -> None:
        folder, headers = self.node_folder(number), {"Authorization": f"Bearer {operator}"}
        folder.mkdir()
        asked = {"node_name": f"node-{number}"}
        issued = (await http.post("/admin/enrolment-tokens", json=asked, headers=headers)).raise_for_status().json()
        facts = await KeptEngine(folder, self.folder / "shared").probe()
        await identity.enrol(self.url, issued["token"], folder, facts, agent_version="1", points=NoPoints())
        await world.approve_slots(identity.load(folder).node_id, GPUS)
        command = [sys.executable, "-m", "tests.chaos.node", str(folder), str(self.folder / "shared")]
        program = Program(f"agent {number}", command, self.folder / f"agent-{number}.log", {})
        self.agents.append(program)
        await program.start()

    async def _start_load(self, http: httpx.AsyncClient, token: str, seed: int) -> None:
        headers = {"Authorization": f"Bearer {token}", "X-Idempotency-Key": "first"}
        me = (await http.get("/me", headers=headers)).raise_for_status().json()
        key = await http.post("/ssh-keys", json={"title": "laptop", "public_key": KEY}, headers=headers)
        project = me["projects"][0]["id"]
        # One for each client, because a volume has one writer.
        volumes = [await self._volume(http, project, headers, number) for number in range(self.clients)]
        key_id = key.raise_for_status().json()["id"]
        self.load = Load(self.url, token, project=project, key_id=key_id, volumes=volumes, seed=seed)

    async def _volume(self, http: httpx.AsyncClient, project: str, headers: dict[str, str], number: int) -> str:
        """When a node with this storage is there."""
        made: dict[str, str] = {}

        async def refusal() -> str:
            wanted = {"name": f"data-{number}", "size_gib": 1}
            asked = {**headers, "X-Idempotency-Key": f"data-{number}"}
            answer = await http.post(f"/projects/{project}/volumes", json=wanted, headers=asked)
            made.update(answer.json())
            return "" if answer.is_success else answer.text

        await self.eventually(refusal)
        return made["id"]

    async def _is_ready(self) -> str:
        async with httpx.AsyncClient(timeout=3) as http:
            for port in self._ports[: len(self.replicas)]:
                try:
                    answer = await http.get(f"http://127.0.0.1:{port}/readyz")
                except httpx.TransportError as error:
                    return repr(error)
                if not answer.is_success:
                    return answer.text
        return ""

    async def _is_settled(self) -> str:
        if unready := await self._is_ready():
            return unready
        async with self.database() as database:
            found = [row[0] for row in await database.fetch(UNSETTLED)]
        return ", ".join(found[:8])

    async def settle(self) -> str:
        """Everything that was begun has ended; what still has not when time is up."""
        return await self.until(self._is_settled, SETTLE_SECONDS)

    async def eventually(self, missing: Callable[[], Awaitable[str]]) -> None:
        if found := await self.until(missing, READY_SECONDS):
            raise AssertionError("\n".join([found, *(program.tail() for program in self.programs)]))

    async def until(self, missing: Callable[[], Awaitable[str]], seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while True:
            try:
                found = await missing()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
                found = repr(error)
            if not found or time.monotonic() > deadline:
                return found
            await asyncio.sleep(0.2)

    @asynccontextmanager
    async def database(self) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        """As its superuser, past every fence."""
        connection = await asyncpg.connect(self.servers.admin_dsn, timeout=10)
        try:
            yield connection
        finally:
            await connection.close()

    def evidence(self) -> list[Evidence]:
        folders = [self.node_folder(number) for number in range(NODES)]
        return [Evidence(environments_of(folder), removed_of(folder)) for folder in folders]

    async def close(self) -> None:
        if self.load is not None:
            await self.load.close()
        for program in self.programs:
            program.thaw()
            await program.stop()
        await self.balancer.stop()


async def log_in(http: httpx.AsyncClient, email: str, password: str) -> str:
    answer = await http.post("/auth/personal/login", json={"email": email, "password": password})
    return str(answer.raise_for_status().json()["access_token"])


@asynccontextmanager
async def rig(seed: int = 1, clients: int = CLIENTS) -> AsyncIterator[Rig]:
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-chaos-"))
    try:
        with pair() as servers:
            made = Rig(folder, servers, clients)
            try:
                await made.open(seed)
                yield made
            finally:
                await made.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
