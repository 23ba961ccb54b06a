"""Compares the volumes that nodes report with the database, and follows removals until they are proven."""

from datetime import datetime, timedelta

import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.storage.unknown import store
from gpuaas.domain.storage.unknown.store import SHARED, UNKNOWN_VOLUMES, NewSighting, UnknownVolumeRow
from gpuaas.domain.storage.volumes.store import VOLUMES
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Missing, Retry, Target, evaluate
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import NewEntry, audit, record
from gpuaas.wire.storage import Backend, VolumeReport, VolumeStatus
from gpuaas.wire.tasks import VOLUME_REMOVE_UNKNOWN, RemoveUnknownVolume, TaskKind
from gpuaas.wire.timeline import Outcome

TARGET = Target(task=VOLUME_REMOVE_UNKNOWN, is_proof_needed=True)
UNTIL_PROVEN = Retry(first=timedelta(seconds=30), tries=None)
log = structlog.get_logger()


async def observe(tx: Tx, node_id: str, report: VolumeReport, *, ids: Ids, now: datetime) -> None:
    """Store one part of a node's report. A report never deletes anything: an unknown volume is listed, and an
    ownership record that differs from the database is written again.
    """
    known = await store.known(tx, [one.volume_id for one in report.volumes])
    unknown: dict[tuple[str, str], NewSighting] = {}
    stale: list[str] = []
    for seen in report.volumes:
        volume = known.get(seen.volume_id)
        if volume is None:
            place = SHARED if seen.backend is Backend.SHARED else node_id
            mounted_in = report.mounted.get(seen.volume_id, [])
            unknown[place, seen.volume_id] = NewSighting(ids.new("unknown"), place, seen, mounted_in)
        elif volume.status is VolumeStatus.AVAILABLE and volume.ownership != seen.ownership:
            stale.append(volume.id)
    if stale:
        await store.mark_stale(tx, stale, now)
        for volume_id in stale:
            tx.hint(VOLUMES, volume_id)
    if unknown:
        log.warning("node.unknown_volumes", node=node_id, volumes=len(unknown))
        await store.observe(tx, node_id, list(unknown.values()), at=report.at, now=now)
    if report.is_last:
        await store.complete(tx, node_id, at=report.at, now=now)


class UnknownVolumeWorker:
    name = "unknown_volumes"
    topics = (UNKNOWN_VOLUMES,)
    due = """
        select id from unknown_volumes
        where removal_requested_at is not null and removed_at is null and adopted_at is null
    """
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        now, lane = self._clock.now(), f"{UNKNOWN_VOLUMES}:{row_id}"
        async with self._db.write("remove unknown volume") as tx:
            row, task = await store.get(tx, row_id), await tasks.latest_on_node(tx, lane)
            if row.removed_at is not None or row.is_known:
                return
            outcome = evaluate(task, TARGET, UNTIL_PROVEN, now)
            if task and isinstance(outcome, Done):
                await self._settle(tx, row, task, now)
                return
            if task and not task.is_open:
                await self._keep_note(tx, row, task)
            if outcome == Missing():
                await self._ask(tx, row, lane, now)

    async def _keep_note(self, tx: Tx, row: UnknownVolumeRow, task: TaskRow) -> None:
        """Store why it still exists, for the operator who requested the removal."""
        note = task.reason or "the node did not prove that it is gone"
        if note != row.removal_note:
            await store.note_removal(tx, row, note, task.result.proofs if task.result else [])

    async def _ask(self, tx: Tx, row: UnknownVolumeRow, lane: str, now: datetime) -> None:
        """Ask one node that sees the volume; if no node sees it, a later pass asks."""
        node_id = await store.node_for_removal(tx, row)
        if node_id is None:
            return
        task = tasks.NewNodeTask(
            id=self._ids.new("task"),
            node_id=node_id,
            operation_id=None,
            kind=TaskKind.VOLUME_REMOVE_UNKNOWN,
            wants=RemoveUnknownVolume(volume=row.ref, ownership=row.seen.ownership),
            lane=lane,
        )
        await tasks.queue_on_node(tx, task, now=now)

    async def _settle(self, tx: Tx, row: UnknownVolumeRow, task: TaskRow, now: datetime) -> None:
        proofs = task.result.proofs if task.result else []
        await store.removed(tx, row, proofs, now)
        evidence = {"volume": row.volume_id, **{proof.item: proof.evidence for proof in proofs}}
        actor, subject = row.removal_requested_by or "", row.subject(task.node_id)
        entry = NewEntry(phase="volume_removed", outcome=Outcome.DONE, at=now, actor=actor, evidence=evidence)
        await record(tx, subject, entry, None)
        await audit(tx, subject, "volume.unknown_removed", actor=actor, at=now, facts=evidence)
