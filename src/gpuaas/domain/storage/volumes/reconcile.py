"""Reconciles volumes and snapshots, with one task at a time on a node that can reach them."""

from datetime import datetime, timedelta

from msgspec import Struct, to_builtins

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.storage.attachments.store import ATTACHMENTS
from gpuaas.domain.storage.volumes import store
from gpuaas.domain.storage.volumes.store import SnapshotRow, VolumeRow
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import SYSTEM
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.link import TaskStatus
from gpuaas.wire.storage import SnapshotStatus, VolumeRef, VolumeStatus
from gpuaas.wire.tasks import (
    VOLUME_DELETE,
    VOLUME_ENSURE,
    VOLUME_SNAPSHOT,
    DeleteVolume,
    EnsureVolume,
    MeasureVolume,
    SnapshotVolume,
    TaskContract,
    TaskKind,
)

AboutVolume = TaskContract[Struct, Struct]
ONCE = Retry()
MEASURE_AGAIN_AFTER = timedelta(minutes=1)  # after a failed measurement


class Ask(Struct, frozen=True):
    pass


class Become(Struct, frozen=True):
    succeeded: bool
    note: str


Decision = Ask | Become | None


def decide(kind: AboutVolume, operation_id: str, task: TaskRow | None, now: datetime) -> Decision:
    """Pure. One kind of task completes the operation; an earlier task of the lane is waited for."""
    target = Target(task=kind, operation_id=operation_id, shares_lane=True)
    match evaluate(task, target, ONCE, now):
        case Missing():
            return Ask()
        case Done():
            return Become(True, "")
        case Failed(reason):
            return Become(False, reason or "the node could not complete the task")
        case Open() | Waiting():
            return None


def has_record(task: TaskRow, row: VolumeRow) -> bool:
    """Whether the task wrote the current ownership record."""
    return bool(task.wants.get("ownership") == to_builtins(row.ownership))


class Lone:
    """The common part of both workers: choose a node and queue a task there."""

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def _ask(self, tx: Tx, volume: VolumeRow, operation_id: str | None, task: "New", now: datetime) -> None:
        """If no node is online, a later pass asks again."""
        node_id = volume.node_id or await store.a_node(tx, volume.backend)
        if node_id is None:
            return
        new = tasks.NewNodeTask(
            id=self._ids.new("task"),
            node_id=node_id,
            operation_id=operation_id,
            kind=task.kind,
            wants=task.wants,
            lane=task.lane,
        )
        await tasks.queue_on_node(tx, new, now=now)


class New(Struct, frozen=True):
    kind: TaskKind
    wants: Struct
    lane: str


