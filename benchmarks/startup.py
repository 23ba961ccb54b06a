"""S16: `gpuaas up` with an empty folder, image included, and again; how long it takes to stop. Memory: up_memory."""

import asyncio
import os
import signal
import statistics
import time
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.harness import ROOT, CannotMeasureError, Run
from gpuaas.engines.images import images
from tests.e2e.stack import free_port

FIRST_LIMIT, SECOND_LIMIT = 240.0, 3.0
PATIENCE_SECONDS = 300.0


async def run(run: Run) -> None:
    folder = run.scratch / "up"
    program, first = await start(folder)
    run.row(
        "S16 first start, with the base image", f"{first:.1f} s", f"≤ {FIRST_LIMIT:.0f} s", met=first <= FIRST_LIMIT
    )
    await stop(program)
    starts, stops = [], []
    for _ in range(run.options.pick(10, 3)):
        program, seconds = await start(folder)
        starts.append(seconds)
        stops.append(await stop(program))
    run.keep("S16 second start s", starts)
    run.keep("S16 stop s", stops)
    run.row(
        f"S16 later starts, median and slowest of {len(starts)}",
        f"{statistics.median(starts):.2f} s, {max(starts):.2f} s",
        f"≤ {SECOND_LIMIT:.0f} s",
        met=max(starts) <= SECOND_LIMIT,
    )
    run.row(f"S16 stop, median and slowest of {len(stops)}", f"{statistics.median(stops):.2f} s, {max(stops):.2f} s")


async def start(folder: Path, **variables: str) -> tuple[asyncio.subprocess.Process, float]:
    """Until the server is ready and the node has its link; the person sees the greeting at the same moment."""
    port = free_port()
    environ = {name: value for name, value in os.environ.items() if name != images.VARIABLE} | variables
    began = time.monotonic()
    program = await asyncio.create_subprocess_exec(
        str(ROOT / ".venv" / "bin" / "gpuaas"),
        *("up", "--data", str(folder), "--port", str(port)),
        env=environ,
        stdout=asyncio.subprocess.DEVNULL,
    )
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=2) as http:
        while time.monotonic() < began + PATIENCE_SECONDS and program.returncode is None:
            with suppress(httpx.TransportError):
                answer = await http.get("/readyz")
                if answer.is_success and answer.json()["links"] > 0:
                    return program, time.monotonic() - began
            await asyncio.sleep(0.02)
    raise CannotMeasureError("gpuaas up did not become ready")


async def stop(program: asyncio.subprocess.Process) -> float:
    began = time.monotonic()
    program.send_signal(signal.SIGINT)
    await program.wait()
    return time.monotonic() - began
