"""SQL for unknown volumes and the nodes that see them."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, Raced
from gpuaas.core.logs import correlation_id
from gpuaas.core.paging import Paging
from gpuaas.domain.timeline.store import Subject
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.storage import Backend, PresentVolume, VolumeOwnership, VolumeRef, VolumeStatus
from gpuaas.wire.unknown_volumes import VolumeSighting

UNKNOWN_VOLUMES = "unknown_volumes"  # the topic, and the lane of removals; its row ids are those of the table
SHARED = "shared"  # the place of every volume on shared storage


class UnknownVolumeRow(Struct, frozen=True, kw_only=True):
    id: str
    place: str
    volume_id: str
    backend: Backend
    seen: PresentVolume
    sightings: list[VolumeSighting]
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
    def ref(self) -> VolumeRef:
        """A removal does not use the size."""
        size = self.seen.ownership.size_gib if self.seen.ownership else 1
        return VolumeRef(volume_id=self.volume_id, backend=self.backend, size_gib=size)

    def subject(self, node_id: str) -> Subject:
        return Subject(kind="node", id=node_id)


class KnownVolume(Struct, frozen=True, kw_only=True):
    id: str
    status: VolumeStatus
    ownership: VolumeOwnership


class NewSighting(Struct, frozen=True):
    """An unknown volume in a node's report; `id` becomes the id of its row if that is new."""

    id: str
    place: str
    seen: PresentVolume
    mounted_in: list[str]


class Restored(Struct, frozen=True):
    attachment_id: str
    volume_id: str
    mount_path: str


async def known(tx: Tx, volume_ids: list[str]) -> dict[str, KnownVolume]:
    return {row.id: row for row in await tx.all(KnownVolume, KNOWN, volume_ids)}


async def mark_stale(tx: Tx, volume_ids: list[str], now: datetime) -> None:
    """The ownership records of these volumes on their node differ from the rows."""
    await tx.run(MARK_STALE, volume_ids, now)


async def observe(tx: Tx, node_id: str, unknown: Sequence[NewSighting], *, at: datetime, now: datetime) -> None:
    """Store one part of a report. Sorted by volume, so that two nodes that see the same volumes do not deadlock."""
    seen = sorted(unknown, key=lambda one: (one.place, one.seen.volume_id))
    await tx.run(
        OBSERVE,
        node_id,
        [one.id for one in seen],
        [one.place for one in seen],
        [one.seen.volume_id for one in seen],
        [one.seen.backend.value for one in seen],
        [one.seen for one in seen],
        [{"mounted_in": one.mounted_in} for one in seen],
        at,
        now,
    )


async def complete(tx: Tx, node_id: str, *, at: datetime, now: datetime) -> None:
    """Delete sightings that are missing from this report; a volume that no node sees is gone.

    These are three statements, so that each sees what reports of other nodes committed while the first waited for
    their locks.
    """
    if missing := await tx.column(LOCK_MISSING, node_id, at):
        await tx.run(FORGET_SIGHTINGS, node_id, at, missing)
        await tx.run(GONE, missing, now)


async def present(tx: Tx, node_id: str | None, paging: Paging) -> list[UnknownVolumeRow]:
    """Volumes that exist and are neither adopted nor removed, of one node or of the fleet."""
    return await tx.all(UnknownVolumeRow, PRESENT, node_id, paging.before, paging.limit + 1)


async def find(tx: Tx, node_id: str, volume_id: str) -> UnknownVolumeRow:
    row = await tx.maybe(UnknownVolumeRow, FIND, node_id, volume_id)
    if row is None:
        raise NotFound("unknown_volume")
    return row


async def get(tx: Tx, id: str) -> UnknownVolumeRow:
    return await tx.one(UnknownVolumeRow, f"{ROW} where u.id = $1", id)


async def count_on_node(tx: Tx, node_id: str) -> int:
    found: int = await tx.value(COUNT_ON_NODE, node_id)
    return found


async def node_for_removal(tx: Tx, row: UnknownVolumeRow) -> str | None:
    """A node that sees the volume, preferably one that is online."""
    found: str | None = await tx.value(NODE_FOR_REMOVAL, row.id)
    return found


async def adopt(
    tx: Tx, row: UnknownVolumeRow, operation_id: str, *, name: str | None, actor: str, now: datetime
) -> str | None:
    """Returns the reason for a refusal; None when the volume exists."""
    values = (row.id, operation_id, name, actor, now, correlation_id.get())
    objection: str | None = await tx.value("select adopt_volume($1, $2, $3, $4, $5, $6)", *values)
    return objection


async def mounted_in_adopted(tx: Tx, volume_id: str) -> list[str]:
    """Adopted environments in which this volume was mounted."""
    found: list[str] = await tx.column(MOUNTED_IN_ADOPTED, [{"volume_id": volume_id}])
    return found


async def count_mounts(tx: Tx, allocation_id: str) -> int:
    """The number of mounts that the node reported for an adopted environment."""
    found: int | None = await tx.value(COUNT_MOUNTS, allocation_id)
    return found or 0


async def restore_attachments(
    tx: Tx, allocation_id: str, new_ids: list[str], operation_id: str, *, actor: str, now: datetime
) -> list[Restored]:
    return await tx.all(Restored, RESTORE_ATTACHMENTS, allocation_id, new_ids, operation_id, actor, now)


