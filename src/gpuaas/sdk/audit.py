"""The audit log of a tenant, and for operators of everything."""

from datetime import datetime
from typing import TypedDict, Unpack

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.audit import AuditVerification
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import AuditResult, AuditRow


class AuditQuery(TypedDict, total=False):
    """Which rows: `action` may be its beginning, `target` is an id, and `until` is left out itself."""

    actor: str | None
    action: str | None
    target: str | None
    result: AuditResult | None
    since: datetime | None
    until: datetime | None
    limit: int | None


def rows(of: str, query: AuditQuery) -> Request[Page[AuditRow]]:
    return get(
        f"{of}/audit",
        Page[AuditRow],
        actor=query.get("actor"),
        action=query.get("action"),
        target=query.get("target"),
        result=query.get("result"),
        since=moment(query.get("since")),
        until=moment(query.get("until")),
        limit=query.get("limit"),
    )


def moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


class TenantAudit(Noun[R_co]):
    @Listing
    def list(self, tenant_id: str, **query: Unpack[AuditQuery]) -> Request[Page[AuditRow]]:
        """Newest first."""
        return rows(path("tenants", tenant_id), query)

    @Call
    def export(self, tenant_id: str) -> Request[bytes]:
        """JSON lines, oldest first."""
        return get(path("tenants", tenant_id, "audit", "export"), bytes)


class AdminAudit(Noun[R_co]):
    @Listing
    def list(self, **query: Unpack[AuditQuery]) -> Request[Page[AuditRow]]:
        """Newest first, of the whole platform."""
        return rows(path("admin"), query)

    @Call
    def verify(self, *, after: int = 0) -> Request[AuditVerification]:
        """The server verifies the seals after number `after`, some at a time; ask again until `is_complete`."""
        return get(path("admin", "audit", "verification"), AuditVerification, after=after)

    @Call
    def export(self) -> Request[bytes]:
        """JSON lines with the seals; `gpuaas.wire.audit.Verification` verifies them."""
        return get(path("admin", "audit", "export"), bytes)
