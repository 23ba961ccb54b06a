"""Reconciles attachments: mount, mount again after a restart, unmount. The decision is pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog
from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations.store import OVERLAYS
from gpuaas.domain.storage.attachments import store
from gpuaas.domain.storage.attachments.store import Change, Machine, Wanted
from gpuaas.domain.storage.volumes import store as volumes
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.domain.timeline.store import SYSTEM
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import EnvironmentState
from gpuaas.wire.link import ENVIRONMENT_REMOVED, Report
from gpuaas.wire.storage import AttachmentStatus, VolumeStatus, WantedMount
from gpuaas.wire.tasks import VOLUME_ATTACH, VOLUME_DETACH, AttachVolumeTo, DetachVolumeFrom, TaskKind
from gpuaas.wire.timeline import OperationStatus

ONCE = Retry(first=timedelta(seconds=5))
UNTIL_DONE = Retry(first=timedelta(seconds=5), tries=None)
SLACK = timedelta(seconds=2)  # a report is judged only against states that were settled well before it
GOING = (Status.RELEASING, Status.RELEASE_FAILED)
log = structlog.get_logger()
LOST = (VolumeStatus.FAILED, VolumeStatus.DELETING, VolumeStatus.DELETED, VolumeStatus.DELETE_FAILED)


class Queue(Struct, frozen=True):
    kind: TaskKind
    force: bool = False


class Move(Struct, frozen=True):
    """`again`: the worker starts this, so it needs a new operation."""

    to: AttachmentStatus
    note: str
    observed_boot: int | None = None
    forced: bool = False
    again: bool = False


Decision = Queue | Move | None


def decide(machine: Machine, wanted: Wanted, now: datetime) -> Decision:  # noqa: PLR0911 - one line a case
    """Pure: same facts, same answer. None means nothing is due."""
    row = wanted.row
    if machine.is_cleaned or machine.status is Status.RELEASED:
        return Move(AttachmentStatus.DETACHED, "the environment is proven removed")
    if machine.status is Status.FAILED:
        return None  # a lost writer counts until its environment is proven removed
    if machine.status in GOING:
        return _let_go(wanted, now)
    match row.status:
        case AttachmentStatus.DETACHING:
            return _detach(wanted, now, force=row.forced)
        case AttachmentStatus.ATTACHING:
            return _attach(machine, wanted, now) if machine.status is Status.ACTIVE else None
        case AttachmentStatus.ATTACHED | AttachmentStatus.DETACH_FAILED:
            # A failed detach is finished: the person was informed that the volume stays, so a boot mounts it again
            # too.
            is_due = machine.status is Status.ACTIVE and row.observed_boot < machine.boot
            note = f"again, after boot {machine.boot}"
            return Move(AttachmentStatus.ATTACHING, note, again=True) if is_due else None
        case _:
            return None


def _attach(machine: Machine, wanted: Wanted, now: datetime) -> Decision:
    if wanted.volume.status in LOST:
        return Move(AttachmentStatus.FAILED, wanted.volume.status_reason or f"the volume is {wanted.volume.status}")
    if wanted.volume.status is not VolumeStatus.AVAILABLE:
        return None
    target = Target(task=VOLUME_ATTACH, boot=machine.boot, shares_lane=True)
    retry = UNTIL_DONE if wanted.row.observed_boot else ONCE  # a person relies on a volume that was mounted before
    match evaluate(wanted.task, target, retry, now):
        case Missing():
            return Queue(TaskKind.VOLUME_ATTACH)
        case Done():
            return Move(AttachmentStatus.ATTACHED, f"at {wanted.row.mount_path}", observed_boot=machine.boot)
        case Failed(reason):
            return Move(AttachmentStatus.FAILED, reason or "the node could not mount it")
        case Open() | Waiting():
            return None


def _let_go(wanted: Wanted, now: datetime) -> Decision:
    """The allocation is being released: processes that use the volume end anyway, so unmount it by force, and
    cleanly.
    """
    if wanted.row.status is AttachmentStatus.DETACHING:
        return _detach(wanted, now, force=True)
    if wanted.task is None and not wanted.row.observed_boot:
        return Move(AttachmentStatus.DETACHED, "it was never mounted")
    return Move(AttachmentStatus.DETACHING, "the allocation is being released", forced=True, again=True)


def _detach(wanted: Wanted, now: datetime, *, force: bool) -> Decision:  # noqa: PLR0911 - one line a case
    task, queue = wanted.task, Queue(TaskKind.VOLUME_DETACH, force=force)
    target = Target(task=VOLUME_DETACH)
    if task and target.is_of(task) and task.reason == ENVIRONMENT_REMOVED:
        # The database may have lost the writes of a release that removed the environment, and its mounts.
        return Move(AttachmentStatus.DETACHED, task.reason)
    is_other = task is not None and force != bool(task.wants.get("force"))
    match evaluate(task, target, UNTIL_DONE if force else ONCE, now):
        case Open():  # wait for it, forced or not
            return None
        case Done(result):
            return Move(AttachmentStatus.DETACHED, result.note)
        case Missing():
            return queue
        case Failed() | Waiting() if is_other:
            return queue
        case Failed(reason):
            return Move(AttachmentStatus.DETACH_FAILED, reason or "the node could not unmount it")
        case Waiting():
            return None


class AttachmentWorker:
    """Handles all attachments of one allocation."""

    name = "attachments"
    topics = (store.ATTACHMENTS, OVERLAYS)
    due = """
        select distinct t.allocation_id as id from storage_attachments t join allocations a on a.id = t.allocation_id
        where t.status not in ('detached', 'failed') and (t.status in ('attaching', 'detaching')
            or a.status in ('releasing', 'release_failed', 'released', 'failed')
            or (a.status = 'active' and t.observed_boot < a.boot))
    """
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        async with self._db.read() as tx:
            look = await store.look(tx, row_id)
        machine = look.machine
        for wanted in look.wanted:
            now = self._clock.now()
            decision = decide(machine, wanted, now)
            if decision is not None:
                async with self._db.write(f"{type(decision).__name__} attachment {wanted.row.status}") as tx:
                    await self._act(tx, machine, wanted, decision, now)

    async def _act(self, tx: Tx, machine: Machine, wanted: Wanted, decision: Queue | Move, now: datetime) -> None:
        match decision:
            case Queue(kind, force):
                task = tasks.NewTask(
                    id=self._ids.new("task"),
                    node_id=machine.node_id,
                    allocation_id=machine.id,
                    operation_id=wanted.row.operation_id,
                    boot=machine.boot,
                    kind=kind,
                    wants=_wants(wanted, kind, force=force),
                    lane=f"{store.ATTACHMENTS}:{wanted.volume.id}",
                )
                await tasks.queue(tx, task, version=machine.version, now=now)
            case Move():
                await self._move(tx, wanted, decision, now)

    async def _move(self, tx: Tx, wanted: Wanted, move: Move, now: datetime) -> None:
        row = wanted.row
        again = "attach" if move.to is AttachmentStatus.ATTACHING else "detach"
        change = Change(
            operation_id=self._ids.new("op") if move.again else None,
            observed_boot=move.observed_boot,
            forced=move.forced,
            ended=OperationStatus.SUCCEEDED if _is_success(row.status, move.to) else OperationStatus.FAILED,
            started=again if move.again else None,
        )
        await store.move(tx, row, move.to, actor=SYSTEM, note=move.note, now=now, change=change)
        if wanted.task and wanted.task.result and wanted.task.result.volume:
            await volumes.measured(tx, row.volume_id, wanted.task.result.volume)


def _is_success(here: AttachmentStatus, to: AttachmentStatus) -> bool:
    """The result of the operation in progress so far."""
    if here is AttachmentStatus.ATTACHING:
        return to is AttachmentStatus.ATTACHED
    return to not in (AttachmentStatus.DETACH_FAILED, AttachmentStatus.FAILED)


def _wants(wanted: Wanted, kind: TaskKind, *, force: bool) -> AttachVolumeTo | DetachVolumeFrom:
    row, ref = wanted.row, wanted.volume.ref
    if kind is TaskKind.VOLUME_DETACH:
        return DetachVolumeFrom(volume=ref, mount_path=row.mount_path, force=force)
    return AttachVolumeTo(mount=WantedMount(volume=ref, mount_path=row.mount_path, access_mode=row.access_mode))


async def observe(tx: Tx, reports: Mapping[str, Report], /, *, ids: Ids, now: datetime) -> None:
    """Compare reported mounts with the attachments, and mount again what is missing."""
    found, running = set(), {}
    for report in reports.values():
        for here in report.environments:
            if here.state is EnvironmentState.RUNNING:
                running[here.allocation_id, here.boot] = report.at
            found |= {(here.allocation_id, mount.volume_id, mount.mount_path) for mount in here.mounts}
    for row in await store.attached_on_nodes(tx, list(reports)):
        at = running.get((row.allocation_id, row.observed_boot))
        if at is None or row.status_since + SLACK > at:
            continue
        if (row.allocation_id, row.volume_id, row.mount_path) in found:
            await store.seen_attached(tx, row.id, row.observed_boot, at)
            continue
        log.warning("volume.mount_gone", attachment=row.id)
        change = Change(operation_id=ids.new("op"), started="attach")
        note = "the mount was gone; it is mounted again"
        await store.move(tx, row, AttachmentStatus.ATTACHING, actor=SYSTEM, note=note, now=now, change=change)