async def request_removal(tx: Tx, row: UnknownVolumeRow, *, actor: str, reason: str, now: datetime) -> None:
    if not await tx.run(REQUEST_REMOVAL, row.id, now, actor, reason):
        raise Raced("The volume was adopted in the meantime.")
    tx.hint(UNKNOWN_VOLUMES, row.id)


async def note_removal(tx: Tx, row: UnknownVolumeRow, note: str, proofs: list[ProofItem]) -> None:
    await tx.run("update unknown_volumes set removal_note = $2, proofs = $3 where id = $1", row.id, note, proofs)


async def removed(tx: Tx, row: UnknownVolumeRow, proofs: list[ProofItem], now: datetime) -> None:
    await tx.run(REMOVED, row.id, now, proofs)


MARK_STALE = "update volumes set record_stale_since = $2 where id = any ($1) and record_stale_since is null"
KNOWN = """
    select id, status, jsonb_build_object('tenant_id', tenant_id, 'project_id', project_id, 'name', name, 'size_gib',
        size_gib, 'backend', backend, 'write_policy', write_policy, 'protected', protected, 'snapshot_id', snapshot_id,
        'created_by', created_by, 'created_at', created_at) as ownership
    from volumes where id = any ($1)
"""
# A report that began before a removal was proven must not restore the row.
OBSERVE = """
    with told as (
        select s.*, array(select jsonb_array_elements_text(s.mounts -> 'mounted_in')) as mounted_in
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::jsonb[])
            as s (id, place, volume_id, backend, seen, mounts)
    ), kept as (
        insert into unknown_volumes (id, place, volume_id, backend, seen, first_seen_at, last_seen_at)
        select id, place, volume_id, backend, seen, $9, $9 from told
        on conflict (place, volume_id)
            do update set seen = excluded.seen, backend = excluded.backend, last_seen_at = excluded.last_seen_at,
                gone_at = null, removed_at = null, adopted_at = null, removal_requested_at =
                    case when unknown_volumes.removed_at is null then unknown_volumes.removal_requested_at end
            where unknown_volumes.removed_at is null or unknown_volumes.removed_at < $8
        returning id, place, volume_id
    )
    insert into unknown_volume_sightings (unknown_volume_id, node_id, seen_at, mounted_in)
    select kept.id, $1, $8, told.mounted_in from kept join told using (place, volume_id)
    on conflict (unknown_volume_id, node_id) do update set seen_at = excluded.seen_at, mounted_in = excluded.mounted_in
"""
LOCK_MISSING = """
    select u.id from unknown_volumes u where u.id in (
        select s.unknown_volume_id from unknown_volume_sightings s where s.node_id = $1 and s.seen_at < $2)
    order by u.place, u.volume_id for update
"""
FORGET_SIGHTINGS = """
    delete from unknown_volume_sightings where node_id = $1 and seen_at < $2 and unknown_volume_id = any ($3)
"""
GONE = """
    update unknown_volumes u set gone_at = $2 where u.id = any ($1) and u.gone_at is null
        and not exists (select from unknown_volume_sightings s where s.unknown_volume_id = u.id)
"""
ROW = """
    select u.*, exists (select from volumes v where v.id = u.volume_id) as is_known, (
        select coalesce(jsonb_agg(jsonb_build_object('node_id', s.node_id, 'node_name', n.name,
            'mounted_in', s.mounted_in) order by n.name), '[]')
        from unknown_volume_sightings s join nodes n on n.id = s.node_id where s.unknown_volume_id = u.id
    ) as sightings
    from unknown_volumes u
"""
SEEN_BY = "exists (select from unknown_volume_sightings s where s.unknown_volume_id = u.id and s.node_id = $1)"
FIND = f"""
    {ROW} where u.volume_id = $2 and (u.place = $1 or u.place = 'shared' and exists (select from nodes where id = $1))
    order by u.place = $1 desc limit 1
"""
PRESENT = f"""
    {ROW} where u.gone_at is null and u.adopted_at is null and u.removed_at is null
        and ($1::text is null or {SEEN_BY}) and u.id < $2 order by u.id desc limit $3
"""  # house: project-filter because operators see the whole fleet
COUNT_ON_NODE = """
    select count(*) from unknown_volumes
    where place = $1 and gone_at is null and adopted_at is null and removed_at is null
"""
NODE_FOR_REMOVAL = """
    select n.id from unknown_volume_sightings s join nodes n on n.id = s.node_id
    where s.unknown_volume_id = $1 and n.intent <> 'retired' order by n.offline_since is not null, n.id limit 1
"""
MOUNTED_IN_ADOPTED = """
    select environment_id from unknown_environments
    where adopted_at is not null and environment -> 'mounts' @> $1::jsonb order by environment_id
"""
COUNT_MOUNTS = """
    select jsonb_array_length(environment -> 'mounts') from unknown_environments
    where environment_id = $1 and adopted_at is not null order by adopted_at desc limit 1
"""
RESTORE_ATTACHMENTS = "select * from restore_attachments($1, $2, $3, $4, $5)"
REQUEST_REMOVAL = """
    update unknown_volumes set removal_requested_at = $2, removal_requested_by = $3, removal_reason = $4,
        removal_note = '' where id = $1 and adopted_at is null
"""
REMOVED = """
    with gone as (
        update unknown_volumes set removed_at = $2, gone_at = coalesce(gone_at, $2), proofs = $3, removal_note = ''
        where id = $1 returning id
    )
    delete from unknown_volume_sightings s using gone where s.unknown_volume_id = gone.id
"""
