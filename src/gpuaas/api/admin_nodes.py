"""Operators: nodes, their slots, enrolment."""

from datetime import datetime

from litestar import Router, get, post

from gpuaas.api.problems import problems
from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, IllegalMove, InsufficientPermissions, NotFound
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.commands import declare_lost
from gpuaas.domain.capacity import commands, store
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.wire.capacity import (
    ChangeNode,
    ChangeSlot,
    CreateEnrolmentToken,
    EnrolmentToken,
    Intent,
    Node,
    Slot,
)
from gpuaas.wire.common import Page

READ = problems(NotFound, InsufficientPermissions)
CHANGE = problems(NotFound, InsufficientPermissions, IllegalMove, Conflict)


@get("/admin/nodes", responses=problems(InsufficientPermissions))
async def list_nodes(tx: Tx, caller: Caller, paging: Paging) -> Page[Node]:
    """The fleet."""
    caller.require_platform(Permission.FLEET_READ)
    return paging.page(await store.nodes(tx, paging), lambda node: node.id)


@get("/admin/nodes/{id:str}", responses=READ)
async def get_node(id: str, tx: Tx, caller: Caller) -> Node:
    """One node, with the facts its probe found."""
    caller.require_platform(Permission.FLEET_READ)
    return store.node_view(await store.node(tx, id))


@post("/admin/nodes/{id:str}/drain", status_code=200, responses=CHANGE)
async def drain_node(id: str, data: ChangeNode, tx: Tx, caller: Caller, now: datetime) -> Node:
    """Nothing new is placed here; what runs goes on."""
    return await commands.change_intent(tx, caller, id, Intent.DRAINING, reason=data.reason, now=now)


@post("/admin/nodes/{id:str}/undrain", status_code=200, responses=CHANGE)
async def undrain_node(id: str, data: ChangeNode, tx: Tx, caller: Caller, now: datetime) -> Node:
    """Back to work."""
    return await commands.change_intent(tx, caller, id, Intent.ACTIVE, reason=data.reason, now=now)


@post("/admin/nodes/{id:str}/quarantine", status_code=200, responses=CHANGE)
async def quarantine_node(id: str, data: ChangeNode, tx: Tx, caller: Caller, now: datetime) -> Node:
    """Kept out of sale because something is wrong with it."""
    return await commands.change_intent(tx, caller, id, Intent.QUARANTINED, reason=data.reason, now=now)


@post("/admin/nodes/{id:str}/unquarantine", status_code=200, responses=CHANGE)
async def unquarantine_node(id: str, data: ChangeNode, tx: Tx, caller: Caller, now: datetime) -> Node:
    """Found well again."""
    return await commands.change_intent(tx, caller, id, Intent.ACTIVE, reason=data.reason, now=now)


@post("/admin/nodes/{id:str}/retire", status_code=200, responses=CHANGE)
async def retire_node(id: str, data: ChangeNode, tx: Tx, caller: Caller, now: datetime) -> Node:
    """Gone for good; refused while anything is claimed on it."""
    return await commands.change_intent(tx, caller, id, Intent.RETIRED, reason=data.reason, now=now)


@post("/admin/nodes/{id:str}/lost", status_code=200, responses=CHANGE)
async def declare_node_lost(id: str, data: ChangeNode, tx: Tx, caller: Caller, now: datetime) -> Node:
    """Say that a node which does not answer never will: what lived on it has failed."""
    await declare_lost(tx, caller, id, reason=data.reason, now=now)
    return store.node_view(await store.node(tx, id))


@get("/admin/nodes/{id:str}/slots", responses=READ)
async def list_slots(id: str, tx: Tx, caller: Caller) -> Page[Slot]:
    """The node's slots: candidates, approved, claimed, blocked."""
    caller.require_platform(Permission.FLEET_READ)
    await store.node(tx, id)
    return Page(items=await store.slots(tx, id))


@post("/admin/nodes/{id:str}/slots/{index:int}/approve", status_code=200, responses=CHANGE)
async def approve_slot(id: str, index: int, *, data: ChangeSlot, tx: Tx, caller: Caller, now: datetime) -> Slot:  # noqa: ARG001 - the body may carry a reason
    """This slot may be sold."""
    return await commands.approve_slot(tx, caller, id, index, now=now)


@post("/admin/nodes/{id:str}/slots/{index:int}/disable", status_code=200, responses=CHANGE)
async def disable_slot(id: str, index: int, *, data: ChangeSlot, tx: Tx, caller: Caller, now: datetime) -> Slot:
    """Not sold again; who has it keeps it."""
    return await commands.disable_slot(tx, caller, id, index, reason=data.reason, now=now)


@post("/admin/nodes/{id:str}/slots/{index:int}/enable", status_code=200, responses=CHANGE)
async def enable_slot(id: str, index: int, *, data: ChangeSlot, tx: Tx, caller: Caller, now: datetime) -> Slot:  # noqa: ARG001 - as above
    """For sale again."""
    return await commands.enable_slot(tx, caller, id, index, now=now)


@post(
    "/admin/enrolment-tokens",
    responses=problems(InsufficientPermissions, Conflict),
    opt={"shows_secret": True},
)
async def create_enrolment_token(
    data: CreateEnrolmentToken, tx: Tx, caller: Caller, ids: Ids, now: datetime
) -> EnrolmentToken:
    """A single-use token that makes one machine a node."""
    return await commands.create_enrolment_token(tx, caller, data, ids=ids, now=now)


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
        list_slots,
        approve_slot,
        disable_slot,
        enable_slot,
        create_enrolment_token,
    ],
)
