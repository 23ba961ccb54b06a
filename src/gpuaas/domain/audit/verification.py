"""Verifies the hash chain of the audit log on the server, a limited number of seals per request."""

from gpuaas.core.db import Database
from gpuaas.domain.audit import store
from gpuaas.domain.audit.store import SealRow
from gpuaas.wire.audit import AuditVerification, Verification

SEALS = 100  # per request, unless they cover too many rows: one request must not delay others
ROWS = 1_000


async def verify(db: Database, public_key: str, after: int) -> AuditVerification:
    """Verify the seals after number `after` with the public key of this server."""
    async with db.read("verify audit") as tx:
        before = await store.seal(tx, after)
        found = await store.seals(tx, after, SEALS)
        chosen = within(found)
        place = before.where() if before else store.Place()
        rows = await store.between(tx, place, chosen[-1].where()) if chosen else []
    checked = Verification(public_key=public_key, after=before.seal() if before else None)
    taken = 0
    for seal in chosen:
        while taken < len(rows) and rows[taken].where() <= seal.where():
            checked.take(rows[taken].record())
            taken += 1
        checked.take(seal.seal())
    return AuditVerification(
        seals=checked.seals,
        rows=checked.rows,
        errors=checked.errors,
        notes=checked.notes,
        head=checked.head,
        is_complete=len(chosen) == len(found) < SEALS,
    )


def within(seals: list[SealRow]) -> list[SealRow]:
    """The first seals that cover at most ROWS rows together, and at least one."""
    total, count = 0, 0
    for seal in seals:
        total += seal.rows
        if count and total > ROWS:
            break
        count += 1
    return seals[:count]
