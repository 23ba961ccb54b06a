"""Operators: unknown environments on nodes."""

from litestar import Router, get, post

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.unknown import commands
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage.unknown.commands import restore_attachments
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.common import Page
from gpuaas.wire.unknown_environments import AdoptEnvironment, RemoveUnknownEnvironment, UnknownEnvironment

CHANGE = problems(NotFound, InsufficientPermissions, Conflict)


@get("/admin/unknown-environments", responses=problems(InsufficientPermissions))
async def list_unknown_environments(
    context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[UnknownEnvironment]:
    """Every unknown environment of the fleet; each holds its devices."""
    paging = Paging.of(limit, cursor)
    rows = await commands.listing(context.tx, context.caller, None, paging)
    page = paging.page(rows, lambda row: row.id)
    return Page(items=[commands.shown(row) for row in page.items], next_cursor=page.next_cursor)


@get("/admin/nodes/{id:str}/unknown-environments", responses=problems(NotFound, InsufficientPermissions))
async def list_unknown_environments_of_node(
    id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[UnknownEnvironment]:
    """The unknown environments of one node."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    await capacity.node(context.tx, id)
    rows = await commands.listing(context.tx, context.caller, id, paging)
    page = paging.page(rows, lambda row: row.id)
    return Page(items=[commands.shown(row) for row in page.items], next_cursor=page.next_cursor)


@post("/admin/nodes/{id:str}/unknown-environments/{environment_id:str}/adopt", status_code=200, responses=CHANGE)
async def adopt_environment(id: str, environment_id: str, data: AdoptEnvironment, context: Context) -> Allocation:
    """Restore the allocation that the ownership record names, on the same slots, port and host key, and the
    attachments of volumes that the database contains.
    """
    tx, caller, ids, now = context.tx, context.caller, context.ids, context.now
    adopted = await commands.adopt(tx, caller, id, environment_id, data, ids=ids, now=now)
    await restore_attachments(tx, caller, adopted.id, ids=ids, now=now)
    return adopted


@post("/admin/nodes/{id:str}/unknown-environments/{environment_id:str}/remove", status_code=202, responses=CHANGE)
async def remove_unknown_environment(
    id: str, environment_id: str, data: RemoveUnknownEnvironment, context: Context
) -> UnknownEnvironment:
    """Make the node destroy the environment, with proof; it keeps its devices until then."""
    return await commands.remove(context.tx, context.caller, id, environment_id, data, now=context.now)


ROUTER = Router(
    "",
    tags=["platform"],
    route_handlers=[
        list_unknown_environments,
        list_unknown_environments_of_node,
        adopt_environment,
        remove_unknown_environment,
    ],
)
