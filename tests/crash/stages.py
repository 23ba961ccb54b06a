"""A control plane, a node and a person on it: real processes, a real database, a real key."""

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import asyncssh
import httpx

from gpuaas.agent import identity
from gpuaas.agent.link import STEADY_SECONDS
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.migrate import migrate
from gpuaas.main import up_file
from gpuaas.main.agent import enrol_node, oci
from gpuaas.main.demo import Demo
from gpuaas.main.up_file import UpUser
from tests.crash.machines import Expected, Machine
from tests.crash.mortals import Mortal, Ward, until
from tests.engines.sweeping import sweep
from tests.footprints import Footprint, Ground
from tests.patience import PATIENCE_SECONDS
from tests.postgres import drop_database, fresh_database, template_database

SLOTS = 2
ANSWER_SECONDS = PATIENCE_SECONDS
SETTLE_SECONDS = PATIENCE_SECONDS
STEADY = STEADY_SECONDS + 0.2
# The first may still run; of the others, the node may not have redialled yet.
TRY_AGAIN = ("request_in_progress", "sku_unavailable", "resize_unavailable")
FIRST_PORT, WORKERS, STAGES_PER_WORKER, PORTS_PER_STAGE = 30_000, 8, 32, 10
SKU = "sim-h200-slice"
KEPT = """
    select id from volumes where status = 'available' union all select id from volume_snapshots where status = 'ready'
"""
_stages = itertools.count()


class Broken(AssertionError):
    """What was asked cannot come about any more."""


