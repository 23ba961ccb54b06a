"""Members of a project, invitations, and what a person can reach."""

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, delete, get, path, post, put
from gpuaas.wire.common import Page
from gpuaas.wire.identity import Role
from gpuaas.wire.members import (
    AcceptInvitation,
    ChangeMember,
    Invitation,
    InviteMember,
    Member,
    Reach,
    ReachedProject,
    SentInvitation,
    secret_in,
)


class Members(Noun[R_co]):
    @Listing
    def list(self, project_id: str, *, limit: int | None = None) -> Request[Page[Member]]:
        return get(path("projects", project_id, "members"), Page[Member], limit=limit)

    @Call
    def get(self, project_id: str, user_id: str) -> Request[ReachedProject]:
        """Their role, and the machines of the project that they hold or were granted."""
        return get(path("projects", project_id, "members", user_id), ReachedProject)

    @Call
    def invite(
        self, project_id: str, email: str, *, role: Role = Role.MEMBER, idempotency_key: str | None = None
    ) -> Request[SentInvitation]:
        """Pass `link` on to the person; it is in this response only."""
        body = InviteMember(email=email, role=role)
        return post(path("projects", project_id, "members"), SentInvitation, body, key=idempotency_key)

    @Call
    def change(
        self, project_id: str, user_id: str, role: Role, *, idempotency_key: str | None = None
    ) -> Request[Member]:
        body = ChangeMember(role=role)
        return put(path("projects", project_id, "members", user_id), Member, body, key=idempotency_key)

    @Call
    def remove(self, project_id: str, user_id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Also how one leaves. Their keys go from every machine of the project at once."""
        return delete(path("projects", project_id, "members", user_id), key=idempotency_key)

    @Call
    def reach(self) -> Request[Reach]:
        """All that you can reach."""
        return get(path("me", "reach"), Reach)


class Invitations(Noun[R_co]):
    @Listing
    def list(self, *, project_id: str | None = None, limit: int | None = None) -> Request[Page[Invitation]]:
        """Open invitations that you sent; or all of a project that you lead."""
        return get(path("invitations"), Page[Invitation], project_id=project_id, limit=limit)

    @Call
    def accept(self, link: str, *, idempotency_key: str | None = None) -> Request[Invitation]:
        """With the link that the inviter passed on, or its secret."""
        body = AcceptInvitation(secret=secret_in(link))
        return post(path("invitations", "accept"), Invitation, body, key=idempotency_key)

    @Call
    def withdraw(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        return delete(path("invitations", id), key=idempotency_key)
