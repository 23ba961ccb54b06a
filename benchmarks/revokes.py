"""T18: from a revoke to the refusal of a new login, and to the end of an open connection: `gpuaas up`, SDK, SSH.

The floor of the same run is the bare engine, which gets the same key set without any control plane. Both times are
measured in turns: repeated logins take a whole core, and would slow down the cut.
"""

import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import asyncssh

from benchmarks.create_to_ssh import connection_of, up
from benchmarks.harness import CannotMeasureError, Run, percentile
from benchmarks.stage import SKU
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.main.up_file import UpFile
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.allocations import Allocation, SshConnection
from gpuaas.wire.environments import AuthorizedKey, EnvironmentSpec, KeySet
from gpuaas.wire.identity import Role
from tests.images.real import real_image

BLOCK = 10
BARE_PORTS = range(29_900, 29_910)
BARE = "bare"


CUT_LIMIT_MS, REFUSED_LIMIT_MS = 50, 1000


@dataclass(frozen=True)
class Times:
    """Milliseconds from the moment the revoke was sent."""

    answered: list[float] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


class Lost(asyncssh.SSHClient):
    def __init__(self) -> None:
        self.at: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is AsyncSSH's
        self.at.set_result(time.perf_counter())


@dataclass(frozen=True)
class Guest:
    """Somebody else, with a key of their own and a door to knock at."""

    key: asyncssh.SSHKey
    host: str
    port: int
    username: str

    async def enter(self) -> tuple[asyncssh.SSHClientConnection, Lost]:
        lost = Lost()
        connection, _ = await asyncssh.create_connection(
            lambda: lost,
            self.host,
            self.port,
            username=self.username,
            client_keys=[self.key],
            known_hosts=None,
            config=None,
            agent_path=None,
        )
        return connection, lost

    async def refused(self) -> float:
        """When a login was first turned away, trying again and again."""
        while True:
            try:
                connection, _ = await self.enter()
            except (asyncssh.Error, OSError):
                return time.perf_counter()
            connection.abort()


