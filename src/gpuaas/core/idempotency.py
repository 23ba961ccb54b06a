"""A mutation asked for twice is done once: the key is the first row of its transaction, the answer its last.

A duplicate that arrives while the first runs waits on that row, as long as core/db.py lets any lock be waited for, then
gets the stored bytes. Only 2xx is kept, so a refusal, which rolls back, may be tried again.
"""

import hashlib

import asyncpg
from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import IdempotencyKeyReused, RequestInProgress
from gpuaas.core.secrets import MasterKey

KEEP = "24 hours"


class Stored(Struct, frozen=True):
    status: int
    body: bytes


class _Row(Struct, frozen=True):
    request_hash: bytes
    status: int | None
    body: bytes | None
    sealed: bool


class Idempotency(Struct, frozen=True):
    """One use of one key by one caller on one route."""

    caller: str
    route: str
    key: str
    request_hash: bytes

    async def begin(self, tx: Tx, master: MasterKey) -> Stored | None:
        """None: go on, the key is ours. Otherwise the answer given before."""
        try:
            fresh = await tx.value(BEGIN, self.caller, self.route, self.key, self.request_hash)
        except asyncpg.LockNotAvailableError as error:
            raise RequestInProgress(
                "The first request with this idempotency key is still running. Repeat this one in a few seconds."
            ) from error
        if fresh:
            return None
        row = await tx.one(_Row, FIND, self.caller, self.route, self.key)
        if row.request_hash != self.request_hash:
            raise IdempotencyKeyReused("This idempotency key was used for a different request. Use a new key.")
        body = row.body or b""
        return Stored(row.status or 200, master.open(body, self._name) if row.sealed else body)

    async def finish(self, tx: Tx, answer: Stored, *, seal_with: MasterKey | None) -> None:
        """An answer that shows a secret once is kept sealed."""
        body = seal_with.seal(answer.body, self._name) if seal_with else answer.body
        await tx.run(FINISH, self.caller, self.route, self.key, answer.status, body, seal_with is not None)

    @property
    def _name(self) -> str:
        return f"idempotency:{self.caller}:{self.route}:{self.key}"


def request_hash(method: str, path: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\x00".join((method.encode(), path.encode(), body))).digest()


# An expired key that was not swept yet is taken over as if it were new.
BEGIN = f"""
    insert into idempotency as kept (caller, route, key, request_hash, expires_at)
    values ($1, $2, $3, $4, clock_timestamp() + interval '{KEEP}')
    on conflict (caller, route, key) do update
        set request_hash = excluded.request_hash, expires_at = excluded.expires_at, status = null, body = null
        where kept.expires_at < clock_timestamp()
    returning true
"""
FIND = "select request_hash, status, body, sealed from idempotency where caller = $1 and route = $2 and key = $3"
FINISH = "update idempotency set status = $4, body = $5, sealed = $6 where caller = $1 and route = $2 and key = $3"
