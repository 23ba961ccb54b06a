"""Allocations: launch, list, release, and change; groups; timelines."""

from typing import Annotated

from litestar import Router, get, post
from litestar.params import HeaderParameter, QueryParameter
from msgspec.structs import replace

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.api.unit import Unit
from gpuaas.core.errors import (
    Conflict,
    IdempotencyKeyReused,
    IllegalMove,
    InsufficientPermissions,
    NotFound,
    RequestInProgress,
)
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import authority, commands, resizing, store
from gpuaas.domain.allocations.consequences import consequences
from gpuaas.domain.allocations.environments import store as environments
from gpuaas.domain.allocations.limits import limits_now
from gpuaas.domain.allocations.views import cost_so_far, view
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.commands import SkuUnavailable
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.launch import store as launch
from gpuaas.domain.launch.commands import ProjectRequired
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.runtimes.compatibility import BundleIncompatible
from gpuaas.domain.storage.views import survivors
from gpuaas.domain.timeline import store as timeline
from gpuaas.domain.timeline.usage import store as usage
from gpuaas.wire.allocations import (
    Allocation,
    AllocationGroup,
    Consequences,
    CreateAllocation,
    Disruption,
    ExtendAllocation,
    LimitsNow,
    ReleaseAllocation,
    ResizeAllocation,
    RestartAllocation,
    Status,
    SubmittedAllocations,
)
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Entry
from gpuaas.wire.usage import AllocationUsage

KeyHeader = Annotated[str, HeaderParameter(name="X-Idempotency-Key", min_length=1, max_length=200)]
ProjectHeader = Annotated[str | None, HeaderParameter(name="X-Project-ID", required=False, max_length=64)]
StatusFilter = Annotated[Status | None, QueryParameter(name="status", required=False)]
NameFilter = Annotated[str | None, QueryParameter(name="name", required=False, max_length=63)]
DisruptionFilter = Annotated[Disruption, QueryParameter(name="of", required=False)]
CREATE_PROBLEMS = problems(
    NotFound,
    SkuUnavailable,
    QuotaExceeded,
    BundleIncompatible,
    Conflict,
    InsufficientPermissions,
    IdempotencyKeyReused,
    RequestInProgress,
    ProjectRequired,
)


@post("/allocations", status_code=202, responses=CREATE_PROBLEMS)
async def create_allocation(
    data: CreateAllocation,
    idempotency_key: KeyHeader,  # noqa: ARG001 - required here; the unit of work reads it
    unit: Unit,
    project: ProjectHeader = None,
) -> SubmittedAllocations:
    """Create an allocation, or several as a group, all or none. The timeline shows the progress."""
    data = replace(data, project_id=data.project_id or project or None)
    tx, caller, found = await unit.enter_and_find(launch.find_on_entering(data))
    return await unit.services.launch.submit(tx, caller, data, found, unit.services.clock.now())