class VolumeWorker(Lone):
    name = "volumes"
    topics = (store.VOLUMES,)
    due = """
        select id from volumes where status in ('creating', 'deleting')
        union all
        select v.id from volumes v where v.status = 'available' and v.used_at < clock_timestamp() - interval '5 minutes'
            and exists (select from storage_attachments t where t.volume_id = v.id and t.status = 'attached')
        union all
        select id from volumes where record_stale_since is not null and status = 'available'
    """
    pause = 5.0

    async def __call__(self, row_id: str) -> None:
        lane, now = f"{store.VOLUMES}:{row_id}", self._clock.now()
        async with self._db.write() as tx:
            row, task = await store.volume(tx, row_id), await tasks.latest_on_node(tx, lane)
            if row.status is VolumeStatus.AVAILABLE:
                await self._measure(tx, row, task, lane, now)
                return
            is_new = row.status is VolumeStatus.CREATING
            kind: AboutVolume = VOLUME_ENSURE if is_new else VOLUME_DELETE
            tx.what = f"{kind.kind} {row.status}"
            match decide(kind, row.operation_id, task, now):
                case Ask():
                    wants = DeleteVolume(volume=row.ref)
                    ensure = EnsureVolume(volume=row.ref, snapshot_id=row.snapshot_id, ownership=row.ownership)
                    new = New(kind.kind, ensure if is_new else wants, lane)
                    await self._ask(tx, row, row.operation_id, new, now)
                case Become(succeeded, note):
                    await self._become(tx, row, task, now, succeeded=succeeded, note=note)

    async def _measure(self, tx: Tx, row: VolumeRow, task: TaskRow | None, lane: str, now: datetime) -> None:
        if task and task.is_open:
            return
        seen = task.result.volume if task and task.result else None
        if task and seen:
            since = row.record_stale_since
            is_kept = since is not None and task.created_at >= since and has_record(task, row)
            if is_kept or row.used_at is None or seen.at > row.used_at:
                await store.measured(tx, row.id, seen)
                if is_kept:
                    await store.record_kept(tx, row)
                return
        if task and task.status == TaskStatus.FAILED and now - (task.ended_at or now) < MEASURE_AGAIN_AFTER:
            return
        wants = MeasureVolume(volume=row.ref, ownership=row.ownership)
        await self._ask(tx, row, None, New(TaskKind.VOLUME_MEASURE, wants, lane), now)

    async def _become(
        self, tx: Tx, row: VolumeRow, task: TaskRow | None, now: datetime, *, succeeded: bool, note: str
    ) -> None:
        if row.status is VolumeStatus.CREATING:
            to = VolumeStatus.AVAILABLE if succeeded else VolumeStatus.FAILED
        else:
            proofs = task.result.proofs if task and task.result else []
            succeeded = succeeded and bool(proofs) and all(proof.ok for proof in proofs)
            note = note or ("all its data is erased" if succeeded else "its deletion could not be proven")
            to = VolumeStatus.DELETED if succeeded else VolumeStatus.DELETE_FAILED
            await store.deleted(tx, row, proofs)
        await store.move_volume(tx, row, to, Act(actor=SYSTEM, now=now, note=note))
        if task and task.result and task.result.volume:
            await store.measured(tx, row.id, task.result.volume)
        for attachment in row.attachments:
            tx.hint(ATTACHMENTS, attachment.allocation_id)


class SnapshotWorker(Lone):
    name = "snapshots"
    topics = (store.SNAPSHOTS,)
    due = "select id from volume_snapshots where status in ('creating', 'deleting')"
    pause = 5.0

    async def __call__(self, row_id: str) -> None:
        lane, now = f"{store.SNAPSHOTS}:{row_id}", self._clock.now()
        async with self._db.write() as tx:
            row, task = await store.snapshot(tx, row_id), await tasks.latest_on_node(tx, lane)
            volume = await store.volume(tx, row.volume_id)
            is_new = row.status is SnapshotStatus.CREATING
            kind: AboutVolume = VOLUME_SNAPSHOT if is_new else VOLUME_DELETE
            tx.what = f"{kind.kind} {row.status}"
            match decide(kind, row.operation_id, task, now):
                case Ask():
                    ref = VolumeRef(volume_id=row.id, backend=volume.backend, size_gib=volume.size_gib)
                    take = SnapshotVolume(volume=volume.ref, snapshot_id=row.id)
                    new = New(kind.kind, take if is_new else DeleteVolume(volume=ref), lane)
                    await self._ask(tx, volume, row.operation_id, new, now)
                case Become(succeeded, note):
                    await self._become(tx, row, task, now, succeeded=succeeded, note=note)

    async def _become(
        self, tx: Tx, row: SnapshotRow, task: TaskRow | None, now: datetime, *, succeeded: bool, note: str
    ) -> None:
        done = SnapshotStatus.READY if row.status is SnapshotStatus.CREATING else SnapshotStatus.DELETED
        result = task.result if task else None
        change = store.SnapshotChange(
            size_bytes=result.volume.used_bytes if result and result.volume else None,
            consistency=result.note if result and result.note else None,
        )
        act, to = Act(actor=SYSTEM, now=now, note=note), done if succeeded else SnapshotStatus.FAILED
        await store.move_snapshot(tx, row, to, act, change, operation=OperationChange(reason=note))
