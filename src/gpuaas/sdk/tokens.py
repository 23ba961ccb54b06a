"""Personal tokens for programs: scoped, expiring, revocable."""

from collections.abc import Iterable

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.identity import CreateToken, NewToken, Scope, Token


class Tokens(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Token]]:
        return get(path("auth", "tokens"), Page[Token], limit=limit)

    @Call
    def create(
        self, title: str, scopes: Iterable[Scope], *, expires_in_days: int = 30, idempotency_key: str | None = None
    ) -> Request[NewToken]:
        """The answer is the only one that ever holds the token itself."""
        body = CreateToken(title=title, scopes=[*scopes], expires_in_days=expires_in_days)
        return post(path("auth", "tokens"), NewToken, body, key=idempotency_key)

    @Call
    def revoke(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        return delete(path("auth", "tokens", id), key=idempotency_key)
