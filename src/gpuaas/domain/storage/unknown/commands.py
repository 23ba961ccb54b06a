"""Commands of operators on unknown volumes."""

from datetime import datetime

from msgspec import to_builtins

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import store as allocations
from gpuaas.domain.allocations.store import OVERLAYS
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage.attachments.store import ATTACHMENTS
from gpuaas.domain.storage.unknown import store
from gpuaas.domain.storage.unknown.store import Restored, UnknownVolumeRow
from gpuaas.domain.storage.views import volume_view
from gpuaas.domain.storage.volumes import store as volumes
from gpuaas.domain.timeline.store import EVENTS, NewEntry, audit, record
from gpuaas.wire.storage import Volume
from gpuaas.wire.timeline import Outcome
from gpuaas.wire.unknown_volumes import AdoptVolume, RemoveVolume, UnknownVolume


async def listing(tx: Tx, caller: Caller, node_id: str | None, paging: Paging) -> list[UnknownVolumeRow]:
    caller.require_platform(Permission.FLEET_READ)
    return await store.present(tx, node_id, paging)


async def get(tx: Tx, caller: Caller, node_id: str, volume_id: str) -> UnknownVolume:
    caller.require_platform(Permission.FLEET_READ)
    return shown(await store.find(tx, node_id, volume_id))


def shown(row: UnknownVolumeRow) -> UnknownVolume:
    return UnknownVolume(
        volume_id=row.volume_id,
        backend=row.backend,
        sightings=row.sightings,
        ownership=row.seen.ownership,
        detail=row.seen.detail,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
        gone_at=row.gone_at,
        removal_requested_at=row.removal_requested_at,
        removal_note=row.removal_note,
        removed_at=row.removed_at,
        proofs=row.proofs,
    )


async def adopt(
    tx: Tx, caller: Caller, node_id: str, volume_id: str, data: AdoptVolume, *, ids: Ids, now: datetime
) -> Volume:
    """Make the volume of the ownership record available again with its data, and attach it to every adopted
    environment in which it is mounted. A repeated request returns the same volume.
    """
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.find(tx, node_id, volume_id)
    if row.adopted_at is not None:
        return volume_view(await volumes.volume(tx, volume_id), caller)
    operation_id = ids.new("op")
    objection = await store.adopt(tx, row, operation_id, name=data.name, actor=caller.actor, now=now)
    if objection:
        raise Conflict(f"The volume was not adopted. {objection}", volume_id=volume_id)
    adopted = await volumes.volume(tx, volume_id)
    evidence = {"node": node_id, "reason": data.reason, "reported": to_builtins(row.seen)}
    entry = NewEntry(
        phase="adopted", outcome=Outcome.DONE, at=now, actor=caller.actor, note=data.reason, evidence=evidence
    )
    await record(tx, adopted.subject, entry, operation_id)
    await audit(tx, adopted.subject, "volume.adopt", actor=caller.actor, at=now, facts=evidence)
    for allocation_id in await store.mounted_in_adopted(tx, volume_id):
        await restore_attachments(tx, caller, allocation_id, ids=ids, now=now)
    tx.hint(volumes.VOLUMES, volume_id)
    tx.hint(EVENTS, adopted.project_id)
    return volume_view(await volumes.volume(tx, volume_id), caller)


async def restore_attachments(tx: Tx, caller: Caller, allocation_id: str, *, ids: Ids, now: datetime) -> list[Restored]:
    """For an adopted environment, add an attachment for each reported mount whose volume the database contains.
    Mounts stay as they are.
    """
    caller.require_platform(Permission.FLEET_OPERATE)
    new_ids = [ids.new("att") for _ in range(await store.count_mounts(tx, allocation_id))]
    if not new_ids:
        return []
    row, actor = await allocations.get(tx, allocation_id), caller.actor
    restored = await store.restore_attachments(tx, row.id, new_ids, row.operation_id, actor=actor, now=now)
    for each in restored:
        evidence = {"volume_id": each.volume_id, "mount_path": each.mount_path, "attachment_id": each.attachment_id}
        note = "restored from the mounts that its node reported"
        entry = NewEntry(
            phase="volume_attached", outcome=Outcome.DONE, at=now, actor=actor, note=note, evidence=evidence
        )
        await record(tx, row.subject, entry, row.operation_id)
        await audit(tx, row.subject, "volume.restore_attachment", actor=actor, at=now, facts=evidence)
    if restored:
        tx.hint(ATTACHMENTS, allocation_id)
        tx.hint(OVERLAYS, allocation_id)
    return restored


async def remove(
    tx: Tx, caller: Caller, node_id: str, volume_id: str, data: RemoveVolume, *, now: datetime
) -> UnknownVolume:
    """Make a node erase the data and prove it; the volume is never created again. Repeated, it changes nothing."""
    caller.require_platform(Permission.FLEET_OPERATE)
    row = await store.find(tx, node_id, volume_id)
    if data.confirm != volume_id:
        raise ValidationError(
            f"A removal erases the volume's data. Repeat its id, {volume_id}, to confirm.",
            errors={"confirm": "not the id of this volume"},
        )
    if row.removal_requested_at is not None:
        return shown(row)
    if row.is_known:
        raise Conflict("The database now contains this volume. Delete it in its project instead.")
    if users := sorted({user for sighting in row.sightings for user in sighting.mounted_in}):
        raise Conflict(
            f"The volume is mounted in {', '.join(users)}. Remove these environments first, or adopt the volume.",
            environments=users,
        )
    await store.request_removal(tx, row, actor=caller.actor, reason=data.reason, now=now)
    evidence = {"volume": volume_id, "reason": data.reason, "reported": to_builtins(row.seen)}
    entry = NewEntry(phase="volume_removal_requested", at=now, actor=caller.actor, note=data.reason)
    await record(tx, row.subject(node_id), entry, None)
    await audit(tx, row.subject(node_id), "volume.remove_unknown", actor=caller.actor, at=now, facts=evidence)
    return shown(await store.find(tx, node_id, volume_id))
