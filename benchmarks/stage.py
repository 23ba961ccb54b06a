"""What is measured runs on this: an embedded PostgreSQL with fsync on, a catalog, a person, a fleet of any size."""

import asyncio
import os
import random
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncpg
import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from benchmarks.harness import ROOT, CannotMeasureError
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import Database, DbRole, connect
from gpuaas.core.embedded import Embedded
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.migrate import migrate
from gpuaas.core.secrets import token_hash
from gpuaas.domain.access import store as access
from gpuaas.domain.access.keys import parse
from gpuaas.domain.identity import store as identity
from gpuaas.main import demo, up_file

SERVER_CORE, LOAD_CORE = "0", "1"
READY_SECONDS = 60.0
SKU = "sim-h200-slice"
PEERS = "peers"
TOKEN = "gps_" + "benchmark" * 4


@dataclass(frozen=True, kw_only=True)
class Stage:
    dsn: str
    folder: Path
    project_id: str
    user_id: str
    ssh_key_id: str
    token: str = TOKEN

    async def run_sql(self, sql: str, *args: object) -> None:
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.execute("set role gpuaas_worker")
            await connection.execute(sql, *args)
        finally:
            await connection.close()

    @property
    def peers_dsn(self) -> str:
        """A database of the peers' own on the same server: ours refuses to serve beside tables without a fence."""
        return self.dsn.replace("@/gpuaas", f"@/{PEERS}")

    async def run_for_peers(self, sql: str) -> None:
        await run_as_owner(self.peers_dsn, sql)

    async def value(self, sql: str, *args: object) -> object:
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.execute("set role gpuaas_worker")
            return await connection.fetchval(sql, *args)
        finally:
            await connection.close()


@asynccontextmanager
async def staged(folder: Path, *, nodes: int, slots: int = 8) -> AsyncIterator[Stage]:
    """A database of our own in `folder`, gone with the block."""
    postgres = Embedded(folder / "postgres")
    dsn = await postgres.start()
    try:
        await migrate(dsn)
        db = await connect(dsn, DbRole.WORKER, hints=Hints("bench"), size=2)
        try:
            stage = await _people(db, dsn, folder)
        finally:
            await db.close()
        await add_fleet(stage, nodes, slots)
        await run_as_owner(dsn, f"create database {PEERS}")
        yield stage
    finally:
        await postgres.stop()


async def _people(db: Database, dsn: str, folder: Path) -> Stage:
    clock = SystemClock()
    now, ids = clock.now(), Ids(clock)
    world = demo.Demo(db, ids, now)
    file = await world.ensure_people(up_file.people("http://127.0.0.1", demo=True), demo=True)
    await world.ensure_catalog()
    async with db.write() as tx:
        user = await identity.password_identity(tx, up_file.USER)
        if user is None or file.project_id is None:
            raise CannotMeasureError("the demo tenant could not be made")
        session = identity.NewSession(
            id=ids.new("session"),
            token_hash=token_hash(TOKEN),
            user_id=user.id,
            device="bench",
            address="127.0.0.1",
            created_at=now,
            expires_at=now + timedelta(days=1),
        )
        await identity.add_session(tx, session)
        key_id = ids.new("key")
        public = Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        await access.add(tx, key_id, user.id, title="bench", key=parse(public.decode()), token_id=None, now=now)
    return Stage(dsn=dsn, folder=folder, project_id=file.project_id, user_id=user.id, ssh_key_id=key_id)


async def add_fleet(stage: Stage, nodes: int, slots: int) -> None:
    """Nodes that are online and whose slots an operator has approved; two NUMA nodes each."""
    await stage.run_sql(ADD_NODES, nodes)
    await stage.run_sql(ADD_SLOTS, slots)
    await run_as_owner(stage.dsn, "analyze nodes, slots")


async def run_as_owner(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def empty_fleet(stage: Stage) -> None:
    """Every slot free again, for the next round; what was made stays, so that tables are as large as in life."""
    await stage.run_sql("update claims set released_at = clock_timestamp() where released_at is null")
    await stage.run_sql(
        "update allocations set status = 'released', cleanup_proven_at = clock_timestamp() where status <> 'released'"
    )


def free_port() -> int:
    """Below the ephemeral ports: one of the thousands of clients here could take any of those."""
    while True:
        port = random.randrange(11_000, 19_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def pinned(core: str, *command: str) -> list[str]:
    return ["taskset", "--cpu-list", core, *command]


@asynccontextmanager
async def process(
    command: list[str], log: Path, environ: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A child that ends with the block: asked first, then made to."""
    with log.open("ab") as out:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=ROOT,
            env={**os.environ, **(environ or {})},
        )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.terminate()
            try:
                await asyncio.wait_for(child.wait(), 10)
            except TimeoutError:
                child.kill()
                await child.wait()


@asynccontextmanager
async def server(
    stage: Stage, port: int, *arguments: str, environ: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`gpuaas server` on the server's core, ready."""
    command = [
        sys.executable,
        "-m",
        "gpuaas.main",
        "server",
        "--data",
        str(stage.folder / "server"),
        "--port",
        str(port),
    ]
    settings = {"GPUAAS_DSN": stage.dsn, "GPUAAS_LOG_LEVEL": "warning", **(environ or {})}
    log = stage.folder / "server.log"
    async with process(pinned(SERVER_CORE, *command, *arguments), log, settings) as child:
        await until_ready(f"http://127.0.0.1:{port}/readyz", child, log)
        yield child


async def until_ready(url: str, child: asyncio.subprocess.Process, log: Path) -> None:
    deadline = asyncio.get_running_loop().time() + READY_SECONDS
    async with httpx.AsyncClient(timeout=2, trust_env=False) as http:
        while True:
            try:
                if (await http.get(url)).is_success:
                    return
            except httpx.TransportError:
                pass
            if child.returncode is not None or asyncio.get_running_loop().time() > deadline:
                raise CannotMeasureError(f"{url} did not come up: {log.read_text(errors='replace')[-2000:]}")
            await asyncio.sleep(0.05)


ADD_NODES = """
    insert into nodes (id, name, region, intent, intent_since, engine, simulated, ssh_host, created_at, facts)
    select 'node_' || lpad(n::text, 8, '0'), 'bench-' || n, 'local', 'active', clock_timestamp(), 'fake', true,
        '127.0.0.1', clock_timestamp(), '{"vcpus": 256, "memory_mib": 1048576}'
    from generate_series(1, $1::int) as n on conflict do nothing
"""
ADD_SLOTS = """
    insert into slots (id, node_id, index, gpu_family, gpu_pci, gpu_uuid, fabric_vf, nvme, mac, address, numa, vcpus,
        memory_mib, approved_at, approved_by)
    select n.id || '_' || i, n.id, i, 'h200', 'pci-' || i, 'gpu-' || i, 'vf-' || i, 'nvme-' || i, 'mac-' || i,
        'address-' || i, i / 4, 1, 1024, clock_timestamp(), 'bench'
    from nodes n, generate_series(0, $1::int - 1) as i on conflict do nothing
"""
