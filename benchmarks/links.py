"""S9 and S10: thousands of agents on one server process. What their links cost, how many beats it takes in, how soon
it sees a dead one, and how soon all are back after kill -9 of the server."""

import asyncio
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from benchmarks import stage as staging
from benchmarks.agents import BEAT, PING, Agent, Crowd, enrol, frame
from benchmarks.harness import CannotMeasureError, Run, cpu_seconds, memory_bytes
from benchmarks.stage import LOAD_CORE, SERVER_CORE, Stage, free_port, pinned, process, until_ready

BURST = 4  # beats sent on a link before the pong that asks for the next ones
KILLED = 50
SEEN_SECONDS, BACK_SECONDS = 6.0, 15.0
LIMIT = 120.0


@dataclass
class Server:
    """The process under test; killed and started again in the storm."""

    pid: int
    port: int
    folder: Path

    def messages(self) -> tuple[int, float]:
        """How many came up so far, and when that was so."""
        for _ in range(100):
            words = (self.folder / "messages").read_text().split()
            if len(words) == 2:
                return int(words[0]), float(words[1])
        raise CannotMeasureError("the server does not tell how many messages came up")


async def run(run: Run) -> None:
    agents, slots = run.options.pick(5_000, 500), 8
    async with staging.staged(run.scratch, nodes=agents, slots=slots) as stage:
        nodes = await enrol(stage, agents, run.options.seed)
        port = free_port()
        os.sched_setaffinity(0, {int(LOAD_CORE)})
        try:
            crowd = Crowd(nodes, port, seed=run.options.seed)
            beating = asyncio.create_task(crowd.beat())
            async with server(stage, port) as first:
                await fan_in(run, crowd, first)
                await beats(run, crowd, first, run.options.pick(15, 5))
                await normal(run, crowd, first)
                await deaths(run, stage, crowd, run.options.pick(120, 15))
                killed_at = kill(crowd, first)
            await storm(run, stage, crowd, killed_at)
            beating.cancel()
            crowd.close()
        finally:
            os.sched_setaffinity(0, set(range(os.cpu_count() or 1)))


@asynccontextmanager
async def server(stage: Stage, port: int) -> AsyncIterator[Server]:
    folder, log = stage.folder / "server", stage.folder / "server.log"
    command = pinned(SERVER_CORE, sys.executable, "-m", "benchmarks.link_server", str(folder), str(port))
    environ = {"GPUAAS_DSN": stage.dsn, "GPUAAS_LOG_LEVEL": "warning"}
    async with process(command, log, environ) as child:
        await until_ready(f"http://127.0.0.1:{port}/readyz", child, log)
        yield Server(child.pid, port, folder)


async def fan_in(run: Run, crowd: Crowd, server: Server) -> None:
    """All links open and reconciled, and what each of them costs in memory."""
    await asyncio.sleep(1)
    idle, spent = memory_bytes(server.pid), cpu_seconds(server.pid)
    took = await crowd.connect()
    await crowd.until(lambda: len(crowd.reconciled) == len(crowd.nodes), LIMIT)
    await asyncio.sleep(2)
    linked = memory_bytes(server.pid)
    each, count = (linked - idle) / len(crowd.nodes), len(crowd.nodes)
    cpu = (cpu_seconds(server.pid) - spent) / count * 1e6
    run.facts["links"] = {"agents": count, "idle bytes": idle, "linked bytes": linked, "connected in": round(took, 2)}
    run.row(f"S9 {count:,} links opened", f"{took:.1f} s  {count / took:,.0f}/s  cpu {cpu:.0f} µs")
    run.row("S9 memory a link above idle", f"{each / 1000:.1f} kB", "≤ 25 kB", met=each <= 25_000)
    run.row("S9 memory in all", f"{linked / 1e6:.0f} MB (idle {idle / 1e6:.0f})", "≤ 200 MB", met=linked <= 200e6)


