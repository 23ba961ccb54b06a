"""Routes of tokens. Generated from the OpenAPI description by `make sdk`; do not edit."""

from collections.abc import Iterable

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.identity import CreateToken, NewToken, Scope, Token


class TokensRoutes(Resource[R_co]):
    @Call
    def create(
        self, title: str, scopes: Iterable[Scope], *, expires_in_days: int = 30, idempotency_key: str | None = None
    ) -> Request[NewToken]:
        """Create a personal token for scripts: with scopes, an end, and revocable."""
        body = CreateToken(title=title, scopes=[*scopes], expires_in_days=expires_in_days)
        return post(path("auth", "tokens"), NewToken, body, key=idempotency_key)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[Token]]:
        """Your personal tokens; the secret of each was shown once."""
        return get(path("auth", "tokens"), Page[Token], limit=limit)

    @Call
    def revoke(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Revoke a personal token at once. SSH keys that it added are removed."""
        return delete(path("auth", "tokens", id), type(None), idempotency_key)