@get("/projects/{project_id:str}/allocations", responses=problems(NotFound))
async def list_allocations(
    project_id: str,
    context: Context,
    *,
    status: StatusFilter = None,
    name: NameFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[Allocation]:
    """The project's allocations, including released and failed ones."""
    paging = Paging.of(limit, cursor)
    await get_project(context.tx, context.caller, project_id)
    rows = await store.list_of_project(context.tx, project_id, status=status, name=name, paging=paging)
    return paging.page([view(row, context.caller) for row in rows], lambda allocation: allocation.id)


@get("/allocations/{id:str}", responses=problems(NotFound))
async def get_allocation(id: str, unit: Unit) -> Allocation:
    """One allocation, as observed."""
    caller, row = await unit.read(store.get_on_entering(id))
    return view(authority.readable(caller, row), caller)


@post(
    "/allocations/{id:str}/release", status_code=202, responses=problems(NotFound, IllegalMove, InsufficientPermissions)
)
async def release_allocation(id: str, data: ReleaseAllocation, context: Context) -> Allocation:
    """Release the allocation: its root disk is erased, and billing stops now. Also retries a failed release."""
    return await commands.release(context.tx, context.caller, id, reason=data.reason, ids=context.ids, now=context.now)


@post(
    "/allocations/{id:str}/restart", status_code=202, responses=problems(NotFound, IllegalMove, InsufficientPermissions)
)
async def restart_allocation(id: str, data: RestartAllocation, context: Context) -> Allocation:
    """Reboot the environment; disk, address, keys, volumes and runtime stay. Also retries a failed restart."""
    return await commands.restart(context.tx, context.caller, id, reason=data.reason, ids=context.ids, now=context.now)


@post(
    "/allocations/{id:str}/resize",
    status_code=202,
    responses=problems(
        NotFound, IllegalMove, InsufficientPermissions, Conflict, QuotaExceeded, resizing.ResizeUnavailable
    ),
)
async def resize_allocation(id: str, data: ResizeAllocation, context: Context) -> Allocation:
    """Change the GPU count or size on the same node, with a restart. After a failed resize, the old size can be
    requested too.
    """
    index = context.services.index
    tx, caller = context.tx, context.caller
    return await resizing.resize(tx, caller, id, data, index=index, ids=context.ids, now=context.now)


@post(
    "/allocations/{id:str}/extend", status_code=200, responses=problems(NotFound, IllegalMove, InsufficientPermissions)
)
async def extend_allocation(id: str, data: ExtendAllocation, context: Context) -> Allocation:
    """Change when the allocation ends automatically: its end time, its idle limit, or remove both."""
    return await commands.extend(context.tx, context.caller, id, data, now=context.now)


@get("/allocations/{id:str}/limits", responses=problems(NotFound))
async def allocation_limits(id: str, context: Context) -> LimitsNow:
    """When the allocation ends automatically, with the time left and every signal of use."""
    row = await commands.get(context.tx, context.caller, id)
    return await limits_now(context.tx, row, context.now)


@get("/allocations/{id:str}/consequences", responses=problems(NotFound))
async def allocation_consequences(id: str, context: Context, of: DisruptionFilter = Disruption.RELEASE) -> Consequences:
    """List the consequences of a release, restart or resize: what ends, and what is kept."""
    row = await commands.get(context.tx, context.caller, id)
    slots = await environments.devices(context.tx, id)
    said = consequences(row, of, slots, await capacity.gpu_resets(context.tx, row.node_id))
    return replace(said, survives=[*said.survives, *await survivors(context.tx, id, of)])


@get("/allocations/{id:str}/usage", responses=problems(NotFound))
async def allocation_usage(id: str, context: Context, limit: Limit = None, cursor: Cursor = None) -> AllocationUsage:
    """The usage intervals with their rates, newest first, and the cost so far."""
    row = await commands.get(context.tx, context.caller, id)
    page = await usage.intervals(context.tx, "allocation", id, Paging.of(limit, cursor))
    return AllocationUsage(items=page.items, next_cursor=page.next_cursor, cost=cost_so_far(row))


@get("/allocations/{id:str}/timeline", responses=problems(NotFound))
async def allocation_timeline(id: str, context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Entry]:
    """The timeline of the allocation, newest first: who, when, why."""
    paging = Paging.of(limit, cursor)
    await commands.get(context.tx, context.caller, id)
    return timeline.page_of(paging, await timeline.entries(context.tx, id, paging))


@get("/allocation-groups/{id:str}", responses=problems(NotFound))
async def get_allocation_group(id: str, context: Context) -> AllocationGroup:
    """A group and its members."""
    return await commands.group(context.tx, context.caller, id)


@post(
    "/allocation-groups/{id:str}/release",
    status_code=202,
    responses=problems(NotFound, IllegalMove, InsufficientPermissions),
)
async def release_allocation_group(id: str, data: ReleaseAllocation, context: Context) -> AllocationGroup:
    """Release every live member of the group."""
    return await commands.release_group(
        context.tx, context.caller, id, reason=data.reason, ids=context.ids, now=context.now
    )


ROUTER = Router(
    "",
    tags=["allocations"],
    route_handlers=[
        create_allocation,
        list_allocations,
        get_allocation,
        release_allocation,
        restart_allocation,
        resize_allocation,
        extend_allocation,
        allocation_limits,
        allocation_consequences,
        allocation_timeline,
        allocation_usage,
        get_allocation_group,
        release_allocation_group,
    ],
)
