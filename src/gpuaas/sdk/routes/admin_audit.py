"""Routes of admin audit. Generated from the OpenAPI description by `make sdk`; do not edit."""

from datetime import datetime

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path
from gpuaas.wire.audit import AuditVerification
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import AuditResult, AuditRow


class AdminAuditRoutes(Resource[R_co]):
    @Call
    def export(self) -> Request[bytes]:
        """The whole audit log with its signed seals as JSON lines, in commit order; `gpuaas admin audit verify`
        reads it. The export itself is audited."""
        return get(path("admin", "audit", "export"), bytes)

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
        """Actions on the platform, newest first: logins, tokens, actions of operators and nodes, and all projects."""
        return get(
            path("admin", "audit"),
            Page[AuditRow],
            actor=actor,
            action=action,
            target=target,
            result=result,
            since=since,
            until=until,
            limit=limit,
        )

    @Call
    def verify(self, *, after: int = 0) -> Request[AuditVerification]:
        """Verify the next seals of the hash chain on the server; repeat with `after` until `is_complete`."""
        return get(path("admin", "audit", "verification"), AuditVerification, after=after)
