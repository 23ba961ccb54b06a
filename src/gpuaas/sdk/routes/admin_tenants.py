"""Routes of admin tenants. Generated from the OpenAPI description by `make sdk`; do not edit."""

from collections.abc import Mapping

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post, put
from gpuaas.wire.accounts import AdminTenant, Suspend, Suspension, Unsuspend
from gpuaas.wire.common import Page
from gpuaas.wire.quotas import Dimension, Quota, SetQuotas


class AdminTenantsRoutes(Resource[R_co]):
    @Call
    def clear_quotas(
        self, id: str, *, dimension: Dimension | None = None, idempotency_key: str | None = None
    ) -> Request[None]:
        """Remove limits of one dimension or of all: then the platform's defaults and the tenant's limits apply."""
        return delete(path("admin", "tenants", id, "quotas"), type(None), idempotency_key, dimension=dimension)

    @Call
    def get_quotas(self, id: str) -> Request[Quota]:
        """The limits and usage of any tenant, project or person."""
        return get(path("admin", "tenants", id, "quotas"), Quota)

    @Listing
    def list(self, *, search: str | None = None, limit: int | None = None) -> Request[Page[AdminTenant]]:
        """Every tenant, newest first."""
        return get(path("admin", "tenants"), Page[AdminTenant], search=search, limit=limit)

    @Call
    def set_quotas(
        self, id: str, limits: Mapping[Dimension, int | None], *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Quota]:
        """Set limits. Existing resources above a new limit stay, but none can be added. The tenant's limits also
        apply to a project."""
        body = SetQuotas(limits=dict(limits), reason=reason)
        return put(path("admin", "tenants", id, "quotas"), Quota, body, key=idempotency_key)

    @Call
    def suspend(self, id: str, *, reason: str, idempotency_key: str | None = None) -> Request[Suspension]:
        """Refuse new work and close connections until the suspension ends; allocations keep running, and data is
        kept. Sessions, tokens and keys of a suspended person are refused, and admins of their projects hold their
        allocations."""
        body = Suspend(reason=reason)
        return post(path("admin", "tenants", id, "suspend"), Suspension, body, key=idempotency_key)

    @Call
    def unsuspend(self, id: str, *, reason: str = "", idempotency_key: str | None = None) -> Request[Suspension]:
        """End a suspension: roles, keys and grants are as before."""
        body = Unsuspend(reason=reason)
        return post(path("admin", "tenants", id, "unsuspend"), Suspension, body, key=idempotency_key)
