"""Routes of access grants. Generated from the OpenAPI description by `make sdk`; do not edit."""

from datetime import datetime

from msgspec import UNSET, UnsetType

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, given, patch, path, post
from gpuaas.wire.access import AccessGrant, AskAccess, ChangeAccessGrant, CreateAccessGrant
from gpuaas.wire.common import Page


class AccessGrantsRoutes(Resource[R_co]):
    @Call
    def ask(
        self, allocation_id: str, *, ssh_key_id: str | None = None, reason: str = "", idempotency_key: str | None = None
    ) -> Request[AccessGrant]:
        """Request access; the holder or a project admin accepts the request."""
        body = AskAccess(ssh_key_id=ssh_key_id, reason=reason)
        return post(path("allocations", allocation_id, "access-requests"), AccessGrant, body, key=idempotency_key)

    @Call
    def change(
        self,
        allocation_id: str,
        id: str,
        *,
        ssh_key_id: str | UnsetType | None = UNSET,
        expires_at: datetime | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[AccessGrant]:
        """Change a grant. The grantee chooses the key; people who share the allocation set the end."""
        body = ChangeAccessGrant(ssh_key_id=given(ssh_key_id), expires_at=expires_at)
        return patch(path("allocations", allocation_id, "access-grants", id), AccessGrant, body, key=idempotency_key)

    @Call
    def create(
        self,
        allocation_id: str,
        user_id: str,
        *,
        ssh_key_id: str | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Request[AccessGrant]:
        """Share the allocation with a project member, at once. Without one of their keys, the grant waits until they
        choose one."""
        body = CreateAccessGrant(user_id=user_id, ssh_key_id=ssh_key_id, expires_at=expires_at)
        return post(path("allocations", allocation_id, "access-grants"), AccessGrant, body, key=idempotency_key)

    @Call
    def get(self, allocation_id: str, id: str) -> Request[AccessGrant]:
        """One grant."""
        return get(path("allocations", allocation_id, "access-grants", id), AccessGrant)

    @Listing
    def list(self, allocation_id: str, *, limit: int | None = None) -> Request[Page[AccessGrant]]:
        """Grants and access requests of this allocation, including those that ended."""
        return get(path("allocations", allocation_id, "access-grants"), Page[AccessGrant], limit=limit)

    @Listing
    def list_live(self, project_id: str, *, limit: int | None = None) -> Request[Page[AccessGrant]]:
        """Every live grant in the project."""
        return get(path("projects", project_id, "access-grants"), Page[AccessGrant], limit=limit)

    @Call
    def revoke(
        self, allocation_id: str, id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[AccessGrant]:
        """Revoke a grant, or give up your own: new logins are refused and live connections closed within seconds."""
        return delete(
            path("allocations", allocation_id, "access-grants", id), AccessGrant, idempotency_key, reason=reason
        )
