"""Seals every audit row with a signature within about a second."""

from datetime import datetime

import asyncpg
import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.errors import Raced
from gpuaas.core.secrets import AuditSigner
from gpuaas.domain.audit import store
from gpuaas.wire.audit import START, Seal, row_hash, seal_hash

BATCH = 2_000
log = structlog.get_logger()


class SealWorker:
    name = "audit_seals"
    topics: tuple[str, ...] = ()
    due = """
        select '' as id where exists (
            select from audit a left join (select * from audit_seals order by number desc limit 1) s on true
            where (a.epoch, a.xid) < (history_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
                and (a.epoch, a.xid, a.id) > (coalesce(s.to_epoch, -1), coalesce(s.to_xid, '0'), coalesce(s.to_id, 0)))
    """
    pause = 0.5

    def __init__(self, db: Database, clock: Clock, signer: AuditSigner) -> None:
        self._db, self._clock, self._signer = db, clock, signer

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for the whole log
        while await self._seal_batch():
            pass

    async def _seal_batch(self) -> bool:
        """Seal one batch; returns whether there may be more. The log line follows the commit, because it is evidence
        of a stored seal.
        """
        now = self._clock.now()
        try:
            async with self._db.write("seal audit") as tx:
                last = await store.last_seal(tx)
                rows = await store.settled(tx, last.where() if last else store.Place(), BATCH)
                if not rows:
                    return False
                # A seal covers one epoch only, so that a failover or restore falls between two seals.
                rows = [row for row in rows if row.epoch == rows[0].epoch]
                seal = self._seal(last, rows, now)
                await store.add_seal(tx, seal, rows[-1].where(), now)
        except asyncpg.UniqueViolationError as error:
            raise Raced("another replica sealed these rows") from error
        log.info(
            "audit.sealed",
            number=seal.number,
            epoch=seal.epoch,
            rows=seal.rows,
            hash=seal.hash,
            signature=seal.signature,
            signer=seal.signer,
        )
        return True

    def _seal(self, last: store.SealRow | None, rows: list[store.PlacedRecord], now: datetime) -> Seal:
        number, prev_hash = (last.number + 1, last.hash) if last else (1, START)
        hashes = [row_hash(row.record()) for row in rows]
        made = seal_hash(prev_hash=prev_hash, number=number, epoch=rows[0].epoch, sealed_at=now, rows=hashes)
        return Seal(
            number=number,
            epoch=rows[0].epoch,
            rows=len(rows),
            sealed_at=now,
            prev_hash=prev_hash,
            hash=made,
            signature=self._signer.sign(made),
            signer=self._signer.id,
        )
