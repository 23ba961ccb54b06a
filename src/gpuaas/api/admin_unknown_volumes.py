"""Operators: unknown volumes on nodes and shared storage."""

from litestar import Router, get, post

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage.unknown import commands
from gpuaas.wire.common import Page
from gpuaas.wire.storage import Volume
from gpuaas.wire.unknown_volumes import AdoptVolume, RemoveVolume, UnknownVolume

CHANGE = problems(NotFound, InsufficientPermissions, Conflict)


@get("/admin/unknown-volumes", responses=problems(InsufficientPermissions))
async def list_unknown_volumes(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[UnknownVolume]:
    """Every unknown volume of the fleet, a shared one once; their data is kept."""
    paging = Paging.of(limit, cursor)
    rows = await commands.listing(context.tx, context.caller, None, paging)
    page = paging.page(rows, lambda row: row.id)
    return Page(items=[commands.shown(row) for row in page.items], next_cursor=page.next_cursor)


@get("/admin/nodes/{id:str}/unknown-volumes", responses=problems(NotFound, InsufficientPermissions))
async def list_unknown_volumes_of_node(
    id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[UnknownVolume]:
    """The unknown volumes that one node sees, including shared ones."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    await capacity.node(context.tx, id)
    rows = await commands.listing(context.tx, context.caller, id, paging)
    page = paging.page(rows, lambda row: row.id)
    return Page(items=[commands.shown(row) for row in page.items], next_cursor=page.next_cursor)


@get("/admin/nodes/{id:str}/unknown-volumes/{volume_id:str}", responses=problems(NotFound, InsufficientPermissions))
async def get_unknown_volume(id: str, volume_id: str, context: Context) -> UnknownVolume:
    """One unknown volume; after its removal with the proof."""
    return await commands.get(context.tx, context.caller, id, volume_id)


@post("/admin/nodes/{id:str}/unknown-volumes/{volume_id:str}/adopt", status_code=200, responses=CHANGE)
async def adopt_volume(id: str, volume_id: str, data: AdoptVolume, context: Context) -> Volume:
    """Restore the volume that the ownership record names, with its data."""
    return await commands.adopt(context.tx, context.caller, id, volume_id, data, ids=context.ids, now=context.now)


@post("/admin/nodes/{id:str}/unknown-volumes/{volume_id:str}/remove", status_code=202, responses=CHANGE)
async def remove_unknown_volume(id: str, volume_id: str, data: RemoveVolume, context: Context) -> UnknownVolume:
    """Make a node that sees the volume erase its data, with proof; the volume is never created again."""
    return await commands.remove(context.tx, context.caller, id, volume_id, data, now=context.now)


ROUTER = Router(
    "",
    tags=["platform"],
    route_handlers=[
        list_unknown_volumes,
        list_unknown_volumes_of_node,
        get_unknown_volume,
        adopt_volume,
        remove_unknown_volume,
    ],
)
