"""Buffers samples from nodes, and writes the newest of each allocation in one transaction every second.

Memory is bounded by allocations, not by messages: a later sample replaces one that is not written yet, and samples
are dropped while the database is unavailable. Links never wait for samples.
"""

import asyncio
import math
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from gpuaas.core.bounds import clamped_moment, text
from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.metrics import findings, store
from gpuaas.wire.metrics import Reading, Sample, Samples

WRITE_SECONDS = 1.0
MOST_ALLOCATIONS = 100_000  # further samples are dropped and counted
MOST_OF_NODE = 1_000  # the limit per node, so that a node cannot use the space of others
AT_ONCE = 5_000  # per statement
READINGS = 96  # eight GPUs and sixteen volumes have about fifty
VIEWS = 16
LONGEST_TEXT = 200
LARGEST = 1e18
TOO_LATE = timedelta(minutes=5)


class SampleBuffer:
    type = Samples

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock
        self._unwritten: dict[str, dict[str, Sample]] = {}  # by node and allocation: a node may name any allocation
        self._count = 0
        self._findings: dict[str, list[store.Finding]] = {}  # last written by this replica, by allocation
        self.dropped = 0

    def put(self, node_id: str, message: Struct) -> None:
        if not isinstance(message, Samples):
            raise TypeError(type(message).__name__)
        now, kept = self._clock.now(), self._unwritten.setdefault(node_id, {})
        for sample in message.samples:
            is_new = sample.allocation_id not in kept
            if is_new and (len(kept) >= MOST_OF_NODE or self._count >= MOST_ALLOCATIONS):
                self.dropped += 1
            elif (clean := cleaned(sample, now)) is not None:
                self._count += is_new
                kept[sample.allocation_id] = clean

    async def write(self) -> None:
        """Write every second, until cancelled."""
        await self._db.health.repeat("samples", self._write_next)

    async def _write_next(self) -> None:
        await asyncio.sleep(WRITE_SECONDS)
        await self.flush()

    def forget(self) -> None:
        self._findings.clear()

    async def flush(self) -> None:
        taken = [(node_id, sample) for node_id, kept in self._unwritten.items() for sample in kept.values()]
        self._unwritten, self._count = {}, 0
        for start in range(0, len(taken), AT_ONCE):
            await self._write(taken[start : start + AT_ONCE])

    async def _write(self, batch: list[tuple[str, Sample]]) -> None:
        async with self._db.write("samples") as tx:
            written = await store.write(tx, batch)
            found = {sample.allocation_id: findings.findings(sample) for _, sample in written}
            news = {id: each for id, each in found.items() if self._findings.get(id) != each}
            if news:
                await store.set_findings(tx, findings.SOURCE, news, self._clock.now())
        if len(self._findings) > MOST_ALLOCATIONS:
            self._findings.clear()  # the next sample writes them again
        self._findings |= news


def cleaned(sample: Sample, now: datetime) -> Sample | None:
    """The valid part of a sample: a node may send anything, and one statement writes the samples of many."""
    if not now - TOO_LATE < sample.at or "\0" in sample.allocation_id:
        return None
    readings = tuple(cleaned_reading(one, now) for one in sample.readings[:READINGS])
    kills = sample.memory_kills
    if kills is not None:
        kills = replace(kills, count=max(1, min(kills.count, 1 << 30)), at=clamped_moment(kills.at, now))
    return replace(
        sample,
        at=clamped_moment(sample.at, now),
        boot=max(0, min(sample.boot, 1 << 30)),
        readings=readings,
        memory_kills=kills,
        broken_views=tuple(plain(one) for one in sample.broken_views[:VIEWS]),
    )


def cleaned_reading(reading: Reading, now: datetime) -> Reading:
    value, why = reading.value, plain(reading.unavailable)
    if value is not None and (not math.isfinite(value) or abs(value) > LARGEST):
        value, why = None, "the node sent no valid number"
    if value is None and not why:
        why = "the node gave no reason"
    return replace(
        reading,
        value=value,
        unavailable="" if value is not None else why,
        source=plain(reading.source) or "unnamed",
        device=plain(reading.device),
        at=reading.at and clamped_moment(reading.at, now),
    )


def plain(told: str) -> str:
    return text(told, LONGEST_TEXT)
