"""For operators: limits of a tenant, a project or a person by one set of methods."""

from collections.abc import Mapping

from gpuaas.sdk.methods import Call, R_co
from gpuaas.sdk.requests import Request, delete, get, path, put
from gpuaas.sdk.routes.admin_quotas import AdminQuotasRoutes
from gpuaas.wire.quotas import Dimension, Quota, QuotaScope, SetQuotas


class AdminQuotas(AdminQuotasRoutes[R_co]):
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
        """`None` for a dimension: no limit. Dimensions that are left out stay as they are."""
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
        return delete(route(scope, id), type(None), idempotency_key, dimension=dimension)


def route(scope: QuotaScope, id: str) -> str:
    return path("admin", f"{scope.value}s", id, "quotas")