async def run(run: Run) -> None:
    revokes = run.options.pick(500, 20)
    times = Times()
    async with up(run.scratch / "up") as file, contextlib.AsyncExitStack() as stack:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
            other = (await stranger.auth.sign_up("guest@example.com", "a long enough password")).access_token
        holder = await stack.enter_async_context(AsyncClient(file.url, token))
        guest = await stack.enter_async_context(AsyncClient(file.url, other))
        key, theirs = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
        machine = await shared_machine(holder, file, key)
        invited = await holder.members.invite(machine.project_id, "guest@example.com", role=Role.MEMBER)
        await guest.invitations.accept(invited.link)
        key_id = (await guest.ssh_keys.add("guest", theirs.export_public_key().decode().strip())).id
        user_id = (await guest.auth.me()).user.id
        door: SshConnection = connection_of(machine)
        visitor = Guest(theirs, door.host, door.port, door.username)
        floor = await stack.enter_async_context(bare_engine(run.scratch / "engine"))
        share = Share(holder, machine.id, user_id, key_id, visitor)
        for _ in range(-(-revokes // BLOCK)):
            for _ in range(BLOCK):
                await share.measure_cut(times)
            for _ in range(BLOCK):
                await share.measure_refusal(times)
            for _ in range(BLOCK):
                times.bare.append(await set_keys(floor, len(times.bare) + 1) * 1000)
    report(run, times)


async def shared_machine(holder: AsyncClient, file: UpFile, key: asyncssh.SSHKey) -> Allocation:
    project = file.project_id or ""
    mine = await holder.ssh_keys.add("bench", key.export_public_key().decode().strip())
    made = await holder.allocations.create(SKU, [mine.id], project_id=project, name="shared")
    return await holder.allocations.wait(made.allocations[0].id, timeout=30)


@dataclass(frozen=True)
class Share:
    """An allocation that its holder shares with a visitor, again and again."""

    holder: AsyncClient
    allocation_id: str
    user_id: str
    key_id: str
    visitor: Guest

    async def measure_cut(self, times: Times) -> None:
        grant_id = await self._grant()
        _, lost = await self.visitor.enter()
        began = await self._revoke(grant_id, times)
        async with asyncio.timeout(30):
            times.cut.append((await lost.at - began) * 1000)

    async def measure_refusal(self, times: Times) -> None:
        grant_id = await self._grant()
        refusal = asyncio.create_task(self.visitor.refused())
        began = await self._revoke(grant_id, times)
        async with asyncio.timeout(30):
            times.refused.append((await refusal - began) * 1000)

    async def _grant(self) -> str:
        """Its id, once the key is installed."""
        grant = await self.holder.access_grants.create(self.allocation_id, self.user_id, ssh_key_id=self.key_id)
        deadline = time.perf_counter() + 10
        while not (await self.holder.allocations.ssh_keys(self.allocation_id)).installed:
            if time.perf_counter() > deadline:
                raise CannotMeasureError("a grant did not reach its allocation")
            await asyncio.sleep(0.01)
        return grant.id

    async def _revoke(self, grant_id: str, times: Times) -> float:
        """When it was sent."""
        began = time.perf_counter()
        await self.holder.access_grants.revoke(self.allocation_id, grant_id)
        times.answered.append((time.perf_counter() - began) * 1000)
        return began


@contextlib.asynccontextmanager
async def bare_engine(folder: Path) -> AsyncIterator[OciEngine]:
    engine = OciEngine(
        folder,
        clock=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
        ports=BARE_PORTS,
        images_folder=real_image().root.parents[1],
    )
    await engine.start()
    try:
        yield engine
    finally:
        await engine.remove(BARE, ignore)
        await engine.close(stop_environments=True)


async def ignore(phase: str, note: str) -> None:
    """Nobody asks how far it has come."""


async def set_keys(engine: OciEngine, number: int) -> float:
    """Seconds from a key set without them to the end of somebody's session."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    type, blob = key.export_public_key().decode().split()[:2]
    mine = AuthorizedKey(type=type, blob=blob, fingerprint=key.get_fingerprint(), user_id="guest")
    spec = EnvironmentSpec(
        allocation_id=BARE,
        boot=1,
        hostname=BARE,
        username="gpu",
        slots=(),
        vcpus=1,
        memory_mib=512,
        simulated=True,
        keys=KeySet(generation=2 * number, keys=(mine,)),
    )
    made = await engine.ensure(spec, ignore)
    _, lost = await Guest(key, "127.0.0.1", made.port or 0, "gpu").enter()
    began = time.perf_counter()
    await engine.set_keys(BARE, KeySet(generation=2 * number + 1))
    async with asyncio.timeout(30):
        return await lost.at - began


def report(run: Run, times: Times) -> None:
    run.keep("T18 answered ms", times.answered)
    run.keep("T18 cut ms", times.cut)
    run.keep("T18 refused ms", times.refused)
    run.keep("T18 bare set_keys to cut ms", times.bare)
    for words, values, limit in (
        ("live connection closed", times.cut, CUT_LIMIT_MS),
        ("new login refused", times.refused, REFUSED_LIMIT_MS),
    ):
        p99 = percentile(values, 0.99)
        run.row(f"T18 revoke → {words}, p50 of {len(values)}", f"{statistics.median(values):.0f} ms")
        run.row(f"T18 revoke → {words}, p99", f"{p99:.0f} ms", f"≤ {limit} ms", met=p99 <= limit)
    run.row("T18 revoke → answer, p50", f"{statistics.median(times.answered):.0f} ms")
    floor = statistics.median(times.bare)
    run.row("T18 bare engine: key set → connection closed, p50", f"{floor:.1f} ms")
    run.row("T18 revoke → closed, to the bare engine", f"{statistics.median(times.cut) / floor:.1f} x")
