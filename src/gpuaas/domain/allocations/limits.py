"""Machines that end by themselves: at a time, or when nothing showed work for long. People are told before, always.

A machine is idle only by what was observed: a signal that cannot be read is taken for work, never for rest.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.core.outbox import publish
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.commands import release_row
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.timeline.store import NewEntry, record
from gpuaas.wire.allocations import Status

WARNED_BEFORE = timedelta(minutes=10)
SHORTEST_NOTICE = timedelta(minutes=1)  # between the telling and the end, also when we were away at the time for it
SYSTEM = "system"


class Signal(Struct, frozen=True, kw_only=True):
    """One way to see whether a machine works."""

    name: str  # gpu, cpu, ssh, terminal, workloads
    last_work_at: datetime | None = None
    unavailable: str = ""  # why it cannot be read


Signals = Callable[[Tx, str], Awaitable[list[Signal]]]


class End(Struct, frozen=True):
    note: str


class Warn(Struct, frozen=True):
    """Tell its people; `expiry` or idleness."""

    phase: str
    note: str


class Calm(Struct, frozen=True):
    """It works again: what was told of idleness is over."""


Decision = End | Warn | Calm | None


def decide(row: AllocationRow, idle_since: datetime | None, now: datetime) -> Decision:
    """Pure. `idle_since` is null while anything shows work or cannot be read."""
    if row.status not in (Status.ACTIVE, Status.RESTART_FAILED):
        return None
    return _expiry(row, now) or _idleness(row, idle_since, now)


def _expiry(row: AllocationRow, now: datetime) -> Decision:
    if row.expires_at is None or now < row.expires_at - WARNED_BEFORE:
        return None
    if row.expiry_warned_at is None:
        return Warn("expiry_near", f"ends at {row.expires_at.isoformat(timespec='minutes')}; extend it to keep it")
    is_over = now >= max(row.expires_at, row.expiry_warned_at + SHORTEST_NOTICE)
    return End("its time was over") if is_over else None


def _idleness(row: AllocationRow, idle_since: datetime | None, now: datetime) -> Decision:
    if row.idle_minutes is None:
        return None
    if idle_since is None:
        return Calm() if row.idle_warned_at else None
    ends_at = idle_since + timedelta(minutes=row.idle_minutes)
    if row.idle_warned_at and idle_since > row.idle_warned_at:
        return Calm()
    if now < ends_at - min(WARNED_BEFORE, timedelta(minutes=row.idle_minutes / 2)):
        return None
    if row.idle_warned_at is None:
        return Warn("idle", f"nothing showed work since {idle_since.isoformat(timespec='minutes')}; work or extend it")
    is_over = now >= max(ends_at, row.idle_warned_at + SHORTEST_NOTICE)
    return End(f"nothing showed work for {row.idle_minutes} minutes") if is_over else None


def idle_since(signals: list[Signal], since: datetime) -> datetime | None:
    """The last work that any signal shows, at the earliest `since`; null when one cannot be read."""
    if not signals or any(signal.unavailable for signal in signals):
        return None
    return max([since, *(signal.last_work_at for signal in signals if signal.last_work_at)])


async def no_signals(tx: Tx, allocation_id: str) -> list[Signal]:  # noqa: ARG001 - the shape of Signals
    """Nothing is observed: no machine is ever found idle."""
    return []


class LimitsWorker:
    name = "limits"
    topics = (store.LIMITS,)
    due = """
        select id from allocations where (expires_at is not null or idle_minutes is not null)
            and status in ('active', 'restart_failed')
    """  # house: project-filter because a worker looks after every project's machines
    pause = 10.0

    def __init__(self, db: Database, ids: Ids, clock: Clock, signals: Signals) -> None:
        self._db, self._ids, self._clock, self._signals = db, ids, clock, signals

    async def __call__(self, row_id: str) -> None:
        now = self._clock.now()
        async with self._db.write("limits") as tx:
            row = await store.get(tx, row_id)
            rest = idle_since(await self._signals(tx, row_id), row.active_at or now) if row.idle_minutes else None
            match decide(row, rest, now):
                case End(note):
                    await release_row(tx, row, actor=SYSTEM, reason=note, ids=self._ids, now=now)
                case Warn(phase, note):
                    await self._warn(tx, row, phase, note, now)
                case Calm():
                    await store.warned(tx, row, expiry=row.expiry_warned_at, idle=None)

    async def _warn(self, tx: Tx, row: AllocationRow, phase: str, note: str, now: datetime) -> None:
        is_expiry = phase == "expiry_near"
        expiry, idle = (now, row.idle_warned_at) if is_expiry else (row.expiry_warned_at, now)
        await store.warned(tx, row, expiry=expiry, idle=idle)
        await record(tx, row.subject, NewEntry(phase=phase, at=now, actor=SYSTEM, note=note), None)
        payload = {"allocation_id": row.id, "project_id": row.project_id, "note": note}
        await publish(tx, f"allocation.{phase}", payload)
