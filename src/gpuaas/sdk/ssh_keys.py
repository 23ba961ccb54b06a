"""Your SSH public keys."""

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Request, delete, get, path, post
from gpuaas.wire.access import AddSshKey, SshKey
from gpuaas.wire.common import Page


class SshKeys(Noun[R_co]):
    @Listing
    def list(self, *, limit: int | None = None) -> Request[Page[SshKey]]:
        return get(path("ssh-keys"), Page[SshKey], limit=limit)

    @Call
    def get(self, id: str) -> Request[SshKey]:
        return get(path("ssh-keys", id), SshKey)

    @Call
    def add(self, title: str, public_key: str, *, idempotency_key: str | None = None) -> Request[SshKey]:
        return post(path("ssh-keys"), SshKey, AddSshKey(title=title, public_key=public_key), key=idempotency_key)

    @Call
    def remove(self, id: str, *, idempotency_key: str | None = None) -> Request[None]:
        return delete(path("ssh-keys", id), key=idempotency_key)
