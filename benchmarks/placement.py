"""S3 and S4: placements that are on disk, next to the bare statement; and the pure choice: how fast, how tight."""

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from benchmarks import placement_quality
from benchmarks import stage as staging
from benchmarks.harness import CannotMeasureError, Run, cpu_seconds, interleave, percentile, ratio
from benchmarks.stage import SKU, Stage
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import Database, DbRole, Tx, connect
from gpuaas.core.errors import Raced
from gpuaas.core.hints import Hints
from gpuaas.core.idempotency import Idempotency, Stored, request_hash
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import MasterKey, token_hash
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.launch import store
from gpuaas.domain.launch.commands import Launch
from gpuaas.domain.skus.catalog import Catalog
from gpuaas.wire.allocations import CreateAllocation

NODES, SLOTS, CLIENTS = 5_000, 8, 8
Statement = tuple[str, list[object]]


async def run(run: Run) -> None:
    os.sched_setaffinity(0, {0})
    try:
        async with staging.staged(run.scratch, nodes=NODES, slots=SLOTS) as stage, AsyncExitStack() as stack:
            await durable(run, await Bench.open(stage, stack))
    finally:
        os.sched_setaffinity(0, set(range(os.cpu_count() or 1)))
    placement_quality.decisions(run, run.options.pick(50_000, 5_000))
    placement_quality.quality(run, run.options.pick(200_000, 50_000), NODES)


async def durable(run: Run, bench: "Bench") -> None:
    seconds, rounds = run.options.pick(6, 2), run.options.pick(5, 3)
    kept: dict[str, list[float]] = {"service": [], "bare": []}
    spent: list[float] = []

    async def service(_: int) -> float:
        await bench.reset()
        began = cpu_seconds(os.getpid())
        rate, took = await closed_loop(bench.place, seconds)
        kept["service"] += took
        spent.append((cpu_seconds(os.getpid()) - began) / len(took) * 1e6)
        return rate

    async def bare(_: int) -> float:
        await bench.reset()
        rate, took = await closed_loop(bench.bare, seconds)
        kept["bare"] += took
        return rate

    await closed_loop(bench.place, 1)
    ours, floor = await interleave(rounds, service, bare)
    run.keep("S3 service per second", ours)
    run.keep("S3 bare statement per second", floor)
    for side, took in kept.items():
        run.keep(f"S3 {side} ms", took)
        shown = f"p50 {statistics.median(took):.2f}  p99 {percentile(took, 0.99):.2f} ms"
        run.row(f"S3 {side}, one of {CLIENTS} clients", shown)
    rate = statistics.median(ours)
    run.row("S3 durable placements", f"{rate:,.0f}/s", "≥ 4,000/s", met=rate >= 4000)
    run.row("S3 bare one-statement create", f"{statistics.median(floor):,.0f}/s")
    middle, worst = ratio(ours, floor)
    run.row("S3 service to bare statement", f"{middle:.2f} x (worst {worst:.2f})", "≥ 0.75 x", met=middle >= 0.75)
    run.row("S3 processor time of the service", f"{statistics.median(spent):.0f} µs each")
    run.steady("the bare statement", floor)
    doubles = await bench.doubles()
    run.row("S3 slots with two live claims", str(doubles), "0", met=doubles == 0)


async def closed_loop(one: Callable[[], Awaitable[None]], seconds: float) -> tuple[float, list[float]]:
    """CLIENTS at once, each sends its next when its last is answered; rate, and milliseconds of each."""
    took: list[float] = []
    began = time.perf_counter()

    async def client() -> None:
        while (start := time.perf_counter()) - began < seconds:
            await one()
            took.append((time.perf_counter() - start) * 1000)

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return len(took) / (time.perf_counter() - began), took


