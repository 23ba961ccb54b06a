"""Routes of invitations. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.members import AcceptInvitation, Invitation


class InvitationsRoutes(Resource[R_co]):
    @Call
    def accept_secret(self, secret: str, *, idempotency_key: str | None = None) -> Request[Invitation]:
        """Join with the secret of an invitation link: you become a member of the project and of its tenant."""
        body = AcceptInvitation(secret=secret)
        return post(path("invitations", "accept"), Invitation, body, key=idempotency_key)

    @Listing
    def list(self, *, project_id: str | None = None, limit: int | None = None) -> Request[Page[Invitation]]:
        """Open invitations that you sent; with `project_id`, all invitations of a project of which you are an admin."""
        return get(path("invitations"), Page[Invitation], project_id=project_id, limit=limit)

    @Call
    def withdraw(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Withdraw an invitation of a project of which you are an admin; its link becomes invalid."""
        return delete(path("invitations", id), type(None), idempotency_key)
