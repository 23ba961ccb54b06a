"""Routes of admin quotas. Generated from the OpenAPI description by `make sdk`; do not edit."""

from collections.abc import Mapping

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, put
from gpuaas.wire.common import Page
from gpuaas.wire.quotas import Dimension, QuotaLimit, SetQuotas


class AdminQuotasRoutes(Resource[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[QuotaLimit]]:
        """Every limit that is set: the platform's defaults, and exceptions from them."""
        return get(path("admin", "quotas"), Page[QuotaLimit], limit=limit)

    @Call
    def set_defaults(
        self, limits: Mapping[Dimension, int | None], *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Page[QuotaLimit]]:
        """Set the defaults, for every tenant and person without a limit."""
        body = SetQuotas(limits=dict(limits), reason=reason)
        return put(path("admin", "quotas"), Page[QuotaLimit], body, key=idempotency_key)