async def beats(run: Run, crowd: Crowd, server: Server, seconds: int) -> None:
    """As many as it takes in: each link sends a burst and a ping, and its next burst when the pong is back."""
    burst = BEAT * BURST + frame(PING, b"")

    def again(agent: Agent) -> None:
        agent.write(burst)

    crowd.on_pong = again
    for agent in crowd.agents.values():
        agent.write(burst)
    await asyncio.sleep(1)
    rates, generator = [], cpu_seconds(os.getpid())
    began = time.monotonic()
    for _ in range(5):
        (count, at), spent = server.messages(), cpu_seconds(server.pid)
        await asyncio.sleep(seconds / 5)
        await crowd.until(lambda at=at: server.messages()[1] > at, LIMIT)  # type: ignore[misc]
        (more, later), used = server.messages(), cpu_seconds(server.pid) - spent
        rates.append((more - count) / (later - at))
        run.facts[f"beats window {len(rates)}"] = {
            "per second": round(rates[-1]),
            "server cpu": round(used / (later - at), 2),
        }
    busy = (cpu_seconds(os.getpid()) - generator) / (time.monotonic() - began)
    crowd.on_pong = None
    await asyncio.sleep(2)
    rate = statistics.median(rates)
    run.keep("S9 heartbeats per second", rates)
    run.row("S9 heartbeats, one core", f"{rate:,.0f}/s (worst {min(rates):,.0f})", "≥ 25,000/s", met=rate >= 25_000)
    run.row("S9 the generator's own core", f"{busy:.0%} busy")


async def normal(run: Run, crowd: Crowd, server: Server) -> None:
    """One beat per agent every two seconds: what is left of the core for everything else."""
    await asyncio.sleep(2)
    spent, began = cpu_seconds(server.pid), time.monotonic()
    await asyncio.sleep(run.options.pick(10, 4))
    share = (cpu_seconds(server.pid) - spent) / (time.monotonic() - began)
    run.row(f"S9 core used by {len(crowd.nodes):,} agents at the normal rate", f"{share:.1%}")


async def deaths(run: Run, stage: Stage, crowd: Crowd, seconds: int) -> None:
    """Some fall silent with their socket open, as after kill -STOP or a cut cable; all others live on."""
    connection = await asyncpg.connect(stage.dsn)
    chance = random.Random(run.options.seed)
    killed = chance.sample(crowd.nodes, min(KILLED, len(crowd.nodes) // 5))
    died: dict[str, float] = {}
    seen: dict[str, float] = {}
    waits = [chance.uniform(0, seconds * 0.8) for _ in killed]
    began = time.monotonic()
    try:
        await connection.execute("set role gpuaas_worker")
        plan = sorted(zip(waits, killed, strict=True), key=lambda each: each[0])
        while time.monotonic() - began < seconds + SEEN_SECONDS + 2:
            now = time.monotonic()
            while plan and plan[0][0] <= now - began:
                node = plan.pop(0)[1]
                crowd.agents[node.id].silent = True
                died[node.id] = now
            for row in await connection.fetch("select id from nodes where offline_since is not null"):
                seen.setdefault(row["id"], time.monotonic())
            await asyncio.sleep(0.1)
    finally:
        await connection.close()
    took = [seen[id] - at for id, at in died.items() if id in seen]
    run.keep("S10 seconds until a dead agent was seen", took)
    false = len(set(seen) - set(died))
    missed = len(set(died) - set(seen))
    shown = f"p50 {statistics.median(took):.1f}  max {max(took):.1f} s of {len(took)}" if took else "none seen"
    met = bool(took) and not missed and max(took) <= SEEN_SECONDS
    run.row("S10 dead agent seen", shown, f"≤ {SEEN_SECONDS:.0f} s", met=met)
    run.row(f"S10 false deaths in {seconds} s", str(false), "0 in 10 min", met=false == 0 if seconds >= 600 else None)


def kill(crowd: Crowd, server: Server) -> float:
    crowd.reconciled.clear()
    crowd.reconnects = True
    for agent in crowd.agents.values():
        agent.silent = False
    os.kill(server.pid, signal.SIGKILL)
    return time.monotonic()


async def storm(run: Run, stage: Stage, crowd: Crowd, killed_at: float) -> None:
    """The server is started again at once, as a supervisor would; agents come back as the real agent does."""
    alive = [node for node in crowd.nodes if crowd.agents[node.id].welcomed or crowd.reconnects]
    async with server(stage, crowd.port) as second:
        ready = time.monotonic() - killed_at
        for node in crowd.nodes:  # those that had been cut as dead dial again too
            agent = crowd.agents[node.id]
            if agent.transport is None or agent.transport.is_closing():
                crowd.on_lost(agent)
        await crowd.until(lambda: len(crowd.reconciled) == len(alive), LIMIT)
        took = time.monotonic() - killed_at
        cpu = cpu_seconds(second.pid)
    run.facts["storm"] = {
        "serving after": round(ready, 2),
        "all back after": round(took, 2),
        "server cpu": round(cpu, 2),
    }
    run.row("S10 serving again after kill -9", f"{ready:.1f} s")
    what = f"S10 all {len(alive):,} back and reconciled after kill -9"
    run.row(what, f"{took:.1f} s", f"≤ {BACK_SECONDS:.0f} s", met=took <= BACK_SECONDS)
