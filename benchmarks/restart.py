"""S14: a restart asked of a live `gpuaas up` until a first command has run over SSH; the floor of the same run is the
bare engine's `ensure` at the next boot, driven in this process with nothing above it."""

import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from benchmarks.create_to_ssh import Person, up
from benchmarks.harness import CannotMeasureError, Run, interleave, percentile
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.sdk.client import AsyncClient
from gpuaas.wire.environments import EnvironmentSpec, KeySet
from tests.images.real import real_image

ROUNDS = 20
LXD_MS = 765.0  # `lxc restart -f`, measured elsewhere: an anchor, not a peer of this run


async def run(run: Run) -> None:
    rounds = run.options.pick(ROUNDS, 3)
    async with up(run.scratch / "up") as file, bare(run.scratch / "bare") as engine:
        async with AsyncClient(file.url) as stranger:
            token = (await stranger.auth.login(file.users[0].email, file.users[0].password)).access_token
        async with AsyncClient(file.url, token) as client:
            person = await Person.with_key(client, file, run.scratch)
            machine = await person.active("restarts")

            async def ours(_round: int) -> float:
                began = time.perf_counter()
                await client.allocations.restart(machine.id)
                back = await client.allocations.wait(machine.id, timeout=30)
                if back.connection is None:
                    raise CannotMeasureError(f"the machine is {back.status}")
                await person.enter(back.connection)
                return (time.perf_counter() - began) * 1000

            got, floor = await interleave(rounds, ours, engine.restart)
    run.keep("S14 restart ms", got)
    run.keep("S14 bare engine ms", floor)
    ratios = [mine / bare for mine, bare in zip(got, floor, strict=True)]
    p50 = statistics.median(got)
    middle = statistics.median(ratios)
    run.row(f"S14 restart → first command, p50 of {len(got)}", f"{p50:.0f} ms  p99 {percentile(got, 0.99):.0f} ms")
    run.row("S14 bare engine: `ensure` of the next boot, p50", f"{statistics.median(floor):.0f} ms")
    run.row("S14 restart to the bare engine", f"{middle:.2f} x (worst {max(ratios):.2f})", "≤ 2 x", met=middle <= 2)
    limit = 1.3 * LXD_MS
    run.row("S14 restart to `lxc restart -f` (anchor figure)", f"{p50 / LXD_MS:.2f} x", "≤ 1.3 x", met=p50 <= limit)


class Bare:
    """One environment of an engine that nobody else drives."""

    def __init__(self, engine: OciEngine) -> None:
        self._engine = engine
        self._spec = EnvironmentSpec(
            allocation_id="alloc_bare",
            boot=1,
            hostname="bare",
            username="gpu",
            slots=(),
            vcpus=1,
            memory_mib=1024,
            simulated=True,
            keys=KeySet(generation=1),
        )

    async def restart(self, _round: int = 0) -> float:
        began = time.perf_counter()
        self._spec = replace(self._spec, boot=self._spec.boot + 1)
        made = await self._engine.ensure(self._spec, _silent)
        if made.port is None or made.host_key is None:
            raise CannotMeasureError(f"the environment is {made.state}: {made.detail}")
        return (time.perf_counter() - began) * 1000


@asynccontextmanager
async def bare(folder: Path) -> AsyncIterator[Bare]:
    engine = OciEngine(
        folder,
        clock=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
        ports=range(30_000, 30_100),
        images_folder=real_image().root.parents[1],
    )
    await engine.start()
    try:
        side = Bare(engine)
        await side.restart()  # the first boot makes the disk
        yield side
    finally:
        await engine.remove("alloc_bare", _silent)
        await engine.close(stop_environments=True)


async def _silent(phase: str, note: str) -> None:
    """Nobody listens."""
