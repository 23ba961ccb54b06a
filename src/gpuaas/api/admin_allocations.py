"""Operators: allocations of every project, and forced actions on them."""

from typing import Annotated

from litestar import Router, get, post
from litestar.params import QueryParameter

from gpuaas.api.allocations import StatusFilter
from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, IllegalMove, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import commands, store
from gpuaas.domain.allocations.views import view
from gpuaas.domain.identity.permissions import Permission
from gpuaas.wire.allocations import Allocation, FleetFilter, ForceCleanup, InspectedAllocation, ReleaseAllocation
from gpuaas.wire.common import Page

OnlyFilter = Annotated[FleetFilter | None, QueryParameter(name="only", required=False)]
NodeFilter = Annotated[str | None, QueryParameter(name="node_id", required=False, max_length=64)]
CHANGE = problems(NotFound, InsufficientPermissions, IllegalMove, Conflict)


@get("/admin/allocations", responses=problems(InsufficientPermissions))
async def list_all_allocations(
    context: Context,
    *,
    status: StatusFilter = None,
    node_id: NodeFilter = None,
    only: OnlyFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[Allocation]:
    """Every allocation of the platform; `?only=unsettled` finds those that are stuck or in transition."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    rows = await store.list_of_fleet(context.tx, status=status, node_id=node_id, only=only, paging=paging)
    return paging.page([view(row, context.caller) for row in rows], lambda allocation: allocation.id)


@get("/admin/allocations/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def inspect_allocation(id: str, context: Context) -> InspectedAllocation:
    """One allocation with its complete timeline, node tasks and proofs."""
    return await commands.inspect(context.tx, context.caller, id)


@post("/admin/allocations/{id:str}/force-release", status_code=202, responses=CHANGE)
async def force_release(id: str, data: ReleaseAllocation, context: Context) -> Allocation:
    """Release the allocation of any project; its timeline shows that an operator did it."""
    return await commands.force_release(
        context.tx, context.caller, id, reason=data.reason, ids=context.ids, now=context.now
    )


@post("/admin/allocations/{id:str}/force-cleanup", status_code=202, responses=CHANGE)
async def force_cleanup(id: str, data: ForceCleanup, context: Context) -> Allocation:
    """Confirm a cleanup that a node cannot prove."""
    return await commands.force_cleanup(context.tx, context.caller, id, data, now=context.now)


ROUTER = Router(
    "", tags=["platform"], route_handlers=[list_all_allocations, inspect_allocation, force_release, force_cleanup]
)
