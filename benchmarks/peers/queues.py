"""Two queues on the same PostgreSQL: graphile-worker (npm) and procrastinate (Python), each draining no-op jobs."""

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec

from benchmarks.harness import ROOT, SCRATCH, CannotMeasureError, Run
from benchmarks.stage import PEERS, SERVER_CORE, Stage, pinned

HERE = Path(__file__).parent
MODULES = SCRATCH / "graphile"
PROCRASTINATE_JOBS = 2_000  # it would take minutes for 50,000; its rate does not depend on how many wait
LIMIT = 300.0


class Told(msgspec.Struct):
    jobs: int
    seconds: float
    left: int


@dataclass(frozen=True)
class Peer:
    name: str
    run: Callable[[int], Awaitable[float]]


async def prepare(run: Run, stage: Stage) -> list[Peer]:
    """The peers that can be run here; a note says which cannot and why."""
    host = parse_qs(urlsplit(stage.dsn).query)["host"][0]
    jobs = min(PROCRASTINATE_JOBS, run.options.pick(PROCRASTINATE_JOBS, 300))
    conninfo = f"host={host} user=gpuaas dbname={PEERS}"
    script = HERE / "procrastinate_worker.py"
    run.facts["procrastinate jobs a round"] = jobs
    peers = [Peer("procrastinate", lambda _: drain([sys.executable, str(script), str(jobs), conninfo], {}))]
    try:
        await install_graphile()
    except CannotMeasureError as why:
        run.note(f"graphile-worker was not measured: {why}")
        return peers
    environ = {"PGHOST": host, "PGUSER": "gpuaas", "PGDATABASE": PEERS}

    async def graphile(tasks: int) -> float:
        return await drain(["node", str(MODULES / "worker.mjs"), str(tasks), "batched"], environ)

    return [Peer("graphile batched", graphile), *peers]


async def install_graphile() -> None:
    """With npm, once, into a folder that is not kept."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise CannotMeasureError("node and npm are not installed")
    MODULES.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "worker.mjs"):
        shutil.copy(HERE / "graphile" / name, MODULES / name)
    if (MODULES / "node_modules" / "graphile-worker").is_dir():
        return
    child = await asyncio.create_subprocess_exec(
        *("npm", "install", "--no-audit", "--no-fund", "--loglevel", "error"),
        cwd=MODULES,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(child.communicate(), LIMIT)
    if child.returncode:
        raise CannotMeasureError(f"npm install failed: {out.decode(errors='replace')[-500:]}")


async def drain(command: list[str], environ: dict[str, str]) -> float:
    """Jobs per second of one worker process on the server's core."""
    child = await asyncio.create_subprocess_exec(
        *pinned(SERVER_CORE, *command),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environ},
        cwd=ROOT,
    )
    try:
        out, error = await asyncio.wait_for(child.communicate(), LIMIT)
    except TimeoutError:
        child.kill()
        raise CannotMeasureError(f"{command[0]} did not finish in {LIMIT:.0f} s") from None
    if child.returncode:
        raise CannotMeasureError(f"{command[-3:]} failed: {error.decode(errors='replace')[-1500:]}")
    told = msgspec.json.decode(out.decode().strip().rsplit("\n", 1)[-1], type=Told)
    if told.left:
        raise CannotMeasureError(f"{told.left} jobs were left over")
    return told.jobs / told.seconds
