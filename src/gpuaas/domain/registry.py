"""All registered resources. A new overlay needs one package with a registration, and one line here.

The server, node links and tests derive their lists from this one.
"""

from collections.abc import Mapping
from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.core.work import Worker
from gpuaas.domain.access.registration import ACCESS
from gpuaas.domain.allocations.registration import ALLOCATIONS, LIMITS, REACH, UNKNOWN_ENVIRONMENTS
from gpuaas.domain.runtimes.registration import RUNTIMES, STAGINGS
from gpuaas.domain.sessions.registration import CONNECTIONS
from gpuaas.domain.storage.registration import ATTACHMENTS, CONFORMANCE, SNAPSHOTS, UNKNOWN_VOLUMES, VOLUMES
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.registration import Overlay, Resource, WorkerParts
from gpuaas.domain.terminals.registration import TERMINALS
from gpuaas.wire.link import Report

OVERLAYS: tuple[Overlay, ...] = (ACCESS, CONNECTIONS, RUNTIMES, ATTACHMENTS, TERMINALS)
RESOURCES: tuple[Resource, ...] = (
    ALLOCATIONS,
    REACH,
    LIMITS,
    *OVERLAYS,
    STAGINGS,
    VOLUMES,
    SNAPSHOTS,
    CONFORMANCE,
    UNKNOWN_ENVIRONMENTS,
    UNKNOWN_VOLUMES,
)
TOPICS: Mapping[str, str] = {lane: topic for each in RESOURCES for lane, topic in each.lanes.items()}
SWEEPS: tuple[str, ...] = (*tasks.SWEEPS, *(statement for each in RESOURCES for statement in each.sweeps))


def workers(parts: WorkerParts) -> tuple[Worker, ...]:
    return tuple(make(parts) for each in RESOURCES for make in each.workers)


def topic_of(lane: str) -> str | None:
    """The topic of the worker that waits for tasks of this lane; None for a lane of another server version."""
    return TOPICS.get(lane.partition(":")[0])


async def observe(tx: Tx, reports: Mapping[str, Report], *, ids: Ids, now: datetime) -> None:
    """Pass reports, one per node, to every package that registered for them."""
    for each in RESOURCES:
        if each.observe is not None:
            await each.observe(tx, reports, ids=ids, now=now)
