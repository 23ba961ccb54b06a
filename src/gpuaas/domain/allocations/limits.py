"""Ends allocations at a set time, or after a long idle time. People always receive a warning first.

Only observations make an allocation idle: a signal that cannot be read counts as work.
"""

from datetime import datetime, timedelta

from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.core.outbox import publish
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.commands import release_row
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.allocations.views import limits
from gpuaas.domain.metrics.store import Signal, signals
from gpuaas.domain.timeline.store import SYSTEM, NewEntry, record
from gpuaas.wire.allocations import LimitsNow, Status, UseSignal

WARNED_BEFORE = timedelta(minutes=10)
RESUMED_NOTICE = timedelta(hours=1)  # after the database was replaced
SHORTEST_NOTICE = timedelta(minutes=1)  # from warning to end, also if the control plane was down at the planned time
NEEDED = frozenset({"cpu", "gpu", "ssh_sessions"})  # a simulated GPU has nothing to read


class End(Struct, frozen=True):
    note: str


class Warn(Struct, frozen=True):
    """Warn the people of an allocation; the phase is `expiry_near` or `idle`."""

    phase: str
    note: str


class Calm(Struct, frozen=True):
    """The allocation works again: the idle warning is withdrawn."""


Decision = End | Warn | Calm | None


def decide(
    row: AllocationRow, idle_since: datetime | None, now: datetime, resumed_at: datetime | None = None
) -> Decision:
    """Pure. Without `idle_since`, some signal shows work or cannot be read. `resumed_at` is when an older database
    took over, which may have lost an extension.
    """
    if row.status not in (Status.ACTIVE, Status.RESTART_FAILED):
        return None
    return _expiry(row, now, resumed_at) or _idleness(row, idle_since, now)


def _expiry(row: AllocationRow, now: datetime, resumed_at: datetime | None) -> Decision:
    if row.expires_at is None or now < row.expires_at - WARNED_BEFORE:
        return None
    resumed_at = resumed_at or row.created_at
    if row.expiry_warned_at is None or row.expiry_warned_at < resumed_at:
        return Warn("expiry_near", f"ends at {row.expires_at.isoformat(timespec='minutes')}; extend it to keep it")
    is_over = now >= max(row.expires_at, row.expiry_warned_at + notice(row, resumed_at))
    return End("the allocation reached its end") if is_over else None


def notice(row: AllocationRow, resumed_at: datetime) -> timedelta:
    """Longer if the end falls before the database was replaced: nobody could extend the allocation in the meantime."""
    is_past = row.expires_at is not None and row.expires_at < resumed_at + RESUMED_NOTICE
    return RESUMED_NOTICE if is_past and resumed_at > row.created_at else SHORTEST_NOTICE


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
        return Warn("idle", f"idle since {idle_since.isoformat(timespec='minutes')}; use it or extend it")
    is_over = now >= max(ends_at, row.idle_warned_at + SHORTEST_NOTICE)
    return End(f"idle for {row.idle_minutes} minutes") if is_over else None


def idle_since(signals: list[Signal], row: AllocationRow, resumed_at: datetime | None = None) -> datetime | None:
    """The latest work that any signal shows, but not before the boot and the last extension; None if a required
    signal cannot be read.
    """
    needed = NEEDED - {"gpu"} if row.simulated else NEEDED
    if needed - {signal.kind for signal in signals if not signal.unavailable}:
        return None
    signs = (row.status_since, row.extended_at, resumed_at, *(signal.last_at for signal in signals))
    return max(at for at in signs if at)


def idle_end(row: AllocationRow, rest: datetime | None, now: datetime) -> datetime | None:
    """Never before the notice has passed: shortening the limit of an idle allocation also warns first."""
    if rest is None or row.idle_minutes is None:
        return None
    return max(rest + timedelta(minutes=row.idle_minutes), (row.idle_warned_at or now) + SHORTEST_NOTICE)


async def limits_now(tx: Tx, row: AllocationRow, now: datetime) -> LimitsNow:
    """The limits with the time left, for people."""
    seen = await signals(tx, row.id)
    rest = idle_since(seen, row, await store.resumed_at(tx))
    ends_at = idle_end(row, rest, now)
    return LimitsNow(
        limits=limits(row),
        expires_in_seconds=(row.expires_at - now).total_seconds() if row.expires_at else None,
        idle_since=rest,
        idle_ends_at=ends_at,
        idle_ends_in_seconds=(ends_at - now).total_seconds() if ends_at else None,
        signals=[UseSignal(kind=one.kind, last_at=one.last_at, unavailable=one.unavailable) for one in seen],
    )


class LimitsWorker:
    name = "limits"
    topics = (store.LIMITS,)
    due = """
        select id from allocations where (expires_at is not null or idle_minutes is not null)
            and status in ('active', 'restart_failed')
    """  # house: project-filter because a worker handles the allocations of every project
    pause = 10.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        now = self._clock.now()
        async with self._db.write("limits") as tx:
            row = await store.get(tx, row_id)
            resumed_at = await store.resumed_at(tx)
            match decide(row, await self._rest(tx, row, resumed_at), now, resumed_at):
                case End(note):
                    await release_row(tx, row, actor=SYSTEM, reason=note, ids=self._ids, now=now)
                case Warn(phase, note):
                    await self._warn(tx, row, phase, note, now)
                case Calm():
                    await store.warned(tx, row, expiry=row.expiry_warned_at, idle=None)

    async def _rest(self, tx: Tx, row: AllocationRow, resumed_at: datetime | None) -> datetime | None:
        if row.idle_minutes is None:
            return None
        return idle_since(await signals(tx, row.id), row, resumed_at)

    async def _warn(self, tx: Tx, row: AllocationRow, phase: str, note: str, now: datetime) -> None:
        is_expiry = phase == "expiry_near"
        expiry, idle = (now, row.idle_warned_at) if is_expiry else (row.expiry_warned_at, now)
        await store.warned(tx, row, expiry=expiry, idle=idle)
        await record(tx, row.subject, NewEntry(phase=phase, at=now, actor=SYSTEM, note=note), None)
        payload = {"allocation_id": row.id, "project_id": row.project_id, "note": note}
        await publish(tx, f"allocation.{phase}", payload)
