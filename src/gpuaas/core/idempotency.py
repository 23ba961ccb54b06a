"""Idempotency keys: a repeated mutation runs once. The key is locked first and stored with the response at the end.

A duplicate that arrives while the first request runs waits for the lock, up to the lock timeout of core/db.py, then
gets the stored bytes. Only 2xx responses are stored, so a refused request can be retried. The lock is an optimisation;
the primary key of the table guarantees that a key is stored once.
"""

import hashlib

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import IdempotencyKeyReused, Raced
from gpuaas.core.secrets import MasterKey

KEEP = "24 hours"


class Stored(Struct, frozen=True):
    status: int
    body: bytes


class Kept(Struct, frozen=True, kw_only=True, rename=lambda field: f"kept_{field}"):
    """The stored row of a key; None for a new key."""

    request_hash: bytes | None
    status: int | None
    body: bytes | None
    sealed: bool | None


class Idempotency(Struct, frozen=True):
    """A key of one caller on one route."""

    caller: str
    route: str
    key: str
    request_hash: bytes

    def answer(self, kept: Kept, master: MasterKey) -> Stored | None:
        """None if this request owns the key; otherwise the stored response."""
        if kept.request_hash is None:
            return None
        if kept.request_hash != self.request_hash:
            raise IdempotencyKeyReused("This idempotency key was used for a different request. Use a new key.")
        body = kept.body or b""
        return Stored(kept.status or 200, master.open(body, self._name) if kept.sealed else body)

    async def keep(self, tx: Tx, answer: Stored, *, seal_with: MasterKey | None) -> None:
        """A response that contains a one-time secret is stored encrypted."""
        body = seal_with.seal(answer.body, self._name) if seal_with else answer.body
        use = (self.caller, self.route, self.key, self.request_hash)
        if not await tx.run(KEEP_ANSWER, *use, answer.status, body, seal_with is not None):
            raise Raced("Another request with this idempotency key was faster. Try again.")

    @property
    def _name(self) -> str:
        return f"idempotency:{self.caller}:{self.route}:{self.key}"


def request_hash(method: str, path: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\x00".join((method.encode(), path.encode(), body))).digest()


# An expired key that the sweeper has not deleted yet is reused.
KEEP_ANSWER = f"""
    insert into idempotency as kept (caller, route, key, request_hash, status, body, sealed, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + interval '{KEEP}')
    on conflict (caller, route, key) do update
        set request_hash = excluded.request_hash, expires_at = excluded.expires_at, status = excluded.status,
            body = excluded.body, sealed = excluded.sealed
        where kept.expires_at < clock_timestamp()
"""
