"""Routes of members. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post, put
from gpuaas.wire.common import Page
from gpuaas.wire.identity import Role
from gpuaas.wire.members import ChangeMember, InviteMember, Member, Reach, ReachedProject, SentInvitation


class MembersRoutes(Resource[R_co]):
    @Call
    def change(
        self, project_id: str, user_id: str, role: Role, *, idempotency_key: str | None = None
    ) -> Request[Member]:
        """Change a role. A person who becomes a viewer loses access to allocations. The last owner stays. A personal
        token can only lower a role."""
        body = ChangeMember(role=role)
        return put(path("projects", project_id, "members", user_id), Member, body, key=idempotency_key)

    @Call
    def get(self, project_id: str, user_id: str) -> Request[ReachedProject]:
        """One member: their role, and the allocations of the project that they hold or were granted."""
        return get(path("projects", project_id, "members", user_id), ReachedProject)

    @Call
    def invite(
        self, project_id: str, email: str, *, role: Role = Role.MEMBER, idempotency_key: str | None = None
    ) -> Request[SentInvitation]:
        """Invite a person. The response contains the link for them, once; another invitation makes a new link. Needs
        a login; a personal token is refused."""
        body = InviteMember(email=email, role=role)
        return post(path("projects", project_id, "members"), SentInvitation, body, key=idempotency_key)

    @Listing
    def list(self, project_id: str, *, limit: int | None = None) -> Request[Page[Member]]:
        """The members of a project, with their roles."""
        return get(path("projects", project_id, "members"), Page[Member], limit=limit)

    @Call
    def reach(self) -> Request[Reach]:
        """Everything you can access: projects, your role in each, and allocations that you hold or were granted."""
        return get(path("me", "reach"), Reach)

    @Call
    def remove(self, project_id: str, user_id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Remove a member, or leave: their keys are removed from every allocation of the project at once."""
        return delete(path("projects", project_id, "members", user_id), type(None), idempotency_key)
