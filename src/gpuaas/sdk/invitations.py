"""Invitations to projects."""

from gpuaas.sdk.methods import Call, R_co
from gpuaas.sdk.requests import Request, path, post
from gpuaas.sdk.routes.invitations import InvitationsRoutes
from gpuaas.wire.members import AcceptInvitation, Invitation, secret_in


class Invitations(InvitationsRoutes[R_co]):
    @Call
    def accept(self, link: str, *, idempotency_key: str | None = None) -> Request[Invitation]:
        """Accept by the link that the inviter passed on, or by its secret."""
        body = AcceptInvitation(secret=secret_in(link))
        return post(path("invitations", "accept"), Invitation, body, key=idempotency_key)
