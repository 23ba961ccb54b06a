"""Allocations: one submit, reading, release; groups of them; their timeline."""

from datetime import datetime
from typing import Annotated

from litestar import Router, get, post
from litestar.params import HeaderParameter, QueryParameter
from msgspec.structs import replace

from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.core.db import Tx
from gpuaas.core.errors import (
    Conflict,
    IdempotencyKeyReused,
    IllegalMove,
    InsufficientPermissions,
    NotFound,
    RequestInProgress,
)
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import commands, store
from gpuaas.domain.allocations.views import view
from gpuaas.domain.capacity.commands import SkuUnavailable
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.launch.commands import ProjectRequired
from gpuaas.domain.timeline import store as timeline
from gpuaas.wire.allocations import (
    Allocation,
    AllocationGroup,
    CreateAllocation,
    ReleaseAllocation,
    Status,
    SubmittedAllocations,
)
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Entry

KeyHeader = Annotated[str, HeaderParameter(name="X-Idempotency-Key", min_length=1, max_length=200)]
ProjectHeader = Annotated[str | None, HeaderParameter(name="X-Project-ID", required=False, max_length=64)]
StatusFilter = Annotated[Status | None, QueryParameter(name="status", required=False)]
NameFilter = Annotated[str | None, QueryParameter(name="name", required=False, max_length=63)]
CREATE_PROBLEMS = problems(
    NotFound,
    SkuUnavailable,
    Conflict,
    InsufficientPermissions,
    IdempotencyKeyReused,
    RequestInProgress,
    ProjectRequired,
)


@post("/allocations", status_code=202, responses=CREATE_PROBLEMS)
async def create_allocation(
    *,
    data: CreateAllocation,
    idempotency_key: KeyHeader,  # noqa: ARG001 - required here; the unit of work reads it
    tx: Tx,
    caller: Caller,
    services: Services,
    now: datetime,
    project: ProjectHeader = None,
) -> SubmittedAllocations:
    """Ask for one machine, or for several as a group, all or nothing. Watch the timeline for progress."""
    data = replace(data, project_id=data.project_id or project)
    return await services.launch.submit(tx, caller, data, now)


@get("/projects/{project_id:str}/allocations", responses=problems(NotFound))
async def list_allocations(
    project_id: str, tx: Tx, caller: Caller, *, paging: Paging, status: StatusFilter = None, name: NameFilter = None
) -> Page[Allocation]:
    """The project's allocations, also released and failed ones."""
    await get_project(tx, caller, project_id)
    rows = await store.list_of_project(tx, project_id, status=status, name=name, paging=paging)
    return paging.page([view(row) for row in rows], lambda allocation: allocation.id)


@get("/allocations/{id:str}", responses=problems(NotFound))
async def get_allocation(id: str, tx: Tx, caller: Caller) -> Allocation:
    """One allocation, as observed."""
    return view(await commands.get(tx, caller, id))


@post(
    "/allocations/{id:str}/release", status_code=202, responses=problems(NotFound, IllegalMove, InsufficientPermissions)
)
async def release_allocation(
    id: str, data: ReleaseAllocation, *, tx: Tx, caller: Caller, ids: Ids, now: datetime
) -> Allocation:
    """Give the machine back: its local disk is lost, billing stops now. Also retries a failed release."""
    return await commands.release(tx, caller, id, reason=data.reason, ids=ids, now=now)


@get("/allocations/{id:str}/timeline", responses=problems(NotFound))
async def allocation_timeline(id: str, tx: Tx, caller: Caller, paging: Paging) -> Page[Entry]:
    """What happened to it, newest first: who, when, why."""
    await commands.get(tx, caller, id)
    return paging.page(await timeline.entries(tx, id, paging), lambda entry: str(entry.id))


@get("/allocation-groups/{id:str}", responses=problems(NotFound))
async def get_allocation_group(id: str, tx: Tx, caller: Caller) -> AllocationGroup:
    """A group and its members."""
    return await commands.group(tx, caller, id)


@post(
    "/allocation-groups/{id:str}/release",
    status_code=202,
    responses=problems(NotFound, IllegalMove, InsufficientPermissions),
)
async def release_allocation_group(
    id: str, data: ReleaseAllocation, *, tx: Tx, caller: Caller, ids: Ids, now: datetime
) -> AllocationGroup:
    """Release every member that still lives."""
    return await commands.release_group(tx, caller, id, reason=data.reason, ids=ids, now=now)


ROUTER = Router(
    "",
    tags=["allocations"],
    route_handlers=[
        create_allocation,
        list_allocations,
        get_allocation,
        release_allocation,
        allocation_timeline,
        get_allocation_group,
        release_allocation_group,
    ],
)
