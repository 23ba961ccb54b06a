"""Operators: the work loop."""

from datetime import datetime

from litestar import Router, get, post

from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.db import Tx
from gpuaas.core.errors import InsufficientPermissions, NotFound
from gpuaas.core.work import Worker
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.workers import store
from gpuaas.wire.common import Page
from gpuaas.wire.work import SwitchWorker, WorkerStatus

CHANGE = problems(NotFound, InsufficientPermissions)


def named(services: Services, name: str) -> Worker | None:
    return next((worker for worker in services.workers if worker.name == name), None)


@get("/admin/workers", responses=problems(InsufficientPermissions))
async def list_workers(tx: Tx, caller: Caller, services: Services) -> Page[WorkerStatus]:
    """Each worker: what is due, in hand, failing, and whether it is switched off."""
    caller.require_platform(Permission.FLEET_READ)
    return Page(items=await store.statuses(tx, services.workers))


@post("/admin/workers/{worker:str}/disable", status_code=200, responses=CHANGE)
async def disable_worker(
    worker: str, data: SwitchWorker, *, tx: Tx, caller: Caller, services: Services, now: datetime
) -> WorkerStatus:
    """Break the glass: stop a worker on every replica, without a restart."""
    return await store.switch(tx, caller, named(services, worker), on=False, reason=data.reason, now=now)


@post("/admin/workers/{worker:str}/enable", status_code=200, responses=CHANGE)
async def enable_worker(
    worker: str, data: SwitchWorker, *, tx: Tx, caller: Caller, services: Services, now: datetime
) -> WorkerStatus:
    """Let it work again; it catches up by itself."""
    return await store.switch(tx, caller, named(services, worker), on=True, reason=data.reason, now=now)


ROUTER = Router("", tags=["platform"], route_handlers=[list_workers, disable_worker, enable_worker])
