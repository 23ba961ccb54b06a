"""S7: tasks queued, claimed in batches, sent down real links, done, told and acknowledged; and two queues that live in
PostgreSQL too, on the same one, in the same run."""

import asyncio
import base64
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import asyncpg
import msgspec

from benchmarks import stage as staging
from benchmarks.agents import Crowd, Node, enrol
from benchmarks.harness import CannotMeasureError, Run, percentile
from benchmarks.peers import queues
from benchmarks.stage import LOAD_CORE, SERVER_CORE, Stage, free_port, pinned, process, until_ready
from gpuaas.core.hints import CHANNEL
from gpuaas.core.secrets import MasterKey, TaskSigner
from gpuaas.domain.tasks.store import TASKS

NODES = 50
LIMIT = 300.0


async def run(run: Run) -> None:
    tasks, rounds = run.options.pick(50_000, 5_000), run.options.pick(5, 2)
    rates: dict[str, list[float]] = {}
    async with staging.staged(run.scratch, nodes=NODES) as stage:
        nodes = await enrol(stage, NODES, run.options.seed)
        peers = await queues.prepare(run, stage)

        async def ours(*, signed: bool) -> float:
            async with linked(stage, nodes, run, signed=signed) as crowd:
                return await throughput(stage, crowd, tasks)

        sides: dict[str, Callable[[], Awaitable[float]]] = {
            "unsigned": lambda: ours(signed=False),
            "signed": lambda: ours(signed=True),
        } | {peer.name: partial(peer.run, tasks) for peer in peers}
        for number in range(rounds):
            for name in sides if number % 2 == 0 else reversed(sides):
                rates.setdefault(name, []).append(await sides[name]())
                print(f"    round {number + 1}: {name} {rates[name][-1]:,.0f}/s", flush=True)
        report(run, rates)
        async with linked(stage, nodes, run, signed=True) as crowd:
            await latency(run, stage, crowd, run.options.pick(100, 20))


def report(run: Run, rates: dict[str, list[float]]) -> None:
    for name, each in rates.items():
        run.keep(f"S7 {name} tasks per second", each)
        run.row(f"S7 {name}", f"{statistics.median(each):,.0f}/s (worst {min(each):,.0f})")
    targets = {"graphile batched": 1.0, "procrastinate": 40.0}
    for peer, wanted in targets.items():
        if peer in rates:
            run.steady(peer, rates[peer])
            each = [mine / other for mine, other in zip(rates["unsigned"], rates[peer], strict=True)]
            middle = statistics.median(each)
            shown = f"{middle:.2f} x (worst {min(each):.2f})"
            run.row(f"S7 unsigned to {peer}", shown, f"≥ {wanted:.0f} x", met=middle >= wanted)


@asynccontextmanager
async def linked(stage: Stage, nodes: list[Node], run: Run, *, signed: bool) -> AsyncIterator[Crowd]:
    """A server on its core, this process with its agents on the other, every link open."""
    port = free_port()
    folder = stage.folder / "server"
    folder.mkdir(exist_ok=True)
    verifier = TaskSigner(MasterKey.from_file(folder / "master.key")).verifier
    public = base64.b64decode(verifier.public_key) if signed else None
    environ = {"GPUAAS_DSN": stage.dsn, "GPUAAS_LOG_LEVEL": "warning", "BENCH_UNSIGNED": "" if signed else "1"}
    command = [sys.executable, "-m", "benchmarks.link_server", str(folder), str(port)]
    log = stage.folder / "server.log"
    os.sched_setaffinity(0, {int(LOAD_CORE)})
    async with process(pinned(SERVER_CORE, *command), log, environ) as child:
        await until_ready(f"http://127.0.0.1:{port}/readyz", child, log)
        crowd = Crowd(nodes, port, seed=run.options.seed, verifier=public)
        await crowd.connect()
        await crowd.until(lambda: len(crowd.reconciled) == len(nodes), 30)
        beating = asyncio.create_task(crowd.beat())
        try:
            yield crowd
        finally:
            beating.cancel()
            crowd.close()
            os.sched_setaffinity(0, set(range(os.cpu_count() or 1)))


async def throughput(stage: Stage, crowd: Crowd, tasks: int) -> float:
    """From the hint that there is work to the last acknowledgement in the hands of an agent."""
    connection = await asyncpg.connect(stage.dsn)
    try:
        await connection.execute("set role gpuaas_worker")
        await connection.execute(ADD_TASKS, f"t{time.time_ns()}", tasks, len(crowd.nodes))
        began = time.monotonic()
        await hint(connection, [node.id for node in crowd.nodes])
        await crowd.until(lambda: crowd.acked >= tasks, LIMIT)
        took = time.monotonic() - began
        open_tasks = await connection.fetchval("select count(*) from node_tasks where status <> 'done'")
        if open_tasks:
            raise CannotMeasureError(f"{open_tasks} tasks are not done in the database")
    finally:
        await connection.close()
    return tasks / took


async def latency(run: Run, stage: Stage, crowd: Crowd, count: int) -> None:
    """One task at a time on an idle system: from the return of COMMIT to its bytes in the agent's hands."""
    took = []
    connection = await asyncpg.connect(stage.dsn)
    try:
        await connection.execute("set role gpuaas_worker")
        for number in range(count + 5):
            await asyncio.sleep(0.05)
            node, task = crowd.nodes[number % len(crowd.nodes)].id, f"one-{number:05d}"
            await connection.execute(ADD_ONE, task, node, datetime.now(UTC))
            committed = time.time()
            await hint(connection, [node])
            await crowd.until(lambda task=task: task in crowd.received_at, 10)  # type: ignore[misc]
            took.append((crowd.received_at[task] - committed) * 1000)
    finally:
        await connection.close()
    took = took[5:]
    p50, p99 = statistics.median(took), percentile(took, 0.99)
    run.keep("S7 commit to agent ms", took)
    run.row("S7 commit → agent has it, p50", f"{p50:.2f} ms", "≤ 2 ms", met=p50 <= 2)
    run.row("S7 commit → agent has it, p99", f"{p99:.2f} ms", "≤ 8 ms", met=p99 <= 8)
    run.note("the hint of S7's latency comes from another process over NOTIFY: a replica's own hints are faster")


async def hint(connection: "asyncpg.Connection[asyncpg.Record]", node_ids: list[str]) -> None:
    """As another replica would."""
    payload = msgspec.json.encode(("bench", [(TASKS, node_id) for node_id in node_ids])).decode()
    await connection.execute("select pg_notify($1, $2)", CHANNEL, payload)


ADD_TASKS = """
    insert into node_tasks (id, node_id, seq, boot, kind, wants, status, created_at)
    select $1 || '-' || lpad(n::text, 8, '0'), 'node_' || lpad((n % $3 + 1)::text, 8, '0'), 1, 1,
        'storage.conformance', '{}', 'queued', clock_timestamp()
    from generate_series(1, $2::int) as n
"""
ADD_ONE = """
    insert into node_tasks (id, node_id, seq, boot, kind, wants, status, created_at)
    values ($1, $2, 1, 1, 'storage.conformance', '{}', 'queued', $3)
"""
