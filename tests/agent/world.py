"""One enrolled node, its server and its engine: what most tests of the agent need."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpuaas.agent import identity, journal
from gpuaas.agent.identity import Identity, NodeFile
from gpuaas.agent.loop import run_agent
from gpuaas.core.points import NoPoints, Points
from gpuaas.core.secrets import MasterKey, TaskSigner
from gpuaas.engines.base import Engine
from gpuaas.wire.environments import AuthorizedKey, EnvironmentSpec, KeySet
from gpuaas.wire.link import Task, TaskBody
from gpuaas.wire.storage import Backend
from gpuaas.wire.tasks import ConformStorage, EnsureEnvironment, InstallKeys, RemoveEnvironment, TaskKind
from tests.agent.link_server import DEADLINE_SECONDS, NOON, LinkServer, eventually, serving
from tests.agent.stand_in import StandInEngine

NODE_ID = "node_test"
BOOT_ID = "boot-of-the-test-machine"
SIGNER = TaskSigner(MasterKey(b"m" * 32))


class ManualClock:
    """Time that moves only when told; the wall may be wrong, as a node's may."""

    def __init__(self, wall: datetime = NOON) -> None:
        self.wall, self.ticks = wall, 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.ticks


def soon(size: int) -> bytes:
    """Jitter of one part in sixty-four: a test waits no longer than it must."""
    return b"\x04" + bytes(size - 1)


def enrolled(folder: Path, server_url: str, key: Ed25519PrivateKey) -> Identity:
    """A folder as enrolment leaves it."""
    verifiers = (SIGNER.verifier,)
    node = NodeFile(node_id=NODE_ID, server_url=server_url, allow_plain_http=False, verifiers=verifiers)
    identity._write(folder / identity.KEY_FILE, base64.b64encode(key.private_bytes_raw()))
    journal.create(folder / journal.FILE, journal.Pinned(NODE_ID, verifiers))
    identity._write(folder / identity.NODE_FILE, msgspec.json.encode(node))
    return identity.load(folder)


class World:
    def __init__(self, folder: Path, server: LinkServer) -> None:
        self.folder, self.server = folder, server
        self.engine, self.clock, self.boot_id = StandInEngine(), ManualClock(), BOOT_ID

    async def run(
        self,
        stop: asyncio.Event,
        *,
        points: Points | None = None,
        engine: Engine | None = None,
        stop_environments: bool = False,
    ) -> None:
        async with asyncio.timeout(3 * DEADLINE_SECONDS):  # an agent that should have refused to start
            await run_agent(
                folder=self.folder,
                engine=engine or self.engine,
                clock=self.clock,
                points=points or NoPoints(),
                stop=stop,
                stop_environments=lambda: stop_environments,
                agent_version="1.2.3",
                randomness=soon,
                boot_id=self.boot_id,
            )

    @asynccontextmanager
    async def agent(self, engine: Engine | None = None) -> AsyncIterator[None]:
        """An agent that has its link, stopped politely at the end."""
        epoch, heard = self.server.epoch, len(self.server.heard)
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.run(stop, engine=engine))
            try:
                await self.server.linked_after(epoch)
                await eventually(lambda: len(self.server.heard) > heard)  # so the welcome was heard
                yield
            finally:
                stop.set()

    def journal(self) -> journal.Journal:
        """For looking at what an agent left; only while none runs."""
        return journal.Journal.open(self.folder / journal.FILE, NoPoints())


@asynccontextmanager
async def world_in(folder: Path) -> AsyncIterator[World]:
    key = Ed25519PrivateKey.generate()
    async with serving(key.public_key()) as server:
        enrolled(folder, server.url, key)
        yield World(folder, server)


def spec(allocation: str, *, boot: int = 1, generation: int = 1) -> EnvironmentSpec:
    key = AuthorizedKey(type="ssh-ed25519", blob="AAAA", fingerprint="SHA256:x", user_id="user_1")
    return EnvironmentSpec(
        allocation_id=allocation,
        boot=boot,
        hostname="box",
        username="ada",
        slots=(),
        vcpus=1,
        memory_mib=512,
        simulated=True,
        keys=KeySet(generation=generation, keys=(key,)),
    )


def body(
    id: str,
    kind: str,
    wants: msgspec.Struct | None,
    allocation: str | None,
    seq: int,
    *,
    node_id: str = NODE_ID,
    boot: int = 1,
    lane: str = "environment",
    expires_at: datetime = NOON + timedelta(minutes=1),
) -> bytes:
    return msgspec.msgpack.encode(
        TaskBody(
            id=id,
            node_id=node_id,
            allocation_id=allocation,
            lane=lane,
            seq=seq,
            boot=boot,
            kind=kind,
            wants=msgspec.Raw(msgspec.msgpack.encode(wants)),
            issued_at=NOON,
            expires_at=expires_at,
        )
    )


def ensure(id: str, allocation: str = "alloc_a", seq: int = 1, *, expires_at: datetime | None = None) -> Task:
    wants = EnsureEnvironment(spec=spec(allocation))
    until = expires_at or NOON + timedelta(minutes=1)
    return SIGNER.sign(body(id, TaskKind.ENSURE, wants, allocation, seq, expires_at=until))


def remove(id: str, allocation: str = "alloc_a", seq: int = 2) -> Task:
    return SIGNER.sign(body(id, TaskKind.REMOVE, RemoveEnvironment(), allocation, seq))


def install_keys(id: str, allocation: str = "alloc_a", seq: int = 2, *, boot: int = 1, generation: int = 2) -> Task:
    wants = InstallKeys(keys=KeySet(generation=generation))
    return SIGNER.sign(body(id, TaskKind.INSTALL_KEYS, wants, allocation, seq, boot=boot))


def conform(id: str, lane: str = "", seq: int = 1) -> Task:
    """Of the node as a whole."""
    wants = ConformStorage(backend=Backend.SHARED)
    return SIGNER.sign(body(id, TaskKind.STORAGE_CONFORMANCE, wants, None, seq, lane=lane or f"conformance:{id}"))
