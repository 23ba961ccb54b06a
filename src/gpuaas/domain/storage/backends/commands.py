"""Commands of operators on storage backends: test whether a backend has its declared properties."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage.backends import store
from gpuaas.domain.timeline.store import Subject, audit
from gpuaas.wire.storage import Backend, ConformanceRun


async def run_conformance(
    tx: Tx, caller: Caller, backend: Backend, node_id: str, *, ids: Ids, now: datetime
) -> ConformanceRun:
    caller.require_platform(Permission.FLEET_OPERATE)
    await capacity.node(tx, node_id)
    run = ConformanceRun(
        id=ids.new("conf"),
        backend=backend,
        node_id=node_id,
        requested_by=caller.actor,
        started_at=now,
        ended_at=None,
        passed=None,
        reason="",
        checks=[],
    )
    await store.add_run(tx, run)
    subject = Subject(kind="storage_backend", id=backend)
    await audit(tx, subject, "storage.conformance", actor=caller.actor, at=now, facts={"node_id": node_id})
    return run
