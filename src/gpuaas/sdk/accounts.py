"""For operators: tenants, projects and people by one set of methods, and their suspension."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, get, path, post
from gpuaas.wire.accounts import (
    AccountKind,
    AdminProject,
    AdminTenant,
    AdminUser,
    Suspend,
    Suspension,
    Unsuspend,
)
from gpuaas.wire.common import Page


class AdminAccounts(Resource[R_co]):
    """The lists are older names of `admin.tenants.list`, `admin.projects.list` and `admin.users.list`."""

    @Listing
    def tenants(self, *, search: str | None = None, limit: int | None = None) -> Request[Page[AdminTenant]]:
        """`search`: an id, or part of a slug."""
        return get(path("admin", "tenants"), Page[AdminTenant], search=search, limit=limit)

    @Listing
    def projects(
        self, *, search: str | None = None, tenant_id: str | None = None, limit: int | None = None
    ) -> Request[Page[AdminProject]]:
        return get(path("admin", "projects"), Page[AdminProject], search=search, tenant_id=tenant_id, limit=limit)

    @Listing
    def users(self, *, search: str | None = None, limit: int | None = None) -> Request[Page[AdminUser]]:
        """`search`: an id, or part of an e-mail address."""
        return get(path("admin", "users"), Page[AdminUser], search=search, limit=limit)

    @Call
    def suspend(
        self, kind: AccountKind, id: str, reason: str, *, idempotency_key: str | None = None
    ) -> Request[Suspension]:
        """Refuse new work and close connections; nothing is deleted. The suspended people see `reason`."""
        return post(path("admin", f"{kind}s", id, "suspend"), Suspension, Suspend(reason=reason), key=idempotency_key)

    @Call
    def resume(
        self, kind: AccountKind, id: str, *, reason: str = "", idempotency_key: str | None = None
    ) -> Request[Suspension]:
        """Everything is as it was before the suspension."""
        route = path("admin", f"{kind}s", id, "unsuspend")
        return post(route, Suspension, Unsuspend(reason=reason), key=idempotency_key)
