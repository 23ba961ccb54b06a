"""S5 and S6: the read with authentication, permission and row fence, and the whole create, over HTTP, next to a plain
FastAPI + SQLAlchemy application on the same PostgreSQL."""

import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec

from benchmarks import stage as staging
from benchmarks.harness import CannotMeasureError, Run, interleave, ratio
from benchmarks.stage import SERVER_CORE, SKU, Stage, free_port, pinned, process, server, until_ready
from benchmarks.wrk import Shot, shoot

PORT, TWIN_PORT = free_port(), free_port()
URL, TWIN_URL = f"http://127.0.0.1:{PORT}", f"http://127.0.0.1:{TWIN_PORT}"
NODES, READ_ROWS = 5_000, 500


async def run(run: Run) -> None:
    async with staging.staged(run.scratch, nodes=NODES) as stage:
        await make_twin_table(stage)
        async with twin(stage) as twin_pid:
            bench = Bench(run, stage, twin_pid)
            await bench.reads()
            await bench.creates("api alone", "--only", "api")
            await bench.creates("whole server")


class Bench:
    def __init__(self, run: Run, stage: Stage, twin_pid: int) -> None:
        self._run, self._stage, self._twin = run, stage, twin_pid
        self._seconds, self._rounds = run.options.pick(10, 3), run.options.pick(5, 3)
        self._keys = 0

    async def reads(self) -> None:
        ours: list[Shot] = []
        theirs: list[Shot] = []
        async with server(self._stage, PORT, "--only", "api") as child:
            paths = await self._machines()

            async def us(_: int) -> float:
                shot = await shoot(URL, child.pid, "read.lua", self._seconds, str(paths[0]), self._stage.token)
                return kept(ours, shot, "read")

            async def they(_: int) -> float:
                return kept(
                    theirs, await shoot(TWIN_URL, self._twin, "read.lua", self._seconds, str(paths[1])), "twin read"
                )

            await shoot(URL, child.pid, "read.lua", 1, str(paths[0]), self._stage.token)
            await shoot(TWIN_URL, self._twin, "read.lua", 1, str(paths[1]))
            await interleave(self._rounds, us, they)
        self._report("S5 read", ours, theirs, factor=5.0, p99=0.2)

    async def creates(self, what: str, *arguments: str) -> None:
        ours: list[Shot] = []
        theirs: list[Shot] = []

        async def us(_: int) -> float:
            """A fleet of free slots and a fresh process each round: one round takes most of 40,000 slots."""
            await staging.empty_fleet(self._stage)
            async with server(self._stage, PORT, *arguments) as child:
                await self._create_round(child.pid, 1)
                return kept(ours, await self._create_round(child.pid, self._seconds), "create")

        async def they(_: int) -> float:
            body = msgspec.json.encode({"project_id": self._stage.project_id, "sku": SKU}).decode()
            return kept(
                theirs, await shoot(TWIN_URL, self._twin, "create.lua", self._seconds, "/machines", body, "k"), "insert"
            )

        await they(0)
        theirs.clear()
        await interleave(self._rounds, us, they)
        self._report(f"S6 create, {what}", ours, theirs, factor=2.0, p99=None)
        rate, p99 = statistics.median(s.per_second for s in ours), statistics.median(s.p99_ms for s in ours)
        self._run.row(f"S6 create, {what}: rate", f"{rate:,.0f}/s", "≥ 2,000/s", met=rate >= 2000)
        self._run.row(f"S6 create, {what}: p99", f"{p99:.1f} ms", "≤ 20 ms", met=p99 <= 20)

    async def _create_round(self, pid: int, seconds: int) -> Shot:
        self._keys += 1
        body = msgspec.json.encode({"sku": SKU, "ssh_key_ids": [self._stage.ssh_key_id]}).decode()
        path = "/api/v1/allocations"
        return await shoot(URL, pid, "create.lua", seconds, path, body, f"round-{self._keys}-", self._stage.token)

    async def _machines(self) -> tuple[Path, Path]:
        """Rows to read, on both sides, made through the front door; and files that list their addresses."""
        ours, theirs = self._run.scratch / "ours.txt", self._run.scratch / "theirs.txt"
        headers = {"Authorization": f"Bearer {self._stage.token}"}
        mine, other = [], []
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
            for number in range(READ_ROWS):
                body = {"sku": SKU, "ssh_key_ids": [self._stage.ssh_key_id]}
                key = {"X-Idempotency-Key": f"read-{number}"}
                answer = await http.post(f"{URL}/api/v1/allocations", json=body, headers=key)
                if answer.status_code != 202:
                    raise CannotMeasureError(f"a create was answered {answer.status_code}: {answer.text}")
                mine.append("/api/v1/allocations/" + answer.json()["allocations"][0]["id"])
                row = await http.post(f"{TWIN_URL}/machines", json={"project_id": self._stage.project_id, "sku": SKU})
                other.append("/machines/" + row.json()["id"])
        ours.write_text("\n".join(mine))
        theirs.write_text("\n".join(other))
        return ours, theirs

    def _report(self, what: str, ours: list[Shot], theirs: list[Shot], *, factor: float, p99: float | None) -> None:
        run = self._run
        for side, shots in (("ours", ours), ("twin", theirs)):
            run.keep(f"{what}: {side} per second", [shot.per_second for shot in shots])
            run.keep(f"{what}: {side} p50 ms", [shot.p50_ms for shot in shots])
            run.keep(f"{what}: {side} p99 ms", [shot.p99_ms for shot in shots])
            rate = statistics.median(shot.per_second for shot in shots)
            p50, tail = (statistics.median(getattr(s, name) for s in shots) for name in ("p50_ms", "p99_ms"))
            run.keep(f"{what}: {side} cpu us", [shot.cpu_us for shot in shots])
            cpu = statistics.median(shot.cpu_us for shot in shots)
            run.row(f"{what}: {side}", f"{rate:,.0f}/s  p50 {p50:.1f}  p99 {tail:.1f} ms  cpu {cpu:.0f} µs")
        run.steady(f"{what}: twin", [shot.per_second for shot in theirs])
        middle, worst = ratio([shot.per_second for shot in ours], [shot.per_second for shot in theirs])
        met = middle >= factor
        run.row(f"{what}: rate ratio", f"{middle:.2f} x (worst {worst:.2f})", f"≥ {factor:.1f} x twin", met=met)
        spent = [other.cpu_us / mine.cpu_us for mine, other in zip(ours, theirs, strict=True)]
        run.row(f"{what}: processor time ratio, twin to ours", f"{statistics.median(spent):.2f} x")
        if p99 is not None:
            tails = [mine.p99_ms / other.p99_ms for mine, other in zip(ours, theirs, strict=True)]
            middle = statistics.median(tails)
            shown = f"{middle:.2f} x (worst {max(tails):.2f})"
            run.row(f"{what}: p99 ratio", shown, f"≤ {p99:.1f} x twin", met=middle <= p99)


def kept(shots: list[Shot], shot: Shot, what: str) -> float:
    if shot.refused:
        raise CannotMeasureError(f"{what}: {shot.refused} requests were refused")
    shots.append(shot)
    return shot.per_second


async def make_twin_table(stage: Stage) -> None:
    await stage.run_for_peers(TWIN_TABLE)


@asynccontextmanager
async def twin(stage: Stage) -> AsyncIterator[int]:
    """uvicorn with uvloop and httptools, one process on the server's core, like ours."""
    log = stage.folder / "twin.log"
    command = [sys.executable, "-m", "uvicorn", "benchmarks.twin.app:app", "--port", str(TWIN_PORT), "--no-access-log"]
    command += ["--loop", "uvloop", "--http", "httptools", "--log-level", "warning"]
    environ = {"TWIN_URL": stage.peers_dsn.replace("postgresql://", "postgresql+asyncpg://")}
    async with process(pinned(SERVER_CORE, *command), log, environ) as child:
        await until_ready(f"{TWIN_URL}/ready", child, log)
        yield child.pid


TWIN_TABLE = """
    create table twin_machines (
        id text primary key, project_id text not null, name text not null, sku text not null, gpu_count int not null,
        node_id text not null, status text not null, created_at timestamp not null
    )
"""
