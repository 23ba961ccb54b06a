"""Quotas: limits, usage and what remains; operators also change limits."""

from typing import Annotated

from litestar import Router, delete, get, put
from litestar.di import Provide
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
from gpuaas.wire.quotas import Dimension, Quota, QuotaLimit, QuotaScope, SetQuotas

DimensionFilter = Annotated[Dimension | None, QueryParameter(name="dimension", required=False)]
READ = problems(NotFound, InsufficientPermissions)
CHANGE = problems(NotFound, InsufficientPermissions, ValidationError)


@get("/projects/{project_id:str}/quota", responses=problems(NotFound))
async def project_quota(project_id: str, context: Context) -> Quota:
    """The project's usage and what remains, by the tighter limit of project and tenant."""
    project = await get_project(context.tx, context.caller, project_id)
    return await commands.of_project(context.tx, project)


@get("/tenants/{tenant_id:str}/quota", responses=READ)
async def tenant_quota(tenant_id: str, context: Context) -> Quota:
    """The usage of all projects of the tenant, and what remains."""
    context.caller.require_tenant(Permission.PROJECTS_READ, tenant_id)
    return await commands.of_place(context.tx, await store.place(context.tx, QuotaScope.TENANT, tenant_id))


@get("/me/quota")
async def my_quota(context: Context) -> Quota:
    """Your limits on tokens, SSH keys and open streams. Each replica counts its own streams."""
    own = Place(scope=QuotaScope.USER, id=context.caller.user_id, tenant_id=None)
    return await commands.of_place(context.tx, own)


@get("/admin/quotas", responses=problems(InsufficientPermissions))
async def list_quota_limits(context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[QuotaLimit]:
    """Every limit that is set: the platform's defaults, and exceptions from them."""
    paging = Paging.of(limit, cursor)
    context.caller.require_platform(Permission.FLEET_READ)
    rows = await store.limits(context.tx, None, paging)
    return paging.page(rows, lambda row: f"{row.scope_id} {row.dimension}")


@put("/admin/quotas", responses=CHANGE)
async def set_default_quotas(data: SetQuotas, context: Context) -> Page[QuotaLimit]:
    """Set the defaults, for every tenant and person without a limit."""
    place = await commands.change(
        context.tx, context.caller, QuotaScope.PLATFORM, store.PLATFORM, data, now=context.now
    )
    return Page(items=await store.limits(context.tx, place.id, Paging.of(None, None)))


@get("", responses=READ)
async def get_quotas(id: str, kind: QuotaScope, context: Context) -> Quota:
    """The limits and usage of any tenant, project or person."""
    context.caller.require_platform(Permission.FLEET_READ)
    return await commands.of_place(context.tx, await store.place(context.tx, kind, id))


@put("", responses=CHANGE)
async def set_quotas(id: str, kind: QuotaScope, data: SetQuotas, context: Context) -> Quota:
    """Set limits. Existing resources above a new limit stay, but none can be added. The tenant's limits also apply to
    a project.
    """
    place = await commands.change(context.tx, context.caller, kind, id, data, now=context.now)
    return await commands.of_place(context.tx, place)


@delete("", responses=READ)
async def clear_quotas(id: str, kind: QuotaScope, context: Context, dimension: DimensionFilter = None) -> None:
    """Remove limits of one dimension or of all: then the platform's defaults and the tenant's limits apply."""
    await commands.clear(context.tx, context.caller, kind, id, dimension, now=context.now)


def of_each(kind: QuotaScope) -> Router:
    return Router(
        f"/admin/{kind}s/{{id:str}}/quotas",
        dependencies={"kind": Provide(lambda: kind, sync_to_thread=False)},
        route_handlers=[get_quotas, set_quotas, clear_quotas],
    )


ROUTER = Router(
    "",
    tags=["quotas"],
    route_handlers=[
        project_quota,
        tenant_quota,
        my_quota,
        list_quota_limits,
        set_default_quotas,
        *(of_each(kind) for kind in QuotaScope if kind is not QuotaScope.PLATFORM),
    ],
)
