"""The audit log of a tenant, and for operators of everything; as pages and as a JSON-lines export."""

from typing import Annotated

from litestar import Router, get
from litestar.params import QueryParameter
from litestar.response import Stream

from gpuaas.api.deps import AnyRequest, Context, Cursor, Limit
from gpuaas.api.edge import token_of
from gpuaas.api.problems import problems
from gpuaas.api.projects import ActionFilter, ActorFilter, ResultFilter, Since, Until, check_zones
from gpuaas.api.services import Services
from gpuaas.api.unit import NDJSON, admit
from gpuaas.core.errors import InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.core.secrets import token_hash
from gpuaas.domain.audit import exports
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.timeline import store as timeline
from gpuaas.domain.timeline.store import AuditFilter, Subject, audit
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import AuditRow

TargetFilter = Annotated[str | None, QueryParameter(name="target", required=False, max_length=254)]
LINES = NDJSON.decode()


@get("/tenants/{tenant_id:str}/audit", responses=problems(NotFound, InsufficientPermissions))
async def tenant_audit(
    tenant_id: str,
    context: Context,
    *,
    actor: ActorFilter = None,
    action: ActionFilter = None,
    target: TargetFilter = None,
    result: ResultFilter = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[AuditRow]:
    """Who did what in the tenant, or was refused, newest first; for its owners and admins."""
    paging = Paging.of(limit, cursor)
    check_zones(since=since, until=until)
    context.caller.require_tenant(Permission.AUDIT_READ, tenant_id)
    wanted = AuditFilter(actor=actor, action=action, target=target, result=result, since=since, until=until)
    rows = await timeline.audit_of_tenant(context.tx, tenant_id, wanted, paging)
    return paging.page(rows, lambda row: str(row.id))


@get("/admin/audit", responses=problems(InsufficientPermissions))
async def platform_audit(
    context: Context,
    *,
    actor: ActorFilter = None,
    action: ActionFilter = None,
    target: TargetFilter = None,
    result: ResultFilter = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[AuditRow]:
    """Who did what on the platform, newest first: log-ins, tokens, operators' and nodes' actions, all projects."""
    paging = Paging.of(limit, cursor)
    check_zones(since=since, until=until)
    context.caller.require_platform(Permission.FLEET_READ)
    wanted = AuditFilter(actor=actor, action=action, target=target, result=result, since=since, until=until)
    rows = await timeline.audit_of_all(context.tx, wanted, paging)
    return paging.page(rows, lambda row: str(row.id))


@get("/tenants/{tenant_id:str}/audit/export", responses=problems(NotFound, InsufficientPermissions), media_type=LINES)
async def export_tenant_audit(tenant_id: str, request: AnyRequest, services: Services) -> Stream:
    """The audit log of a tenant as JSON lines, oldest first. The export itself is audited."""
    token, now = token_of(request.scope, services.public_url), services.clock.now()
    async with services.api_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        caller.require_tenant(Permission.AUDIT_READ, tenant_id)
        subject = Subject(kind="tenant", id=tenant_id, tenant_id=tenant_id)
        await audit(tx, subject, "audit.export", actor=caller.actor, at=now)
    return Stream(exports.tenants_log(services.worker_db, tenant_id), media_type=LINES)


@get("/admin/audit/export", responses=problems(InsufficientPermissions), media_type=LINES)
async def export_audit(request: AnyRequest, services: Services) -> Stream:
    """The whole audit log with its signed seals as JSON lines, in commit order; `gpuaas admin audit verify` reads it.
    The export itself is audited."""
    token, now = token_of(request.scope, services.public_url), services.clock.now()
    async with services.operator_db.write() as tx:
        caller = admit(await identity.enter(tx, token_hash(token)), services)
        caller.require_platform(Permission.FLEET_READ)
        await audit(tx, Subject(kind="platform", id="audit"), "audit.export", actor=caller.actor, at=now)
    return Stream(exports.whole_log(services.worker_db, services.audit_signer, now), media_type=LINES)


ROUTER = Router("", tags=["audit"], route_handlers=[tenant_audit, platform_audit, export_tenant_audit, export_audit])
