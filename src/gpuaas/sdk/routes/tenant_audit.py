"""Routes of tenant audit. Generated from the OpenAPI description by `make sdk`; do not edit."""

from datetime import datetime

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import AuditResult, AuditRow


class TenantAuditRoutes(Resource[R_co]):
    @Call
    def export(self, tenant_id: str) -> Request[bytes]:
        """The audit log of a tenant as JSON lines, oldest first. The export itself is audited."""
        return get(path("tenants", tenant_id, "audit", "export"), bytes)

    @Listing
    def list(
        self,
        tenant_id: str,
        *,
        actor: str | None = None,
        action: str | None = None,
        target: str | None = None,
        result: AuditResult | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> Request[Page[AuditRow]]:
        """Actions and refusals in the tenant, newest first; for its owners and admins."""
        return get(
            path("tenants", tenant_id, "audit"),
            Page[AuditRow],
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=since,
            until=until,
            limit=limit,
        )
