"""Ends connections on request: one task in one lane for each."""

from datetime import datetime, timedelta

from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.store import OVERLAYS, AllocationRow
from gpuaas.domain.sessions import store
from gpuaas.domain.sessions.store import SESSIONS, WantedEnd
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.domain.timeline.store import end_operation
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import ENVIRONMENT_REMOVED
from gpuaas.wire.tasks import END_SESSION, EndSession, TaskKind
from gpuaas.wire.timeline import OperationStatus

ONCE = Retry(first=timedelta(seconds=2))


class Finish(Struct, frozen=True):
    status: OperationStatus
    reason: str = ""


class Queue(Struct, frozen=True):
    pass


def decide(status: Status, wanted: WantedEnd, now: datetime) -> Finish | Queue | None:
    """Pure: same facts, same answer. None means nothing is due."""
    if status is not Status.ACTIVE:
        return Finish(OperationStatus.SUCCEEDED, "the allocation is not running, so it has no connections")
    if wanted.task and wanted.task.reason == ENVIRONMENT_REMOVED:
        return Finish(OperationStatus.SUCCEEDED, wanted.task.reason)
    match evaluate(wanted.task, Target(task=END_SESSION), ONCE, now):
        case Missing():
            return Queue()
        case Done():
            return Finish(OperationStatus.SUCCEEDED)
        case Failed(reason):
            return Finish(OperationStatus.FAILED, reason or "The node could not end it.")
        case Open() | Waiting():
            return None


class SessionsWorker:
    """Reconciles allocations with connections to end."""

    name = "sessions"
    topics = (SESSIONS, OVERLAYS)
    due = "select distinct allocation_id as id from session_ends"
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        now = self._clock.now()
        async with self._db.write("end sessions") as tx:
            row = await allocations.get(tx, row_id)
            for wanted in await store.wanted_ends(tx, row_id):
                match decide(row.status, wanted, now):
                    case Queue():
                        await self._queue(tx, row, wanted, now)
                    case Finish(status, reason):
                        await end_operation(tx, wanted.operation_id, status, reason=reason, now=now)
                        await store.forget_end(tx, row_id, wanted.session_id)
                    case None:
                        pass

    async def _queue(self, tx: Tx, row: AllocationRow, wanted: WantedEnd, now: datetime) -> None:
        task = tasks.NewTask(
            id=self._ids.new("task"),
            node_id=row.node_id,
            allocation_id=row.id,
            operation_id=wanted.operation_id,
            boot=row.boot,
            kind=TaskKind.END_SESSION,
            wants=EndSession(session_id=wanted.session_id, reason=wanted.reason),
            lane=f"{SESSIONS}:{wanted.session_id}",
        )
        await tasks.queue(tx, task, version=row.version, now=now)