class Recorder:
    """Stands before a connection and remembers what was sent."""

    def __init__(self, connection: Any) -> None:
        self._connection, self.sent = connection, list[Statement]()

    async def fetchrow(self, sql: str, *args: object) -> Any:
        self.sent.append((sql, list(args)))
        return await self._connection.fetchrow(sql, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Bench:
    """The service as the API calls it, and the one statement at its heart."""

    def __init__(self, stage: Stage, api: Database, worker: Database) -> None:
        self._stage, self._api, self._worker = stage, api, worker
        self._clock = SystemClock()
        self._ids = Ids(self._clock)
        self._index = Index(worker, Hints("index"), SystemClock())
        self._launch = Launch(self._index, Catalog(worker, self._clock), self._ids)
        self._master = MasterKey(bytes(32))
        self._data = CreateAllocation(sku=SKU, ssh_key_ids=[stage.ssh_key_id])
        self._body, self._number = msgspec.json.encode(self._data), 0
        self._statement: Statement = ("", [])

    @classmethod
    async def open(cls, stage: Stage, stack: AsyncExitStack) -> "Bench":
        hints = Hints("bench")
        api = await connect(stage.dsn, DbRole.API, hints=hints, size=CLIENTS)
        stack.push_async_callback(api.close)
        worker = await connect(stage.dsn, DbRole.WORKER, hints=hints, size=CLIENTS)
        stack.push_async_callback(worker.close)
        bench = cls(stage, api, worker)
        await bench.reset()
        await bench._learn_statement()
        return bench

    async def reset(self) -> None:
        await staging.empty_fleet(self._stage)
        await self._index.refresh()

    async def place(self) -> None:
        """One transaction: who, the key, the placement, the claim and all its rows, the answer kept with the key."""
        while True:
            try:
                async with self._api.write() as tx:
                    await self._place(tx)
            except Raced:
                continue
            else:
                return

    async def _place(self, tx: Tx) -> None:
        self._number += 1
        path = "/api/v1/allocations"
        key = identity.Key(f"POST {path}", f"key-{self._number}")
        entry = await identity.enter(
            tx, token_hash(self._stage.token), key=key, query=store.find_on_entering(self._data)
        )
        if entry is None or entry.kept is None:
            raise CannotMeasureError("the token of this benchmark is not known")
        caller = entry.entered.caller(Caller)
        use = Idempotency(caller.user_id, *key, request_hash("POST", path, self._body))
        if use.answer(entry.kept, self._master):
            raise CannotMeasureError("a key was used before")
        answer = await self._launch.submit(tx, caller, self._data, entry.found, self._clock.now())
        await use.keep(tx, Stored(202, msgspec.json.encode(answer)), seal_with=None)

    async def _learn_statement(self) -> None:
        """The statement the service sends, with the parameters it sent: whatever it is by now, the floor is that."""
        async with self._api.write() as tx:
            recorder = tx.connection = Recorder(tx.connection)
            await self._place(tx)
            tx.connection = recorder._connection
        found = [statement for statement in recorder.sent if "insert into allocations" in statement[0]]
        if len(found) != 1:
            raise CannotMeasureError(f"{len(found)} statements make an allocation; this compares with one")
        self._statement = found[0]

    async def bare(self) -> None:
        """The statement alone, autocommitted, on the next free slot, with names of its own."""
        sql, args = self._statement
        self._number += 1
        slot = self._number % (NODES * SLOTS)
        node = f"node_{slot // SLOTS + 1:08d}"
        names = {"alloc_": f"a{self._number}", "op_": f"o{self._number}", "node_": node, "h200-": f"n{self._number}"}
        renamed = {
            arg: name
            for arg in args
            if isinstance(arg, str)
            for prefix, name in names.items()
            if arg.startswith(prefix)
        }
        changed = [
            [f"{node}_{slot % SLOTS}"]
            if isinstance(arg, list) and arg and str(arg[0]).startswith("node_")
            else renamed.get(arg, arg)
            if isinstance(arg, str)
            else arg
            for arg in args
        ]
        async with self._worker.read() as tx:
            row = await tx.connection.fetchrow(sql, *changed)
        if row is None:
            raise CannotMeasureError("the bare statement made nothing")

    async def doubles(self) -> int:
        return int(str(await self._stage.value(DOUBLES)))


DOUBLES = """
    select count(*) from (
        select slot_id from claims where released_at is null group by slot_id having count(*) > 1
    ) as twice
"""
