"""Routes of sessions. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.identity import Session


class SessionsRoutes(Resource[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Session]]:
        """Your sessions."""
        return get(path("auth", "sessions"), Page[Session], limit=limit)

    @Call
    def revoke(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """End one of your sessions."""
        return delete(path("auth", "sessions", id), type(None), idempotency_key)
