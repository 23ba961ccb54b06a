"""The registrations of allocations and unknown environments."""

from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.limits import LimitsWorker
from gpuaas.domain.allocations.observations.reach import ReachWorker
from gpuaas.domain.allocations.reconcile import AllocationWorker
from gpuaas.domain.allocations.unknown import store as unknown
from gpuaas.domain.allocations.unknown.reconcile import UnknownEnvironmentWorker
from gpuaas.domain.tasks.registration import Resource
from gpuaas.domain.tasks.store import ENVIRONMENT
from gpuaas.wire.tasks import ENSURE, REMOVE, REMOVE_UNKNOWN

ALLOCATIONS = Resource(
    name="allocations",
    workers=(lambda parts: AllocationWorker(parts.db, parts.ids, parts.clock),),
    tasks=(ENSURE, REMOVE),
    lanes={ENVIRONMENT: store.ALLOCATIONS},
    tables=("allocations", "resizes"),
    actions=("create", "restart", "resize", "release"),
)
REACH = Resource(name="reach", workers=(lambda parts: ReachWorker(parts.db, parts.clock),))
LIMITS = Resource(
    name="limits",
    workers=(lambda parts: LimitsWorker(parts.db, parts.ids, parts.clock),),
    actions=("extend",),
)
UNKNOWN_ENVIRONMENTS = Resource(
    name="unknown_environments",
    workers=(lambda parts: UnknownEnvironmentWorker(parts.db, parts.ids, parts.clock),),
    tasks=(REMOVE_UNKNOWN,),
    lanes={unknown.UNKNOWN: unknown.UNKNOWN},
    tables=("unknown_environments",),
)
