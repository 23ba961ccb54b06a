"""Quotas: what is left of them; for operators, what they are."""

from collections.abc import Mapping
from dataclasses import replace

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, delete, get, path, put
from gpuaas.wire.common import Page
from gpuaas.wire.quotas import Dimension, Quota, QuotaLimit, QuotaScope, SetQuotas


class Quotas(Noun[R_co]):
    @Call
    def of_project(self, project_id: str) -> Request[Quota]:
        """What the project has and may still add, by the tightest of its own and its tenant's limits."""
        return get(path("projects", project_id, "quota"), Quota)

    @Call
    def of_tenant(self, tenant_id: str) -> Request[Quota]:
        return get(path("tenants", tenant_id, "quota"), Quota)

    @Call
    def mine(self) -> Request[Quota]:
        """Tokens, SSH keys and open streams."""
        return get(path("me", "quota"), Quota)


class AdminQuotas(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[QuotaLimit]]:
        """Every limit that is set; scope `platform` holds the defaults."""
        return get(path("admin", "quotas"), Page[QuotaLimit], limit=limit)

    @Call
    def set_defaults(
        self, limits: Mapping[Dimension, int | None], *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Page[QuotaLimit]]:
        body = SetQuotas(limits=dict(limits), reason=reason)
        return put(path("admin", "quotas"), Page[QuotaLimit], body, key=idempotency_key)

    @Call
    def get(self, scope: QuotaScope, id: str) -> Request[Quota]:
        return get(route(scope, id), Quota)

    @Call
    def set(
        self,
        scope: QuotaScope,
        id: str,
        limits: Mapping[Dimension, int | None],
        *,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[Quota]:
        """`None` for a dimension: no limit. What is left out stays as it is."""
        return put(route(scope, id), Quota, SetQuotas(limits=dict(limits), reason=reason), key=idempotency_key)

    @Call
    def clear(
        self,
        scope: QuotaScope,
        id: str,
        dimension: Dimension | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Request[None]:
        """Back to the defaults, in one dimension or in all."""
        return replace(delete(route(scope, id), key=idempotency_key), query={"dimension": dimension})


def route(scope: QuotaScope, id: str) -> str:
    return path("admin", f"{scope.value}s", id, "quotas")
