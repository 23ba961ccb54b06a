"""Follows the removal of unknown environments until it is proven."""

from datetime import datetime, timedelta

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations.unknown import store
from gpuaas.domain.allocations.unknown.store import UNKNOWN, UnknownRow
from gpuaas.domain.capacity.store import CAPACITY
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Missing, Retry, Target, evaluate
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import NewEntry, audit, record
from gpuaas.wire.tasks import REMOVE_UNKNOWN, RemoveUnknown, TaskKind
from gpuaas.wire.timeline import Outcome

TARGET = Target(task=REMOVE_UNKNOWN, is_proof_needed=True)
UNTIL_PROVEN = Retry(first=timedelta(seconds=30), tries=None)


class UnknownEnvironmentWorker:
    name = "unknown_environments"
    topics = (UNKNOWN,)
    due = """
        select id from unknown_environments
        where removal_requested_at is not null and removed_at is null and adopted_at is null
    """
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        now, lane = self._clock.now(), f"{UNKNOWN}:{row_id}"
        async with self._db.write("remove unknown") as tx:
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

    async def _keep_note(self, tx: Tx, row: UnknownRow, task: TaskRow) -> None:
        """Store why it still exists, for the operator who requested the removal."""
        note = task.reason or "the node did not prove that it is gone"
        if note != row.removal_note:
            await store.note_removal(tx, row, note, task.result.proofs if task.result else [])

    async def _ask(self, tx: Tx, row: UnknownRow, lane: str, now: datetime) -> None:
        wants = RemoveUnknown(environment_id=row.environment_id, host_key=row.environment.host_key)
        task = tasks.NewNodeTask(
            id=self._ids.new("task"),
            node_id=row.node_id,
            operation_id=None,
            kind=TaskKind.REMOVE_UNKNOWN,
            wants=wants,
            lane=lane,
        )
        await tasks.queue_on_node(tx, task, now=now)

    async def _settle(self, tx: Tx, row: UnknownRow, task: TaskRow, now: datetime) -> None:
        proofs = task.result.proofs if task.result else []
        await store.removed(tx, row, proofs, now)
        evidence = {"environment": row.environment_id, **{proof.item: proof.evidence for proof in proofs}}
        actor = row.removal_requested_by or ""
        entry = NewEntry(phase="environment_removed", outcome=Outcome.DONE, at=now, actor=actor, evidence=evidence)
        await record(tx, row.subject, entry, None)
        await audit(tx, row.subject, "environment.unknown_removed", actor=actor, at=now, facts=evidence)
        tx.hint(CAPACITY, row.node_id)
