"""Sees conformance runs to their end."""

from datetime import timedelta

from msgspec.structs import replace

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.ids import Ids
from gpuaas.domain.storage.backends import store
from gpuaas.domain.tasks import store as tasks
from gpuaas.wire.link import ConformStorage, TaskKind, TaskStatus

PATIENCE = timedelta(minutes=15)


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
            if task is None:
                new = tasks.NewNodeTask(
                    id=self._ids.new("task"),
                    node_id=run.node_id,
                    operation_id=None,
                    kind=TaskKind.STORAGE_CONFORMANCE,
                    wants=ConformStorage(backend=run.backend),
                    lane=lane,
                )
                await tasks.queue_on_node(tx, new, now=now)
            elif task.is_open and now - run.started_at < PATIENCE:
                return
            elif task.status == TaskStatus.DONE and task.result:
                checks = task.result.checks
                passed = bool(checks) and all(check.ok for check in checks)
                await store.end_run(tx, replace(run, passed=passed, checks=checks, ended_at=now))
            else:
                reason = task.reason or "the node did not answer"
                await store.end_run(tx, replace(run, passed=False, reason=reason, ended_at=now))
