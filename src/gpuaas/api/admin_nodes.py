"""Operators: nodes, their slots, enrolment."""

from typing import Annotated

from litestar import Router, get, post, put
from litestar.params import PathParameter

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, IllegalMove, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.commands import declare_lost
from gpuaas.domain.capacity import commands, store
from gpuaas.domain.capacity.keys import create_rotation_token
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage.volumes.commands import check_retirable
from gpuaas.wire.capacity import (
    ChangeNode,
    ChangeSlot,
    CreateEnrolmentToken,
    EnrolmentToken,
    Intent,
    Node,
    SetOvercommit,
    Slot,
)
from gpuaas.wire.common import Page

SlotIndex = Annotated[int, PathParameter(ge=0, le=1023)]
READ = problems(NotFound, InsufficientPermissions)
CHANGE = problems(NotFound, InsufficientPermissions, IllegalMove, Conflict)


@get("/admin/nodes", responses=problems(InsufficientPermissions))
async def list_nodes(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Node]:
    """The nodes of the fleet."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    return paging.page(await store.nodes(context.tx, paging), lambda node: node.id)


@get("/admin/nodes/{id:str}", responses=READ)
async def get_node(id: str, context: Context) -> Node:
    """One node, with the facts that its agent reported."""
    context.caller.require_platform(Permission.FLEET_READ)
    return store.node_view(await store.node(context.tx, id))


@post("/admin/nodes/{id:str}/drain", status_code=200, responses=CHANGE)
async def drain_node(id: str, data: ChangeNode, context: Context) -> Node:
    """Place nothing new on the node; what runs there keeps running."""
    return await commands.change_intent(
        context.tx, context.caller, id, Intent.DRAINING, reason=data.reason, now=context.now
    )


@post("/admin/nodes/{id:str}/undrain", status_code=200, responses=CHANGE)
async def undrain_node(id: str, data: ChangeNode, context: Context) -> Node:
    """End draining: the node takes new allocations again."""
    return await commands.change_intent(
        context.tx, context.caller, id, Intent.ACTIVE, reason=data.reason, now=context.now
    )


@post("/admin/nodes/{id:str}/quarantine", status_code=200, responses=CHANGE)
async def quarantine_node(id: str, data: ChangeNode, context: Context) -> Node:
    """Take the node out of service because of a fault."""
    return await commands.change_intent(
        context.tx, context.caller, id, Intent.QUARANTINED, reason=data.reason, now=context.now
    )


@post("/admin/nodes/{id:str}/unquarantine", status_code=200, responses=CHANGE)
async def unquarantine_node(id: str, data: ChangeNode, context: Context) -> Node:
    """End the quarantine: the node takes new allocations again."""
    return await commands.change_intent(
        context.tx, context.caller, id, Intent.ACTIVE, reason=data.reason, now=context.now
    )


@post("/admin/nodes/{id:str}/retire", status_code=200, responses=CHANGE)
async def retire_node(id: str, data: ChangeNode, context: Context) -> Node:
    """Retire the node permanently; refused while it has claims or volumes on its disk."""
    context.caller.require_platform(Permission.FLEET_OPERATE)
    await check_retirable(context.tx, id)
    return await commands.change_intent(
        context.tx, context.caller, id, Intent.RETIRED, reason=data.reason, now=context.now
    )


@post("/admin/nodes/{id:str}/lost", status_code=200, responses=CHANGE)
async def declare_node_lost(id: str, data: ChangeNode, context: Context) -> Node:
    """Declare an offline node permanently lost: everything alive on it fails."""
    await declare_lost(context.tx, context.caller, id, reason=data.reason, now=context.now)
    return store.node_view(await store.node(context.tx, id))


@post("/admin/nodes/{id:str}/rotate-key", responses=CHANGE, opt={"shows_secret": True})
async def rotate_key(id: str, data: ChangeNode, context: Context) -> EnrolmentToken:
    """Create a single-use token for a rotation of the node's key: `gpuaas agent rotate-key` on the node."""
    return await create_rotation_token(context.tx, context.caller, id, reason=data.reason, now=context.now)


@put("/admin/nodes/{id:str}/disk-overcommit", status_code=200, responses=READ)
async def set_disk_overcommit(id: str, data: SetOvercommit, context: Context) -> Node:
    """Set how much disk the node sells for each GiB that it has. Above 1, it sells nothing while less than 10 % is
    free.
    """
    return await commands.set_overcommit(context.tx, context.caller, id, data, now=context.now)


@get("/admin/nodes/{id:str}/slots", responses=READ)
async def list_slots(id: str, context: Context) -> Page[Slot]:
    """The node's slots: candidates, approved, claimed, blocked."""
    context.caller.require_platform(Permission.FLEET_READ)
    await store.node(context.tx, id)
    return Page(items=await store.slots(context.tx, id))


@post("/admin/nodes/{id:str}/slots/{index:int}/approve", status_code=200, responses=CHANGE)
async def approve_slot(id: str, index: SlotIndex, data: ChangeSlot, context: Context) -> Slot:
    """Approve the slot for sale."""
    return await commands.approve_slot(context.tx, context.caller, id, index, reason=data.reason, now=context.now)


@post("/admin/nodes/{id:str}/slots/{index:int}/disable", status_code=200, responses=CHANGE)
async def disable_slot(id: str, index: SlotIndex, data: ChangeSlot, context: Context) -> Slot:
    """Take the slot out of service; its current allocation keeps it."""
    return await commands.disable_slot(context.tx, context.caller, id, index, reason=data.reason, now=context.now)


@post("/admin/nodes/{id:str}/slots/{index:int}/enable", status_code=200, responses=CHANGE)
async def enable_slot(id: str, index: SlotIndex, data: ChangeSlot, context: Context) -> Slot:
    """Put the slot back into service."""
    return await commands.enable_slot(context.tx, context.caller, id, index, reason=data.reason, now=context.now)


@post(
    "/admin/enrolment-tokens",
    responses=problems(InsufficientPermissions, Conflict),
    opt={"shows_secret": True},
)
async def create_enrolment_token(data: CreateEnrolmentToken, context: Context) -> EnrolmentToken:
    """Create a single-use token that enrols one computer as a node."""
    return await commands.create_enrolment_token(context.tx, context.caller, data, ids=context.ids, now=context.now)


ROUTER = Router(
    "",
    tags=["platform"],
    route_handlers=[
        list_nodes,
        get_node,
        drain_node,
        undrain_node,
        quarantine_node,
        unquarantine_node,
        retire_node,
        declare_node_lost,
        rotate_key,
        set_disk_overcommit,
        list_slots,
        approve_slot,
        disable_slot,
        enable_slot,
        create_enrolment_token,
    ],
)
