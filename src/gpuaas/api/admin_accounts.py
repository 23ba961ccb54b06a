"""Operators: tenants, projects and people, and their suspension."""

from typing import Annotated

from litestar import Router, get, post
from litestar.params import QueryParameter

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.suspensions import commands, store
from gpuaas.wire.accounts import (
    AccountKind,
    AdminProject,
    AdminTenant,
    AdminUser,
    Suspend,
    Suspension,
    Unsuspend,
)
from gpuaas.wire.common import Page

Search = Annotated[
    str | None, QueryParameter(name="search", required=False, max_length=254, description="an id, or part of a name")
]
TenantFilter = Annotated[str | None, QueryParameter(name="tenant_id", required=False, max_length=64)]
READ = problems(InsufficientPermissions)
CHANGE = problems(NotFound, InsufficientPermissions, Conflict)


@get("/admin/tenants", responses=READ)
async def list_tenants(
    context: Context, *, search: Search = None, limit: Limit = None, cursor: Cursor = None
) -> Page[AdminTenant]:
    """Every tenant, newest first."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    return paging.page(await store.tenants(context.tx, search, paging), lambda row: row.id)


@get("/admin/projects", responses=READ)
async def list_all_projects(
    context: Context,
    *,
    search: Search = None,
    tenant_id: TenantFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[AdminProject]:
    """Every project, newest first."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    return paging.page(await store.projects(context.tx, search, tenant_id, paging), lambda row: row.id)


@get("/admin/users", responses=READ)
async def list_users(
    context: Context, *, search: Search = None, limit: Limit = None, cursor: Cursor = None
) -> Page[AdminUser]:
    """Everybody who has an account, newest first."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    return paging.page(await store.users(context.tx, search, paging), lambda row: row.id)


async def suspended(context: Context, kind: AccountKind, id: str, data: Suspend) -> Suspension:
    return await commands.suspend(context.tx, context.caller, kind, id, reason=data.reason, now=context.now)


async def unsuspended(context: Context, kind: AccountKind, id: str, data: Unsuspend) -> Suspension:
    return await commands.unsuspend(context.tx, context.caller, kind, id, reason=data.reason, now=context.now)


@post("/admin/tenants/{id:str}/suspend", status_code=200, responses=CHANGE)
async def suspend_tenant(id: str, data: Suspend, context: Context) -> Suspension:
    """Nobody works in its projects until it is resumed; connections are closed, allocations run on, data is kept."""
    return await suspended(context, AccountKind.TENANT, id, data)


@post("/admin/tenants/{id:str}/unsuspend", status_code=200, responses=CHANGE)
async def unsuspend_tenant(id: str, data: Unsuspend, context: Context) -> Suspension:
    """Everything is as it was before."""
    return await unsuspended(context, AccountKind.TENANT, id, data)


@post("/admin/projects/{id:str}/suspend", status_code=200, responses=CHANGE)
async def suspend_project(id: str, data: Suspend, context: Context) -> Suspension:
    """Nobody works in it until it is resumed; connections are closed, allocations run on, data is kept."""
    return await suspended(context, AccountKind.PROJECT, id, data)


@post("/admin/projects/{id:str}/unsuspend", status_code=200, responses=CHANGE)
async def unsuspend_project(id: str, data: Unsuspend, context: Context) -> Suspension:
    """Everything is as it was before."""
    return await unsuspended(context, AccountKind.PROJECT, id, data)


@post("/admin/users/{id:str}/suspend", status_code=200, responses=CHANGE)
async def suspend_user(id: str, data: Suspend, context: Context) -> Suspension:
    """Sessions, tokens and keys are refused until it is undone; admins of their projects hold their allocations."""
    return await suspended(context, AccountKind.USER, id, data)


@post("/admin/users/{id:str}/unsuspend", status_code=200, responses=CHANGE)
async def unsuspend_user(id: str, data: Unsuspend, context: Context) -> Suspension:
    """Everything is as it was before."""
    return await unsuspended(context, AccountKind.USER, id, data)


ROUTER = Router(
    "",
    tags=["platform"],
    route_handlers=[
        list_tenants,
        list_all_projects,
        list_users,
        suspend_tenant,
        unsuspend_tenant,
        suspend_project,
        unsuspend_project,
        suspend_user,
        unsuspend_user,
    ],
)
