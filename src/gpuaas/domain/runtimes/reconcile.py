"""Reconciles runtimes: writes the chosen bundle into each environment, at every boot.

The allocation does not depend on its runtime: if a bundle cannot be staged, only the runtime fails.
"""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations.store import OVERLAYS
from gpuaas.domain.runtimes import store
from gpuaas.domain.runtimes.rows import Seen
from gpuaas.domain.runtimes.stagings import reconcile as stagings
from gpuaas.domain.runtimes.stagings.reconcile import Recheck
from gpuaas.domain.runtimes.store import RUNTIMES
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.domain.timeline.store import SYSTEM
from gpuaas.wire.allocations import Status
from gpuaas.wire.runtimes import NOT_STAGED, RuntimeDescriptor, RuntimeState, StagingStatus
from gpuaas.wire.tasks import WRITE_RUNTIME, Changed, TaskKind, WriteRuntime

ONCE = Retry()
OVER = (Status.RELEASING, Status.RELEASE_FAILED, Status.RELEASED, Status.FAILED)


class Stage(Struct, frozen=True):
    """The node does not have the bundle."""


class Restage(Struct, frozen=True):
    """The bundle failed or disappeared there before; stage it again."""


class Write(Struct, frozen=True):
    pass


class Await(Struct, frozen=True):
    """Staging is in progress; its phases are copied to the allocation's timeline."""


class Move(Struct, frozen=True):
    to: RuntimeState
    note: str


Decision = Stage | Restage | Recheck | Write | Await | Move | None


def decide(seen: Seen, now: datetime) -> Decision:
    """Pure: same facts, same answer. None means nothing is due."""
    row = seen.row
    is_open = row.state in (RuntimeState.APPLYING, RuntimeState.CLEARING)
    if seen.status in OVER:
        return Move(RuntimeState.FAILED, "The allocation was released before.") if is_open else None
    if seen.status is not Status.ACTIVE or not (is_open or row.observed_boot < seen.boot):
        return None
    if seen.bundle is None:
        return _after_task(seen, now, RuntimeState.CLEARED, "raw compute") if is_open else None
    return _before_write(seen) or _after_task(seen, now, RuntimeState.APPLIED, seen.bundle.name)


def _before_write(seen: Seen) -> Decision:
    """The node must have the complete bundle before the environment uses it."""
    row, staging = seen.row, seen.staging
    if staging is None or staging.status is StagingStatus.REMOVED:
        return Stage()
    if staging.status in (StagingStatus.STAGING, StagingStatus.REMOVING):
        return Await()
    if staging.status is StagingStatus.FAILED:
        return Restage() if staging.status_since < row.asked_at else Move(RuntimeState.FAILED, staging.reason)
    if row.wants_check and (staging.checked_at is None or staging.checked_at < row.asked_at):
        return Await() if seen.is_staging_busy else Recheck()
    if seen.task and _target(seen).is_of(seen.task) and seen.task.reason == NOT_STAGED:
        return Restage() if staging.status_since < (seen.task.ended_at or row.asked_at) else Write()
    return None


def _target(seen: Seen) -> Target[Changed]:
    return Target(task=WRITE_RUNTIME, operation_id=seen.row.operation_id, boot=seen.boot)


def _after_task(seen: Seen, now: datetime, reached: RuntimeState, note: str) -> Decision:
    match evaluate(seen.task, _target(seen), ONCE, now):
        case Missing():
            return Write()
        case Done():
            return Move(reached, note)
        case Failed(reason):
            return Move(RuntimeState.FAILED, reason or "The node could not complete the task.")
        case Open() | Waiting():
            return None


class RuntimeWorker:
    """Reconciles allocations that have, or had, a runtime."""

    name = "runtimes"
    topics = (RUNTIMES, OVERLAYS)
    due = """
        select r.allocation_id as id from allocation_runtimes r join allocations a on a.id = r.allocation_id
        where r.state in ('applying', 'clearing') and a.status not in ('requested', 'provisioning', 'restarting')
        union
        select r.allocation_id from allocation_runtimes r join allocations a on a.id = r.allocation_id
        where a.status = 'active' and r.observed_boot < a.boot and r.bundle_id is not null
    """
    pause = 2.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        async with self._db.read() as tx:
            seen = await store.look(tx, row_id)
        now = self._clock.now()
        decision = decide(seen, now)
        if decision is None:
            return
        async with self._db.write(f"{type(decision).__name__} runtime") as tx:
            if seen.staging is not None:
                await store.copy_phases(tx, seen.row, seen.staging.operation_id)
            match decision:
                case Stage():
                    bundle_id = seen.row.bundle_id or ""
                    await stagings.begin(tx, seen.node_id, bundle_id, requested_by=SYSTEM, ids=self._ids, now=now)
                case Restage() if seen.staging:
                    await stagings.restage(tx, seen.staging, ids=self._ids, now=now)
                case Recheck() if seen.staging:
                    await stagings.recheck(tx, seen.staging, ids=self._ids, now=now)
                case Write():
                    await self._write(tx, seen, now)
                case Move(to, note):
                    await self._move(tx, seen, to, note, now)
                case _:
                    pass

    async def _write(self, tx: Tx, seen: Seen, now: datetime) -> None:
        bundle, descriptor = seen.bundle, None
        if bundle is not None:
            descriptor = RuntimeDescriptor(
                bundle_id=bundle.id,
                slug=bundle.slug,
                version=bundle.version,
                digest=bundle.digest,
                runtime_family=bundle.runtime_family,
            )
        task = tasks.NewTask(
            id=self._ids.new("task"),
            node_id=seen.node_id,
            allocation_id=seen.row.allocation_id,
            operation_id=seen.row.operation_id,
            boot=seen.boot,
            kind=TaskKind.WRITE_RUNTIME,
            wants=WriteRuntime(descriptor=descriptor),
            lane=RUNTIMES,
        )
        await tasks.queue(tx, task, version=seen.allocation_version, now=now)

    async def _move(self, tx: Tx, seen: Seen, to: RuntimeState, note: str, now: datetime) -> None:
        evidence: dict[str, object] = {"boot": seen.boot}
        if to is RuntimeState.APPLIED and seen.bundle:
            evidence |= {"bundle": seen.bundle.slug, "version": seen.bundle.version, "digest": seen.bundle.digest}
        await store.move(tx, seen.row, to, boot=seen.boot, note=note, evidence=evidence, now=now)
