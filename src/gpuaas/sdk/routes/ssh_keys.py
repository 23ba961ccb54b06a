"""Routes of ssh keys. Generated from the OpenAPI description by `make sdk`; do not edit."""

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.access import AddSshKey, SshKey
from gpuaas.wire.common import Page


class SshKeysRoutes(Resource[R_co]):
    @Call
    def add(self, title: str, public_key: str, *, idempotency_key: str | None = None) -> Request[SshKey]:
        """Add a public key: ed25519, ecdsa, rsa of 3072 bits or more, or a security key. Never send a private key."""
        body = AddSshKey(title=title, public_key=public_key)
        return post(path("ssh-keys"), SshKey, body, key=idempotency_key)

    @Call
    def get(self, id: str) -> Request[SshKey]:
        """One of your public keys."""
        return get(path("ssh-keys", id), SshKey)

    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[SshKey]]:
        """Your public keys."""
        return get(path("ssh-keys"), Page[SshKey], limit=limit)

    @Call
    def remove(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        """Remove a key from your account; it no longer gives access to any allocation."""
        return delete(path("ssh-keys", id), type(None), idempotency_key)
