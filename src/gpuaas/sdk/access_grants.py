"""Access grants: who else may enter a machine."""

from datetime import datetime

from msgspec import UNSET, UnsetType

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Repeat, Request, get, patch, path, post
from gpuaas.wire.access import AccessGrant, AskAccess, ChangeAccessGrant, CreateAccessGrant
from gpuaas.wire.common import Page


class AccessGrants(Noun[R_co]):
    @Listing
    def list(self, allocation_id: str, *, limit: int | None = None) -> Request[Page[AccessGrant]]:
        """Of one machine, also what is over."""
        return get(path("allocations", allocation_id, "access-grants"), Page[AccessGrant], limit=limit)

    @Listing
    def list_live(self, project_id: str, *, limit: int | None = None) -> Request[Page[AccessGrant]]:
        """Every live grant of a project."""
        return get(path("projects", project_id, "access-grants"), Page[AccessGrant], limit=limit)

    @Call
    def get(self, allocation_id: str, id: str) -> Request[AccessGrant]:
        return get(path("allocations", allocation_id, "access-grants", id), AccessGrant)

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
        """Share a machine with a member, or say yes to one who asked. Without a key of theirs it waits for them."""
        body = CreateAccessGrant(user_id=user_id, ssh_key_id=ssh_key_id, expires_at=expires_at)
        return post(path("allocations", allocation_id, "access-grants"), AccessGrant, body, key=idempotency_key)

    @Call
    def ask(
        self,
        allocation_id: str,
        *,
        ssh_key_id: str | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> Request[AccessGrant]:
        body = AskAccess(ssh_key_id=ssh_key_id, reason=reason)
        return post(path("allocations", allocation_id, "access-requests"), AccessGrant, body, key=idempotency_key)

    @Call
    def change(
        self,
        allocation_id: str,
        id: str,
        *,
        ssh_key_id: str | UnsetType = UNSET,
        expires_at: datetime | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[AccessGrant]:
        """The grantee chooses the key, whoever shares the machine when it ends."""
        body = ChangeAccessGrant(ssh_key_id=ssh_key_id, expires_at=expires_at)
        return patch(path("allocations", allocation_id, "access-grants", id), AccessGrant, body, key=idempotency_key)

    @Call
    def revoke(
        self, allocation_id: str, id: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Request[AccessGrant]:
        """New logins are refused and open sessions cut within seconds; `notice` says what that does not undo."""
        return Request(
            method="DELETE",
            path=path("allocations", allocation_id, "access-grants", id),
            answer=AccessGrant,
            query={"reason": reason},
            repeat=Repeat.WITH_KEY,
            idempotency_key=idempotency_key,
        )
