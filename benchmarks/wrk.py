"""wrk, run on the load generator's core, and what it says."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import CannotMeasureError, cpu_seconds, needs
from benchmarks.stage import LOAD_CORE, pinned

CONNECTIONS = 16
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
SCRIPTS = Path(__file__).parent / "twin"


@dataclass(frozen=True)
class Shot:
    """One round against one server."""

    per_second: float
    p50_ms: float
    p99_ms: float
    refused: int  # answers other than 2xx and 3xx, and broken connections
    cpu_us: float  # of the server process, per request


async def shoot(url: str, pid: int, script: str, seconds: int, *arguments: str) -> Shot:
    """`pid` is the server's: its processor time is counted."""
    command = pinned(
        LOAD_CORE,
        needs("wrk", "wrk"),
        *(
            "--threads",
            "1",
            "--connections",
            str(CONNECTIONS),
            "--duration",
            f"{seconds}s",
            "--latency",
            "--timeout",
            "20s",
        ),
        *("--script", str(SCRIPTS / script), url, "--", *arguments),
    )
    spent = cpu_seconds(pid)
    child = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        out, _ = await asyncio.wait_for(child.communicate(), seconds + 30)
    except TimeoutError:
        child.kill()
        raise
    text = out.decode()
    rate, total = re.search(r"Requests/sec:\s+([\d.]+)", text), re.search(r"(\d+) requests in", text)
    if rate is None or total is None:
        raise CannotMeasureError(f"wrk said: {text}")
    cpu_us = (cpu_seconds(pid) - spent) / max(1, int(total[1])) * 1e6
    return Shot(float(rate[1]), _percentile(text, "50%"), _percentile(text, "99%"), _refused(text), cpu_us)


def _percentile(text: str, name: str) -> float:
    found = re.search(rf"{name}\s+([\d.]+)(us|ms|s|m)\b", text)
    return float(found[1]) * UNITS[found[2]] if found else float("nan")


def _refused(text: str) -> int:
    other = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    return int(other[1] if other else 0) + sum(int(each) for each in (broken.groups() if broken else ()))
