"""SQL for unknown environments; observations/store.py writes what nodes report about them."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.logs import correlation_id
from gpuaas.core.paging import Paging
from gpuaas.domain.timeline.store import Subject
from gpuaas.wire.environments import Environment, ProofItem

UNKNOWN = "unknown_environments"  # the topic, and the lane of removals; its row ids are those of the table


class UnknownRow(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    node_name: str
    environment_id: str
    environment: Environment
    slots: list[int]
    first_seen_at: datetime
    last_seen_at: datetime
    gone_at: datetime | None
    adopted_at: datetime | None
    removal_requested_at: datetime | None
    removal_requested_by: str | None
    removal_reason: str
    removal_note: str
    removed_at: datetime | None
    proofs: list[ProofItem]
    is_known: bool

    @property
    def subject(self) -> Subject:
        return Subject(kind="node", id=self.node_id)


async def present(tx: Tx, node_id: str | None, paging: Paging) -> list[UnknownRow]:
    """Environments that exist and are neither adopted nor removed, of one node or of the fleet."""
    return await tx.all(UnknownRow, PRESENT, node_id, paging.before, paging.limit + 1)


async def find(tx: Tx, node_id: str, environment_id: str) -> UnknownRow:
    row = await tx.maybe(UnknownRow, FIND, node_id, environment_id)
    if row is None:
        raise NotFound("unknown_environment")
    return row


async def get(tx: Tx, id: str) -> UnknownRow:
    return await tx.one(UnknownRow, f"{ROW} where u.id = $1", id)


async def adopt(
    tx: Tx, row: UnknownRow, operation_id: str, *, holder_id: str | None, name: str | None, actor: str, now: datetime
) -> str | None:
    """Returns the reason for a refusal; None when the allocation exists."""
    values = (row.id, operation_id, holder_id, name, actor, now, correlation_id.get())
    objection: str | None = await tx.value(f"select adopt_environment({ADOPT})", *values)
    return objection


async def request_removal(tx: Tx, row: UnknownRow, *, actor: str, reason: str, now: datetime) -> None:
    await tx.run(REQUEST_REMOVAL, row.id, now, actor, reason)
    tx.hint(UNKNOWN, row.id)


async def note_removal(tx: Tx, row: UnknownRow, note: str, proofs: list[ProofItem]) -> None:
    await tx.run("update unknown_environments set removal_note = $2, proofs = $3 where id = $1", row.id, note, proofs)


async def removed(tx: Tx, row: UnknownRow, proofs: list[ProofItem], now: datetime) -> None:
    """The removal is proven: its devices are free."""
    await tx.run(REMOVED, row.id, now, proofs)


ADOPT = "$1, $2, $3, $4, $5, $6, $7"
ROW = """
    select u.*, n.name as node_name, exists (select from allocations a where a.id = u.environment_id) as is_known,
        array(select s.index from device_holds h join slots s on s.id = h.slot_id
            where h.node_id = u.node_id and h.environment_id = u.environment_id order by 1) as slots
    from unknown_environments u join nodes n on n.id = u.node_id
"""
FIND = f"""
    {ROW} where u.node_id = $1 and u.environment_id = $2
"""  # house: project-filter because operators see the whole fleet
PRESENT = f"""
    {ROW} where u.gone_at is null and u.adopted_at is null and u.removed_at is null
        and ($1::text is null or u.node_id = $1) and u.id < $2 order by u.id desc limit $3
"""  # house: project-filter because operators see the whole fleet
REQUEST_REMOVAL = """
    update unknown_environments set removal_requested_at = $2, removal_requested_by = $3, removal_reason = $4,
        removal_note = '' where id = $1
"""
REMOVED = """
    with gone as (
        update unknown_environments set removed_at = $2, gone_at = coalesce(gone_at, $2), proofs = $3, removal_note = ''
        where id = $1 returning node_id, environment_id
    ), freed as (
        delete from device_holds h using gone where h.node_id = gone.node_id and h.environment_id = gone.environment_id
    )
    update nodes n set unknown_environments = array_remove(n.unknown_environments, gone.environment_id)
    from gone where n.id = gone.node_id
"""
