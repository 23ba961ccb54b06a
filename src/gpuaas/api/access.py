"""Access to an allocation: its keys, grants and holder."""

from litestar import Router, delete, get, patch, post, put
from msgspec.structs import replace

from gpuaas.api.deps import Context, Cursor, Limit, Reason
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, IllegalMove, InsufficientPermissions, NotFound, ValidationError
from gpuaas.core.paging import Paging
from gpuaas.domain.access import commands, grants, store
from gpuaas.domain.access.own_keys import store as own_keys
from gpuaas.domain.identity.commands import get_project
from gpuaas.wire.access import (
    AccessGrant,
    AllocationKeys,
    AllowOwnKeys,
    AskAccess,
    ChangeAccessGrant,
    CreateAccessGrant,
    HandOver,
    OwnKeyFile,
    SetSshKeys,
)
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.common import Page
from gpuaas.wire.link import LEASE_SECONDS

READ = problems(NotFound)
CHANGE = problems(NotFound, InsufficientPermissions, Conflict, IllegalMove, ValidationError)


def with_leases(context: Context, keys: AllocationKeys) -> AllocationKeys:
    return replace(keys, lease_seconds=LEASE_SECONDS, holder_lease_seconds=context.services.links.holder_lease_seconds)


@get("/allocations/{id:str}/ssh-keys", responses=READ)
async def get_allocation_keys(id: str, context: Context) -> AllocationKeys:
    """The keys that admit to this allocation, and whether the node has confirmed exactly these."""
    return with_leases(context, await commands.get_keys(context.tx, context.caller, id))


@put(
    "/allocations/{id:str}/ssh-keys",
    responses=problems(NotFound, InsufficientPermissions, Conflict, commands.NoWayIn, ValidationError),
)
async def set_allocation_keys(id: str, data: SetSshKeys, context: Context) -> AllocationKeys:
    """Change the holder's keys of a live allocation; connections of removed keys are closed. Removing the last key
    needs confirm_no_way_in.
    """
    return with_leases(context, await commands.set_keys(context.tx, context.caller, id, data, now=context.now))


@put("/allocations/{id:str}/own-keys", responses=problems(NotFound, InsufficientPermissions, Conflict))
async def allow_own_keys(id: str, data: AllowOwnKeys, context: Context) -> AllocationKeys:
    """Allow or refuse keys of the allocation's own ~/.ssh/authorized_keys. The platform does not know whose keys
    these are. Allowing needs a login; a personal token can only refuse.
    """
    return with_leases(context, await commands.allow_own_keys(context.tx, context.caller, id, data, now=context.now))


@post("/allocations/{id:str}/handover", status_code=200, responses=CHANGE)
async def hand_over_allocation(id: str, data: HandOver, context: Context) -> Allocation:
    """Make another project member the holder, with keys of that person; the environment is not changed."""
    return await commands.hand_over(context.tx, context.caller, id, data, now=context.now)


@get("/allocations/{id:str}/access-grants", responses=READ)
async def list_access_grants(
    id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[AccessGrant]:
    """Grants and access requests of this allocation, including those that ended."""
    paging = Paging.of(limit, cursor)
    rows = await grants.listed(context.tx, context.caller, id, paging)
    return paging.page([row.view(context.caller.user_id) for row in rows], lambda grant: grant.id)


@get("/projects/{project_id:str}/access-grants", responses=READ)
async def list_project_grants(
    project_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[AccessGrant]:
    """Every live grant in the project."""
    paging = Paging.of(limit, cursor)
    await get_project(context.tx, context.caller, project_id)
    rows = await store.grants_of_project(context.tx, project_id, paging)
    return paging.page([row.view(context.caller.user_id) for row in rows], lambda grant: grant.id)


@get("/projects/{project_id:str}/own-keys", responses=READ)
async def list_project_own_keys(
    project_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[OwnKeyFile]:
    """List the allocations that admit their own key file: who allowed it, since when, and the keys found in it."""
    paging = Paging.of(limit, cursor)
    await get_project(context.tx, context.caller, project_id)
    found = await own_keys.of_project(context.tx, project_id, paging)
    return paging.page(found, lambda one: one.allocation_id)


@post("/allocations/{id:str}/access-grants", responses=CHANGE)
async def create_access_grant(id: str, data: CreateAccessGrant, context: Context) -> AccessGrant:
    """Share the allocation with a project member, at once. Without one of their keys, the grant waits until they
    choose one.
    """
    return await grants.create(context.tx, context.caller, id, data, ids=context.ids, now=context.now)


@post("/allocations/{id:str}/access-requests", responses=CHANGE)
async def ask_access(id: str, data: AskAccess, context: Context) -> AccessGrant:
    """Request access; the holder or a project admin accepts the request."""
    return await grants.ask(context.tx, context.caller, id, data, ids=context.ids, now=context.now)


@get("/allocations/{id:str}/access-grants/{grant_id:str}", responses=READ)
async def get_access_grant(id: str, grant_id: str, context: Context) -> AccessGrant:
    """One grant."""
    return await grants.get(context.tx, context.caller, id, grant_id)


@patch("/allocations/{id:str}/access-grants/{grant_id:str}", responses=CHANGE)
async def change_access_grant(id: str, grant_id: str, data: ChangeAccessGrant, context: Context) -> AccessGrant:
    """Change a grant. The grantee chooses the key; people who share the allocation set the end."""
    return await grants.change(context.tx, context.caller, id, grant_id, data, now=context.now)


@delete("/allocations/{id:str}/access-grants/{grant_id:str}", status_code=200, responses=CHANGE)
async def revoke_access_grant(id: str, grant_id: str, context: Context, reason: Reason = None) -> AccessGrant:
    """Revoke a grant, or give up your own: new logins are refused and live connections closed within seconds."""
    return await grants.revoke(context.tx, context.caller, id, grant_id, reason=reason or "", now=context.now)


ROUTER = Router(
    "",
    tags=["access"],
    route_handlers=[
        get_allocation_keys,
        set_allocation_keys,
        allow_own_keys,
        hand_over_allocation,
        list_access_grants,
        list_project_grants,
        list_project_own_keys,
        create_access_grant,
        ask_access,
        get_access_grant,
        change_access_grant,
        revoke_access_grant,
    ],
)
