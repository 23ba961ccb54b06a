"""SQL for audit seals and for reading the audit log."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.wire.audit import AuditRecord, Seal


class Place(Struct, frozen=True, order=True):
    """The position of a row in commit order."""

    epoch: int = -1
    xid: int = 0
    id: int = 0


class PlacedRecord(AuditRecord, frozen=True, kw_only=True):
    epoch: int
    place: int

    def where(self) -> Place:
        return Place(self.epoch, self.place, self.id)

    def record(self) -> AuditRecord:
        return AuditRecord(**{field: getattr(self, field) for field in AuditRecord.__struct_fields__})


class SealRow(Seal, frozen=True, kw_only=True):
    to_epoch: int
    to_xid: int
    to_id: int

    def where(self) -> Place:
        return Place(self.to_epoch, self.to_xid, self.to_id)

    def seal(self) -> Seal:
        return Seal(**{field: getattr(self, field) for field in Seal.__struct_fields__})


async def last_seal(tx: Tx) -> SealRow | None:
    return await tx.maybe(SealRow, f"{SEALS} order by number desc limit 1")


async def seal(tx: Tx, number: int) -> SealRow | None:
    return await tx.maybe(SealRow, f"{SEALS} where number = $1", number)


async def seals(tx: Tx, after: int, limit: int) -> list[SealRow]:
    return await tx.all(SealRow, f"{SEALS} where number > $1 order by number limit $2", after, limit)


async def settled(tx: Tx, after: Place, limit: int) -> list[PlacedRecord]:
    """Committed rows that no transaction in progress can precede."""
    return await tx.all(PlacedRecord, SETTLED, after.epoch, after.xid, after.id, limit)


async def between(tx: Tx, after: Place, upto: Place) -> list[PlacedRecord]:
    """The rows that a seal covers."""
    places = (after.epoch, after.xid, after.id, upto.epoch, upto.xid, upto.id)
    return await tx.all(PlacedRecord, BETWEEN, *places)


async def of_tenant(tx: Tx, tenant_id: str, after: int, limit: int) -> list[PlacedRecord]:
    return await tx.all(PlacedRecord, OF_TENANT, tenant_id, after, limit)


async def add_seal(tx: Tx, seal: Seal, to: Place, now: datetime) -> None:
    """If two replicas seal at once, the primary key accepts one of them."""
    await tx.run(
        ADD_SEAL,
        seal.number,
        to.epoch,
        to.xid,
        to.id,
        seal.rows,
        now,
        seal.prev_hash,
        seal.hash,
        seal.signature,
        seal.signer,
    )


SEALS = """
    select number, to_epoch as epoch, rows, sealed_at, prev_hash, hash, signature, signer, to_epoch,
        to_xid::text::bigint as to_xid, to_id from audit_seals
"""
RECORD = """
    select id, at, tenant_id, project_id, actor, acted_as, action, target_kind, target_id, result, repeats,
        correlation_id, facts, epoch, xid::text::bigint as place from audit
"""
SETTLED = f"""
    {RECORD} where (epoch, xid, id) > ($1::int, $2::bigint::text::xid8, $3::bigint)
        and (epoch, xid) < (history_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
    order by epoch, audit.xid, id limit $4
"""  # house: project-filter because seals cover everybody's rows
BETWEEN = f"""
    {RECORD} where (epoch, xid, id) > ($1::int, $2::bigint::text::xid8, $3::bigint)
        and (epoch, xid, id) <= ($4::int, $5::bigint::text::xid8, $6::bigint)
    order by epoch, audit.xid, id
"""  # house: project-filter because seals cover everybody's rows
OF_TENANT = f"{RECORD} where tenant_id = $1 and id > $2 order by id limit $3"
ADD_SEAL = """
    insert into audit_seals (number, to_epoch, to_xid, to_id, rows, sealed_at, prev_hash, hash, signature, signer)
    values ($1, $2, $3::bigint::text::xid8, $4, $5, $6, $7, $8, $9, $10)
"""
