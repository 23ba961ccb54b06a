"""Follows conformance runs until they end."""

from datetime import timedelta

from msgspec.structs import replace

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.ids import Ids
from gpuaas.domain.storage.backends import store
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.outcomes import Done, Failed, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.wire.tasks import STORAGE_CONFORMANCE, ConformStorage, TaskKind

NO_ANSWER = "the node did not answer"
TARGET = Target(task=STORAGE_CONFORMANCE)
ONCE = Retry(deadline=timedelta(minutes=15), late=NO_ANSWER)


class ConformanceWorker:
    name = "conformance"
    topics = (store.CONFORMANCE,)
    due = "select id from storage_conformance_runs where ended_at is null"
    pause = 5.0

    def __init__(self, db: Database, ids: Ids, clock: Clock) -> None:
        self._db, self._ids, self._clock = db, ids, clock

    async def __call__(self, row_id: str) -> None:
        lane, now = f"{store.CONFORMANCE}:{row_id}", self._clock.now()
        async with self._db.write("conformance") as tx:
            run, task = await store.run_of(tx, row_id), await tasks.latest_on_node(tx, lane)
            match evaluate(task, TARGET, ONCE, now, since=run.started_at):
                case Missing():
                    new = tasks.NewNodeTask(
                        id=self._ids.new("task"),
                        node_id=run.node_id,
                        operation_id=None,
                        kind=TaskKind.STORAGE_CONFORMANCE,
                        wants=ConformStorage(backend=run.backend),
                        lane=lane,
                    )
                    await tasks.queue_on_node(tx, new, now=now)
                case Done(result):
                    passed = bool(result.checks) and all(check.ok for check in result.checks)
                    await store.end_run(tx, replace(run, passed=passed, checks=result.checks, ended_at=now))
                case Failed(reason):
                    await store.end_run(tx, replace(run, passed=False, reason=reason or NO_ANSWER, ended_at=now))
                case Open() | Waiting():
                    return
