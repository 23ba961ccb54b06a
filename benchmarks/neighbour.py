"""S19, T26: one allocation takes all it can get of each resource while another one's shell and the API are measured.

`gpuaas up`, the SDK and OpenSSH. The idle figures are taken while the noisy allocation keeps its CPUs busy, because a
tenant may use the CPUs that it pays for."""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.create_to_ssh import connection_of, up
from benchmarks.harness import CannotMeasureError, Run, percentile
from benchmarks.stage import SKU
from gpuaas.main.up_file import UpFile
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.environments import Environment, EnvironmentState
from tests.attacks.inside import noise
from tests.engines.benches import Key
from tests.engines.openssh import OpenSsh

IDLE = "processors"
ECHO_LIMIT_MS, API_FACTOR = 50.0, 3.0
PAUSE_SECONDS = 0.02
DISK_MIB = 256
WRITE = (
    f"dd if=/dev/zero of=/var/tmp/measured bs=1M count={DISK_MIB} oflag=direct 2>&1 | tail -n 1; rm /var/tmp/measured"
)


@dataclass
class Seen:
    """Milliseconds of each echo and each request while one kind of noise was made."""

    echoes: list[float] = field(default_factory=list)
    requests: list[float] = field(default_factory=list)


class Pair:
    """The noisy allocation and the one beside it."""

    def __init__(self, client: AsyncClient, noisy: OpenSsh, beside: OpenSsh, beside_id: str) -> None:
        self._client, self.noisy, self.beside, self._id = client, noisy, beside, beside_id

    @classmethod
    async def make(cls, client: AsyncClient, file: UpFile, folder: Path) -> "Pair":
        key = Key()
        public = f"{key.authorized.type} {key.authorized.blob}"
        added = await client.ssh_keys.add("neighbour", public)
        found: list[tuple[Allocation, OpenSsh]] = []
        for name in ("noisy", "beside"):
            made = await client.allocations.create(SKU, [added.id], project_id=file.project_id or "", name=name)
            allocation = await client.allocations.wait(made.allocations[0].id, timeout=60)
            found.append((allocation, openssh(folder, allocation, key)))
        return cls(client, found[0][1], found[1][1], found[1][0].id)

    async def boot(self) -> int:
        return (await self._client.allocations.get(self._id)).boot

    async def watch(self, kind: str, seconds: float) -> Seen:
        seen = Seen()
        shell = await self.beside.spawn("ssh", *self.beside.options(), self.beside.target, "bash -s")
        await echo(shell)  # the login is no echo
        work = asyncio.create_task(noise.make_noise(self.noisy, kind, seconds))
        try:
            while not work.done():
                seen.echoes.append(await echo(shell))
                began = time.perf_counter()
                await self._client.allocations.get(self._id)
                seen.requests.append((time.perf_counter() - began) * 1000)
                await asyncio.sleep(PAUSE_SECONDS)
            await work
        finally:
            shell.kill()
            await shell.communicate()
        return seen


def openssh(folder: Path, allocation: Allocation, key: Key) -> OpenSsh:
    door = connection_of(allocation)
    state = EnvironmentState.RUNNING
    reached = Environment(allocation_id=allocation.id, state=state, boot=1, port=door.port, host_key=door.host_key)
    return OpenSsh(folder, reached, key, door.username)


async def echo(shell: asyncio.subprocess.Process) -> float:
    if shell.stdin is None or shell.stdout is None:
        raise CannotMeasureError("the shell has no streams")
    began = time.perf_counter()
    shell.stdin.write(b"echo\n")
    if await shell.stdout.readline() != b"\n":
        raise CannotMeasureError("the neighbour lost its shell")
    return (time.perf_counter() - began) * 1000


async def run(run: Run) -> None:
    seconds = run.options.pick(20, 3)
    async with up(run.scratch / "up") as file:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        async with AsyncClient(file.url, token) as client:
            pair = await Pair.make(client, file, run.scratch)
            boot = await pair.boot()
            run.row("S19 direct writes of one allocation, alone", await pair.beside.says(WRITE))
            idle = await pair.watch(IDLE, seconds)
            report(run, "idle, neighbour's CPUs busy", idle, None)
            for kind in noise.KINDS:
                if kind != IDLE:
                    report(run, kind, await pair.watch(kind, seconds), idle)
            await measure_disk(run, pair, seconds)
            restarts = await pair.boot() - boot
            run.row("T26 restarts of the neighbour", str(restarts), "0", met=restarts == 0)


async def measure_disk(run: Run, pair: Pair, seconds: int) -> None:
    """Nothing limits the bandwidth of a disk here; the figure shows what a neighbour is left with."""
    work = asyncio.create_task(noise.make_noise(pair.noisy, "disk", seconds))
    await asyncio.sleep(1)
    run.row("S19 direct writes of one allocation, while another writes", await pair.beside.says(WRITE))
    await work


def report(run: Run, kind: str, seen: Seen, idle: Seen | None) -> None:
    run.keep(f"S19 echo ms, {kind}", seen.echoes)
    run.keep(f"S19 request ms, {kind}", seen.requests)
    echo_ms, request_ms = percentile(seen.echoes, 0.99), percentile(seen.requests, 0.99)
    is_quick = echo_ms <= ECHO_LIMIT_MS
    run.row(
        f"S19 {kind}: echo p99", f"{echo_ms:.1f} ms of {len(seen.echoes)}", f"≤ {ECHO_LIMIT_MS:.0f} ms", met=is_quick
    )
    if idle is None:
        run.row(f"S19 {kind}: request p99", f"{request_ms:.1f} ms")
        return
    limit = API_FACTOR * percentile(idle.requests, 0.99)
    run.row(f"S19 {kind}: request p99", f"{request_ms:.1f} ms", f"≤ {limit:.0f} ms", met=request_ms <= limit)
