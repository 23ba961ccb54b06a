"""What an idle environment costs: PSS of its processes and of the node's helpers, with and without environments."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.harness import Run
from gpuaas.engines.node.processes import parent
from gpuaas.engines.oci import liveness
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.wire.environments import EnvironmentSpec, KeySet
from gpuaas.wire.spares import form_of
from tests.images.real import real_image

ENVIRONMENTS = 8
LIMIT_MB = 3.0
SETTLE_SECONDS = 2.0


async def run(run: Run) -> None:
    engine = OciEngine(
        run.scratch / "node",
        clock=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
        ports=range(30_100, 30_200),
        images_folder=real_image().root.parents[1],
        most_spares=1,
    )
    await engine.start()
    helpers = [(await engine._gateway.status()).pid, engine._containers.lxcfs_pid()]
    try:
        before = sum(map(pss_mb, helpers))
        for number in range(ENVIRONMENTS):
            await engine.ensure(_spec(number), _silent)
        await asyncio.sleep(SETTLE_SECONDS)
        folders = sorted((run.scratch / "node" / "environments").iterdir())
        own = [_environment_mb(folder) for folder in folders]
        growth = (sum(map(pss_mb, helpers)) - before) / ENVIRONMENTS
        each = sum(own) / ENVIRONMENTS + growth
        run.keep("processes of one environment MB", own)
        run.row("idle memory of one plain environment", f"{each:.2f} MB", f"≤ {LIMIT_MB} MB", met=each <= LIMIT_MB)
        run.row("of it, growth of SSH gateway and lxcfs", f"{growth:.2f} MB")
        await engine.spares.want([form_of(_spec(ENVIRONMENTS))])
        await engine.spares.keep()
        (spare,) = (run.scratch / "node" / "spares").iterdir()
        run.row("idle memory of one spare", f"{_environment_mb(spare):.2f} MB")
    finally:
        for number in range(ENVIRONMENTS):
            await engine.remove(f"alloc_{number}", _silent)
        await engine.close(stop_environments=True)


def _spec(number: int) -> EnvironmentSpec:
    return EnvironmentSpec(
        allocation_id=f"alloc_{number}",
        boot=1,
        hostname=f"idle-{number}",
        username="gpu",
        slots=(),
        vcpus=1,
        memory_mib=1024 + (number == ENVIRONMENTS),
        simulated=True,
        keys=KeySet(generation=1),
    )


def _environment_mb(folder: Path) -> float:
    """Pid 1 and conmon above it; nothing else runs in an idle plain environment."""
    init = liveness.recorded(folder)
    assert init is not None
    return pss_mb(init.pid) + pss_mb(parent(init.pid))


def pss_mb(pid: int | None) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


async def _silent(phase: str, note: str) -> None:
    """Nobody listens."""
