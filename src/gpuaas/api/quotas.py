"""Quotas: what is left of them, and for operators what they are."""

from typing import Annotated

from litestar import Router, delete, get, put
from litestar.params import QueryParameter

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import InsufficientPermissions, NotFound, ValidationError
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.quotas import commands, store
from gpuaas.domain.quotas.store import Place
from gpuaas.wire.common import Page
from gpuaas.wire.quotas import Dimension, Quota, QuotaLimit, QuotaScope, SetQuotas, SetUserQuotas

DimensionFilter = Annotated[Dimension | None, QueryParameter(name="dimension", required=False)]
READ = problems(NotFound, InsufficientPermissions)
CHANGE = problems(NotFound, InsufficientPermissions, ValidationError)


@get("/projects/{project_id:str}/quota", responses=problems(NotFound))
async def project_quota(project_id: str, context: Context) -> Quota:
    """What the project has, and how much more it may have: the tightest of its own and its tenant's limits."""
    project = await get_project(context.tx, context.caller, project_id)
    return await commands.of_project(context.tx, project)


@get("/tenants/{tenant_id:str}/quota", responses=READ)
async def tenant_quota(tenant_id: str, context: Context) -> Quota:
    """What all projects of the tenant have together, and how much more they may have."""
    context.caller.require_tenant(Permission.PROJECTS_READ, tenant_id)
    return await commands.of_place(context.tx, await store.place(context.tx, QuotaScope.TENANT, tenant_id))


@get("/me/quota")
async def my_quota(context: Context) -> Quota:
    """How many tokens, SSH keys and open streams you may have; streams are counted by each replica for itself."""
    own = Place(scope=QuotaScope.USER, id=context.caller.user_id, tenant_id=None)
    return await commands.of_place(context.tx, own)


@get("/admin/quotas", responses=problems(InsufficientPermissions))
async def list_quota_limits(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[QuotaLimit]:
    """Every limit that is set: the platform's defaults, and what differs from them."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    rows = await store.limits(context.tx, None, paging)
    return paging.page(rows, lambda row: f"{row.scope_id} {row.dimension}")


@put("/admin/quotas", responses=CHANGE)
async def set_default_quotas(data: SetQuotas, context: Context) -> Page[QuotaLimit]:
    """The defaults: for every tenant and person without a limit of their own."""
    place = await commands.change(
        context.tx, context.caller, QuotaScope.PLATFORM, store.PLATFORM, data, now=context.now
    )
    return Page(items=await store.limits(context.tx, place.id, Paging.of(None, None)))


async def shown(context: Context, scope: QuotaScope, id: str) -> Quota:
    context.caller.require_platform(Permission.FLEET_READ)
    return await commands.of_place(context.tx, await store.place(context.tx, scope, id))


async def changed(context: Context, scope: QuotaScope, id: str, data: SetQuotas) -> Quota:
    place = await commands.change(context.tx, context.caller, scope, id, data, now=context.now)
    return await commands.of_place(context.tx, place)


@get("/admin/tenants/{id:str}/quotas", responses=READ)
async def get_tenant_quotas(id: str, context: Context) -> Quota:
    """Any tenant's limits and usage."""
    return await shown(context, QuotaScope.TENANT, id)


@put("/admin/tenants/{id:str}/quotas", responses=CHANGE)
async def set_tenant_quotas(id: str, data: SetQuotas, context: Context) -> Quota:
    """Set limits of a tenant. What it already has beyond a new limit stays; it gets no more."""
    return await changed(context, QuotaScope.TENANT, id, data)


@delete("/admin/tenants/{id:str}/quotas", responses=READ)
async def clear_tenant_quotas(id: str, context: Context, dimension: DimensionFilter = None) -> None:
    """Back to the platform's defaults, in one dimension or in all."""
    await commands.clear(context.tx, context.caller, QuotaScope.TENANT, id, dimension, now=context.now)


@get("/admin/projects/{id:str}/quotas", responses=READ)
async def get_project_quotas(id: str, context: Context) -> Quota:
    """Any project's own limits and usage."""
    return await shown(context, QuotaScope.PROJECT, id)


@put("/admin/projects/{id:str}/quotas", responses=CHANGE)
async def set_project_quotas(id: str, data: SetQuotas, context: Context) -> Quota:
    """Set limits of a project, within those of its tenant."""
    return await changed(context, QuotaScope.PROJECT, id, data)


@delete("/admin/projects/{id:str}/quotas", responses=READ)
async def clear_project_quotas(id: str, context: Context, dimension: DimensionFilter = None) -> None:
    """Back to the tenant's limits alone, in one dimension or in all."""
    await commands.clear(context.tx, context.caller, QuotaScope.PROJECT, id, dimension, now=context.now)


@get("/admin/users/{id:str}/quotas", responses=READ)
async def get_user_quotas(id: str, context: Context) -> Quota:
    """Any person's limits and usage."""
    return await shown(context, QuotaScope.USER, id)


@put("/admin/users/{id:str}/quotas", responses=CHANGE)
async def set_user_quotas(id: str, data: SetUserQuotas, context: Context) -> Quota:
    """Set limits of a person: tokens, SSH keys, open streams."""
    return await changed(context, QuotaScope.USER, id, data)


@delete("/admin/users/{id:str}/quotas", responses=READ)
async def clear_user_quotas(id: str, context: Context, dimension: DimensionFilter = None) -> None:
    """Back to the platform's defaults, in one dimension or in all."""
    await commands.clear(context.tx, context.caller, QuotaScope.USER, id, dimension, now=context.now)


ROUTER = Router(
    "",
    tags=["quotas"],
    route_handlers=[
        project_quota,
        tenant_quota,
        my_quota,
        list_quota_limits,
        set_default_quotas,
        get_tenant_quotas,
        set_tenant_quotas,
        clear_tenant_quotas,
        get_project_quotas,
        set_project_quotas,
        clear_project_quotas,
        get_user_quotas,
        set_user_quotas,
        clear_user_quotas,
    ],
)
