"""Operators: tenants, projects and people, and their suspension."""

from typing import Annotated

from litestar import Router, get, post
from litestar.di import Provide
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
    """Every person with an account, newest first."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    return paging.page(await store.users(context.tx, search, paging), lambda row: row.id)


@post("/suspend", status_code=200, responses=CHANGE)
async def suspend(id: str, kind: AccountKind, data: Suspend, context: Context) -> Suspension:
    """Refuse new work and close connections until the suspension ends; allocations keep running, and data is kept.
    Sessions, tokens and keys of a suspended person are refused, and admins of their projects hold their
    allocations.
    """
    return await commands.suspend(context.tx, context.caller, kind, id, reason=data.reason, now=context.now)


@post("/unsuspend", status_code=200, responses=CHANGE)
async def unsuspend(id: str, kind: AccountKind, data: Unsuspend, context: Context) -> Suspension:
    """End a suspension: roles, keys and grants are as before."""
    return await commands.unsuspend(context.tx, context.caller, kind, id, reason=data.reason, now=context.now)


def of_each(kind: AccountKind) -> Router:
    return Router(
        f"/admin/{kind}s/{{id:str}}",
        dependencies={"kind": Provide(lambda: kind, sync_to_thread=False)},
        route_handlers=[suspend, unsuspend],
    )


ROUTER = Router(
    "",
    tags=["platform"],
    route_handlers=[list_tenants, list_all_projects, list_users, *(of_each(kind) for kind in AccountKind)],
)
