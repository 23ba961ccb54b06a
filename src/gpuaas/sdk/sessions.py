"""Where you are signed in."""

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, delete, get, path
from gpuaas.wire.common import Page
from gpuaas.wire.identity import Session


class Sessions(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Session]]:
        return get(path("auth", "sessions"), Page[Session], limit=limit)

    @Call
    def revoke(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        return delete(path("auth", "sessions", id), key=idempotency_key)
