"""Operators: the workers of the control plane."""

from litestar import Router, get, post

from gpuaas.api.deps import Context
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.errors import InsufficientPermissions, NotFound
from gpuaas.core.work import Worker
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.workers import store
from gpuaas.wire.common import Page
from gpuaas.wire.work import SwitchWorker, WorkerStatus

CHANGE = problems(NotFound, InsufficientPermissions)


def named(services: Services, name: str) -> Worker | None:
    return next((worker for worker in services.workers if worker.name == name), None)


@get("/admin/workers", responses=problems(InsufficientPermissions))
async def list_workers(context: Context) -> Page[WorkerStatus]:
    """Each worker with the number of rows that are due, in progress and failing, and whether it is disabled."""
    context.caller.require_platform(Permission.FLEET_READ)
    return Page(items=await store.statuses(context.tx, context.services.workers))


@post("/admin/workers/{worker:str}/disable", status_code=200, responses=CHANGE)
async def disable_worker(worker: str, data: SwitchWorker, context: Context) -> WorkerStatus:
    """Stop a worker on every replica, without a restart; for emergencies."""
    return await store.switch(
        context.tx, context.caller, named(context.services, worker), on=False, reason=data.reason, now=context.now
    )


@post("/admin/workers/{worker:str}/enable", status_code=200, responses=CHANGE)
async def enable_worker(worker: str, data: SwitchWorker, context: Context) -> WorkerStatus:
    """Start a worker again; it catches up automatically."""
    return await store.switch(
        context.tx, context.caller, named(context.services, worker), on=True, reason=data.reason, now=context.now
    )


ROUTER = Router("", tags=["platform"], route_handlers=[list_workers, disable_worker, enable_worker])
