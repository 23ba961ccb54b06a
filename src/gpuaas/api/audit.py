"""The audit log of a project, of a tenant, and for operators of the platform; as pages and as a JSON-lines export."""

from dataclasses import dataclass
from typing import Annotated

from litestar import Router, get
from litestar.di import Provide
from litestar.params import QueryParameter
from litestar.response import Stream

from gpuaas.api.deps import AnyRequest, Context, Cursor, Limit
from gpuaas.api.edge import token_of
from gpuaas.api.problems import problems
from gpuaas.api.services import Services
from gpuaas.api.supervised import supervised
from gpuaas.api.unit import NDJSON, admit
from gpuaas.core.db import Tx
from gpuaas.core.errors import InsufficientPermissions, NotFound, ValidationError
from gpuaas.core.paging import Paging
from gpuaas.core.secrets import token_hash
from gpuaas.domain.audit import exports
from gpuaas.domain.audit.verification import verify
from gpuaas.domain.identity import store as identity
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.timeline import store as timeline
from gpuaas.domain.timeline.store import AuditFilter, Subject, audit
from gpuaas.wire.audit import AuditVerification
from gpuaas.wire.common import Moment, Page
from gpuaas.wire.timeline import AuditResult, AuditRow

ActorFilter = Annotated[str | None, QueryParameter(name="actor", required=False, max_length=64, description="an id")]
ActionFilter = Annotated[
    str | None, QueryParameter(name="action", required=False, max_length=64, description="a prefix")
]
TargetFilter = Annotated[str | None, QueryParameter(name="target", required=False, max_length=254, description="an id")]
ResultFilter = Annotated[AuditResult | None, QueryParameter(name="result", required=False)]
Since = Annotated[Moment | None, QueryParameter(name="since", required=False, description="from this time, inclusive")]
Until = Annotated[Moment | None, QueryParameter(name="until", required=False, description="before this time")]
After = Annotated[
    int, QueryParameter(name="after", ge=0, le=1 << 62, required=False, description="number of the last verified seal")
]
LINES = NDJSON.decode()
OF_TENANT = problems(NotFound, InsufficientPermissions)
OF_PLATFORM = problems(InsufficientPermissions)


@dataclass(frozen=True, slots=True)
class Asked:
    """The requested rows of an audit log."""

    wanted: AuditFilter
    paging: Paging

    def page(self, rows: list[AuditRow]) -> Page[AuditRow]:
        return self.paging.page(rows, lambda row: str(row.id))


def asked(
    *,
    actor: ActorFilter = None,
    action: ActionFilter = None,
    target: TargetFilter = None,
    result: ResultFilter = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Asked:
    for name, at in {"since": since, "until": until}.items():  # msgspec does not check the zone of a query parameter
        if at is not None and at.tzinfo is None:
            why = "a time with its zone, as in 2030-01-01T00:00:00Z"
            raise ValidationError(f"Set {name} to {why}.", errors={name: why})
    wanted = AuditFilter(actor=actor, action=action, target=target, result=result, since=since, until=until)
    return Asked(wanted, Paging.of(limit, cursor))


@get("/projects/{project_id:str}/audit", responses=OF_TENANT)
async def project_audit(project_id: str, context: Context, asked: Asked) -> Page[AuditRow]:
    """Actions and refusals in the project, newest first."""
    project = await identity.project(context.tx, project_id)
    context.caller.require(Permission.AUDIT_READ, "project", project)
    return asked.page(await timeline.audit_of_project(context.tx, project_id, asked.wanted, asked.paging))


@get("/tenants/{tenant_id:str}/audit", responses=OF_TENANT)
async def tenant_audit(tenant_id: str, context: Context, asked: Asked) -> Page[AuditRow]:
    """Actions and refusals in the tenant, newest first; for its owners and admins."""
    context.caller.require_tenant(Permission.AUDIT_READ, tenant_id)
    return asked.page(await timeline.audit_of_tenant(context.tx, tenant_id, asked.wanted, asked.paging))


@get("/admin/audit", responses=OF_PLATFORM)
async def platform_audit(context: Context, asked: Asked) -> Page[AuditRow]:
    """Actions on the platform, newest first: logins, tokens, actions of operators and nodes, and all projects."""
    context.caller.require_platform(Permission.FLEET_READ)
    return asked.page(await timeline.audit_of_all(context.tx, asked.wanted, asked.paging))


async def admitted(request: AnyRequest, services: Services, tx: Tx, tenant_id: str | None = None) -> Caller:
    """Authorize reading the audit log of the tenant, or without a tenant that of the platform."""
    token = token_of(request.scope, services.public_url)
    caller = admit(await identity.enter(tx, token_hash(token)), services)
    if tenant_id is None:
        caller.require_platform(Permission.FLEET_READ)
    else:
        caller.require_tenant(Permission.AUDIT_READ, tenant_id)
    return caller


@get("/admin/audit/verification", responses=OF_PLATFORM)
async def verify_audit(request: AnyRequest, services: Services, after: After = 0) -> AuditVerification:
    """Verify the next seals of the hash chain on the server; repeat with `after` until `is_complete`."""
    async with services.operator_db.read() as tx:
        await admitted(request, services, tx)
    return await verify(services.worker_db, services.audit_signer.public_key, after)


@get(
    "/tenants/{tenant_id:str}/audit/export",
    responses=problems(NotFound, InsufficientPermissions, QuotaExceeded),
    media_type=LINES,
)
async def export_tenant_audit(tenant_id: str, request: AnyRequest, services: Services) -> Stream:
    """The audit log of a tenant as JSON lines, oldest first. The export itself is audited."""
    async with services.api_db.write() as tx:
        caller = await admitted(request, services, tx, tenant_id)
        subject = Subject(kind="tenant", id=tenant_id, tenant_id=tenant_id)
        await audit(tx, subject, "audit.export", actor=caller.actor, at=services.clock.now())
        held = await services.streams.open(tx, caller.user_id)

    async def judge() -> None:
        async with services.api_db.write() as tx:
            await admitted(request, services, tx, tenant_id)

    log = exports.tenants_log(services.worker_db, tenant_id)
    return Stream(supervised(log, held, judge), media_type=LINES)


@get("/admin/audit/export", responses=problems(InsufficientPermissions, QuotaExceeded), media_type=LINES)
async def export_audit(request: AnyRequest, services: Services) -> Stream:
    """The whole audit log with its signed seals as JSON lines, in commit order; `gpuaas admin audit verify` reads it.
    The export itself is audited."""
    now = services.clock.now()
    async with services.operator_db.write() as tx:
        caller = await admitted(request, services, tx)
        await audit(tx, Subject(kind="platform", id="audit"), "audit.export", actor=caller.actor, at=now)
        held = await services.streams.open(tx, caller.user_id)

    async def judge() -> None:
        async with services.operator_db.write() as tx:
            await admitted(request, services, tx)

    log = exports.whole_log(services.worker_db, services.audit_signer, now)
    return Stream(supervised(log, held, judge), media_type=LINES)


ROUTER = Router(
    "",
    tags=["audit"],
    dependencies={"asked": Provide(asked, sync_to_thread=False)},
    route_handlers=[project_audit, tenant_audit, platform_audit, verify_audit, export_tenant_audit, export_audit],
)
