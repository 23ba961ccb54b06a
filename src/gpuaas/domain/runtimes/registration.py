"""The registrations of runtimes on allocations and of bundles on nodes."""

from gpuaas.domain.runtimes import store
from gpuaas.domain.runtimes.reconcile import RuntimeWorker
from gpuaas.domain.runtimes.stagings.reconcile import StagingWorker
from gpuaas.domain.tasks.registration import Overlay, Resource
from gpuaas.wire.tasks import STAGE_RUNTIME, UNSTAGE_RUNTIME, WRITE_RUNTIME

RUNTIMES = Overlay(
    name="runtimes",
    workers=(lambda parts: RuntimeWorker(parts.db, parts.ids, parts.clock),),
    tasks=(WRITE_RUNTIME,),
    lanes={store.RUNTIMES: store.RUNTIMES},
    tables=("allocation_runtimes",),
    actions=("apply", "clear_runtime"),
)
STAGINGS = Resource(
    name="stagings",
    workers=(lambda parts: StagingWorker(parts.db, parts.ids, parts.clock),),
    tasks=(STAGE_RUNTIME, UNSTAGE_RUNTIME),
    lanes={store.STAGINGS: store.STAGINGS},
    tables=("node_bundles",),
    actions=("stage", "unstage"),
)