class Stage:
    """Made by `stage()`; `server`, `agent` and `gateway` may die at any moment and are started again."""

    def __init__(self, folder: Path, dsn: str, *, port: int, ports: range) -> None:
        self.folder, self.dsn, self.ports, self.url = folder, dsn, ports, f"http://127.0.0.1:{port}"
        self.ids, self.key = Ids(SystemClock()), asyncssh.generate_private_key("ssh-ed25519")
        self.agent_folder, self.storage, self.wheels = folder / "agent", folder / "storage", folder / "wheels"
        self.server = Mortal(
            "server",
            ["server", "--data", str(folder / "server"), "--port", str(port)],
            folder,
            {"GPUAAS_DSN": dsn, "GPUAAS_LOG_LEVEL": "warning"},
        )
        self.gateway = Ward("gateway", folder, self.agent_folder / "oci" / "gateway.log")
        self.agent = Mortal(
            "agent",
            [
                *("agent", "--folder", str(self.agent_folder), "--gpus", str(SLOTS)),
                *("--ports", f"{ports[0]}-{ports[-1]}", "--stop-environments"),
                *("--shared-storage", str(self.storage)),
            ],
            folder,
            {
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.wheels),
                "GPUAAS_GATEWAY_POINTS": self.gateway.variable,
            },
        )
        self.machine = Machine(self.agent_folder, self.storage, ports=ports)
        self.ground = Ground(self.machine.site, ports)
        self.untouched: Footprint | None = None  # as it was before the first verb
        self.http = httpx.AsyncClient(base_url=self.url, timeout=PATIENCE_SECONDS)
        self.key_id, self._token = "", ""
        self.operator = ""  # a token that may do what operators do
        self.idle: dict[str, set[str]] = {}  # the points that each process passes while nothing is asked of it

    @property
    def mortals(self) -> dict[str, Mortal | Ward]:
        return {"server": self.server, "agent": self.agent, "gateway": self.gateway}

    # Setting up and tearing down

    async def open(self) -> None:
        clock = SystemClock()
        db = await connect(self.dsn, DbRole.WORKER, hints=Hints("stage"), size=1)
        try:
            world = Demo(db, self.ids, clock.now())
            people = await world.ensure_people(up_file.people(self.url, demo=True), demo=True)
            await world.ensure_catalog()
            await self.server.start()
            await self.reach(lambda: self.unready(links=0))
            engine = oci(self.agent_folder, gpus=SLOTS)
            await enrol_node(self.agent_folder, engine, self.url, await world.enrolment_token())
            await world.approve_slots(identity.load(self.agent_folder).node_id, SLOTS)
        finally:
            await db.close()
        await self.agent.start()
        await self.reach(self.unready)
        self._token, self.operator = [await self._log_in(user) for user in people.users]
        public = self.key.export_public_key().decode()
        self.key_id = (await self.post("/ssh-keys", {"title": "laptop", "public_key": public}, key="laptop"))["id"]

    async def _log_in(self, user: UpUser) -> str:
        credentials = {"email": user.email, "password": user.password}
        answer = await self.http.post("/api/v1/auth/personal/login", json=credentials)
        return str(answer.raise_for_status().json()["access_token"])

    async def unready(self, links: int = 1) -> str:
        """Why nobody can be served: no server, or no node on it."""
        try:
            answer = await self.http.get("/readyz")
        except httpx.TransportError as error:
            return repr(error)
        return "" if answer.is_success and answer.json()["links"] >= links else answer.text

    async def close(self) -> None:
        await self.http.aclose()
        await self.agent.stop()
        await self.server.stop()

    def tail(self) -> str:
        """The last lines of each log, for whoever reads of a failure."""
        lines = {name: mortal.said for name, mortal in self.mortals.items()}
        return "\n".join(f"--- {name}\n{text[-3000:]}" for name, text in lines.items())

    # What a person does

    async def post(self, path: str, body: dict[str, object], *, key: str, method: str = "POST", token: str = "") -> Any:
        """As a careful client: the same request with the same key until it is answered."""
        headers = {"Authorization": f"Bearer {token or self._token}", "X-Idempotency-Key": key}
        answer: httpx.Response | None = None

        async def ask() -> str:
            nonlocal answer
            try:
                content = None if method == "DELETE" else body
                answer = await self.http.request(method, f"/api/v1{path}", json=content, headers=headers)
            except httpx.TransportError as error:
                return repr(error)
            return answer.text if answer.content and answer.json().get("code") in TRY_AGAIN else ""

        missing = await until(ask, ANSWER_SECONDS)
        if missing or answer is None or not answer.is_success:
            raise Broken(
                f"{method} {path} was answered {answer and answer.status_code}: {answer and answer.text} {missing}"
            )
        return answer.json() if answer.content else None

    async def create(self, key: str) -> str:
        """The id of the machine that this key stands for."""
        answer = await self.post("/allocations", {"sku": SKU, "ssh_key_ids": [self.key_id]}, key=key)
        return str(answer["allocations"][0]["id"])

    async def release(self, allocation_id: str, key: str) -> None:
        await self.post(f"/allocations/{allocation_id}/release", {"reason": "no longer needed"}, key=key)

    async def change(self, allocation_id: str, verb: str, body: dict[str, object], key: str) -> None:
        await self.post(f"/allocations/{allocation_id}/{verb}", body, key=key)

    async def enter(self, allocation_id: str, key: asyncssh.SSHKey | None = None) -> asyncssh.SSHClientConnection:
        """By SSH with the real key and the known host key; raises one of UNREACHED if refused."""
        row = await self.row(allocation_id)
        return await asyncssh.connect(
            "127.0.0.1",
            row["port"],
            username=row["username"],
            client_keys=[key or self.key],
            known_hosts=asyncssh.import_known_hosts(f"[127.0.0.1]:{row['port']} {row['host_key']}\n"),
            config=None,
            agent_path=None,
        )

    async def says(self, allocation_id: str, command: str, key: asyncssh.SSHKey | None = None) -> str:
        """What a command prints inside."""
        async with asyncio.timeout(PATIENCE_SECONDS), await self.enter(allocation_id, key) as connection:
            done = await connection.run(command, check=True)
        if done.exit_status is None:
            raise ConnectionResetError("the connection ended before the command did")
        return str(done.stdout).strip()

    async def reach(self, check: Callable[[], Awaitable[str]], seconds: float = SETTLE_SECONDS) -> None:
        """Where nobody dies, everything comes to its end."""
        if missing := await until(check, seconds):
            raise Broken(f"{missing}\n{self.tail()}")

    # What is

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        """To the database, past every fence."""
        connection = await asyncpg.connect(self.dsn)
        try:
            yield connection
        finally:
            await connection.close()

    async def query(self, sql: str, *values: object) -> list[asyncpg.Record]:
        async with self.connected() as connection:
            return list(await connection.fetch(sql, *values))

    async def row(self, allocation_id: str) -> asyncpg.Record:
        (row,) = await self.query("select * from allocations where id = $1", allocation_id)
        return row

    async def unsteady(self) -> str:
        """A link just opened is redialled with less hope than one that was good; those who lose one mostly had that."""
        young = await self.query("select from links where since > clock_timestamp() - $1 * interval '1 s'", STEADY)
        return "the link is young" if young else ""

    async def expected(self) -> Expected:
        rows = await self.query("select id, port from allocations where status = 'active'")
        kept = await self.query(KEPT)
        return Expected({row["id"]: row["port"] for row in rows}, frozenset(row["id"] for row in kept))


def ports_of_stage() -> range:
    """Of each worker and each stage its own, below those that the kernel gives to whoever connects."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    first = FIRST_PORT + PORTS_PER_STAGE * (worker * STAGES_PER_WORKER + next(_stages) % STAGES_PER_WORKER)
    return range(first, first + PORTS_PER_STAGE)


@asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    """Nothing of it is left afterwards, whatever happened on it."""
    folder = Path(tempfile.mkdtemp(prefix="gpuaas-crash-"))
    folder.chmod(0o711)
    dsn = await fresh_database(template=await template_database("crash", migrate))
    port, *ports = ports_of_stage()
    made = Stage(folder, dsn, port=port, ports=range(ports[0], ports[-1] + 1))
    try:
        try:
            await made.open()
            yield made
        finally:
            await made.close()
    finally:
        await drop_database(dsn)
        await asyncio.to_thread(sweep, folder)
        shutil.rmtree(folder)
