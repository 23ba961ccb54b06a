"""Exports the audit log as JSON lines: all rows with their seals for operators, the rows of one tenant for its
owners.
"""

from collections.abc import AsyncGenerator
from datetime import datetime

import msgspec

from gpuaas.core.db import Database
from gpuaas.core.secrets import AuditSigner
from gpuaas.domain.audit import store
from gpuaas.wire.audit import AuditRecord, ChainKey, Seal

BATCH = 500
SEALS = 20  # read at a time
encode = msgspec.json.Encoder().encode


def lines(items: list[AuditRecord | Seal | ChainKey]) -> bytes:
    return b"".join(encode(item) + b"\n" for item in items)


async def whole_log(db: Database, signer: AuditSigner, now: datetime) -> AsyncGenerator[bytes, None]:
    """The key, then each seal after the rows that it covers, and finally the rows that are not sealed yet."""
    yield lines([ChainKey(signer=signer.id, public_key=signer.public_key, exported_at=now)])
    place, number = store.Place(), 0
    while True:
        async with db.read("export audit") as tx:
            found = await store.seals(tx, number, SEALS)
            covered = []
            for seal in found:
                covered.append((seal, await store.between(tx, place, seal.where())))
                place, number = seal.where(), seal.number
        if not found:
            break
        for seal, rows in covered:
            yield lines([*(row.record() for row in rows), seal.seal()])
    async with db.read("export audit") as tx:
        rest = await store.settled(tx, place, BATCH)
    yield lines([row.record() for row in rest])


async def tenants_log(db: Database, tenant_id: str) -> AsyncGenerator[bytes, None]:
    """Rows only: a seal covers rows of all tenants, so only operators can verify it."""
    after = 0
    while True:
        async with db.read("export audit") as tx:
            rows = await store.of_tenant(tx, tenant_id, after, BATCH)
        if not rows:
            return
        yield lines([row.record() for row in rows])
        after = rows[-1].id
