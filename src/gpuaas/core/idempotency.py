"""A mutation asked for twice is done once: its key is locked before anything else, and kept with the answer at the end.

A duplicate that arrives while the first runs waits for that lock, as long as core/db.py lets any lock be waited for,
then gets the stored bytes. Only 2xx is kept, so a refusal, which rolls back, may be tried again. The lock only keeps
duplicates from working in vain: that a key is kept once is up to its table.
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
    """What the table has of a key; nothing of a fresh one."""

    request_hash: bytes | None
    status: int | None
    body: bytes | None
    sealed: bool | None


class Idempotency(Struct, frozen=True):
    """One use of one key by one caller on one route."""

    caller: str
    route: str
    key: str
    request_hash: bytes

    def answer(self, kept: Kept, master: MasterKey) -> Stored | None:
        """None: go on, the key is ours. Otherwise the answer given before."""
        if kept.request_hash is None:
            return None
        if kept.request_hash != self.request_hash:
            raise IdempotencyKeyReused("This idempotency key was used for a different request. Use a new key.")
        body = kept.body or b""
        return Stored(kept.status or 200, master.open(body, self._name) if kept.sealed else body)

    async def keep(self, tx: Tx, answer: Stored, *, seal_with: MasterKey | None) -> None:
        """An answer that shows a secret once is kept sealed."""
        body = seal_with.seal(answer.body, self._name) if seal_with else answer.body
        use = (self.caller, self.route, self.key, self.request_hash)
        if not await tx.run(KEEP_ANSWER, *use, answer.status, body, seal_with is not None):
            raise Raced("Another request with this idempotency key was faster. Try again.")

    @property
    def _name(self) -> str:
        return f"idempotency:{self.caller}:{self.route}:{self.key}"


def request_hash(method: str, path: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\x00".join((method.encode(), path.encode(), body))).digest()


# An expired key that was not swept yet is taken over as if it were new.
KEEP_ANSWER = f"""
    insert into idempotency as kept (caller, route, key, request_hash, status, body, sealed, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + interval '{KEEP}')
    on conflict (caller, route, key) do update
        set request_hash = excluded.request_hash, expires_at = excluded.expires_at, status = excluded.status,
            body = excluded.body, sealed = excluded.sealed
        where kept.expires_at < clock_timestamp()
"""
