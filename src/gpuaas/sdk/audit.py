"""The audit log of a tenant, and for operators of everything."""

from datetime import datetime

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import AuditResult, AuditRow


class TenantAudit(Noun[R_co]):
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
        """Newest first. `action` may be its beginning; `until` is left out itself."""
        return get(
            path("tenants", tenant_id, "audit"),
            Page[AuditRow],
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=since.isoformat() if since else None,
            until=until.isoformat() if until else None,
            limit=limit,
        )

    @Call
    def export(self, tenant_id: str) -> Request[bytes]:
        """JSON lines, oldest first."""
        return get(path("tenants", tenant_id, "audit", "export"), bytes)


class AdminAudit(Noun[R_co]):
    @Listing
    def list(
        self,
        *,
        actor: str | None = None,
        action: str | None = None,
        target: str | None = None,
        result: AuditResult | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> Request[Page[AuditRow]]:
        """Newest first, of the whole platform."""
        return get(
            path("admin", "audit"),
            Page[AuditRow],
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=since.isoformat() if since else None,
            until=until.isoformat() if until else None,
            limit=limit,
        )

    @Call
    def export(self) -> Request[bytes]:
        """JSON lines with the seals; `gpuaas.wire.audit.Verification` verifies them."""
        return get(path("admin", "audit", "export"), bytes)
