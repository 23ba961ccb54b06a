"""Commands on the attachments of volumes to allocations."""

from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import commands as allocations
from gpuaas.domain.allocations.authority import Action, authorize
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage import paths
from gpuaas.domain.storage.attachments import store
from gpuaas.domain.storage.attachments.store import AttachmentRow, Change, NewAttachment
from gpuaas.domain.storage.views import attachment_view, is_over_quota
from gpuaas.domain.storage.volumes import commands as volumes
from gpuaas.domain.storage.volumes.commands import VolumeNotReady
from gpuaas.domain.storage.volumes.store import VolumeRow
from gpuaas.domain.timeline.store import audit
from gpuaas.wire.allocations import Status
from gpuaas.wire.storage import AccessMode, Attachment, AttachmentStatus, AttachVolume, VolumeStatus

ATTACHABLE = (VolumeStatus.CREATING, VolumeStatus.AVAILABLE)
TO_COME = (Status.REQUESTED, Status.PROVISIONING, Status.ACTIVE, Status.RESTARTING, Status.RESTART_FAILED)
AT_MOST = 16  # per allocation


class VolumeElsewhere(Conflict):
    code = "volume_on_another_node"


class VolumeOverQuota(Conflict):
    code = "volume_over_quota"


async def attach(
    tx: Tx, caller: Caller, allocation_id: str, data: AttachVolume, *, ids: Ids, now: datetime
) -> Attachment:
    machine = await authorize(tx, caller, allocation_id, Action.ATTACH)
    volume = await volumes.readable(tx, caller, data.volume_id, lock=True)
    caller.require(Permission.VOLUMES_WRITE, "allocation", machine)
    if volume.project_id != machine.project_id:
        raise NotFound("volume")
    if machine.status not in TO_COME:
        raise Conflict(f"The allocation is {machine.status}, so volumes cannot be attached to it.")
    taken = machine.attachments or []
    if len(taken) >= AT_MOST:
        raise Conflict(f"An allocation can have at most {AT_MOST} attached volumes.")
    paths.check(data.mount_path, machine.username, [one.mount_path for one in taken])
    row = await add(tx, caller, machine, volume, data, ids=ids, now=now)
    return attachment_view(row)


async def add(
    tx: Tx,
    caller: Caller,
    machine: AllocationRow,
    volume: VolumeRow,
    data: AttachVolume,
    *,
    ids: Ids,
    now: datetime,
) -> AttachmentRow:
    """Add an attachment. A unique index decides which of two concurrent requests may write."""
    check_volume(volume, machine, data.access_mode)
    new = NewAttachment(
        id=ids.new("att"),
        tenant_id=machine.tenant_id,
        project_id=machine.project_id,
        allocation_id=machine.id,
        volume_id=volume.id,
        write_policy=volume.write_policy,
        mount_path=data.mount_path,
        access_mode=data.access_mode,
        operation_id=ids.new("op"),
        created_at=now,
        created_by=caller.user_id,
    )
    return await store.add(tx, new, volume, actor=caller.actor)


def check_volume(volume: VolumeRow, machine: AllocationRow, mode: AccessMode) -> None:
    if volume.status not in ATTACHABLE:
        raise VolumeNotReady(f"The volume {volume.name} is {volume.status} and cannot be attached.")
    if volume.node_id and volume.node_id != machine.node_id:
        raise VolumeElsewhere(
            f"The volume {volume.name} is on the disk of {volume.node_id}, this allocation on {machine.node_id}. "
            "Create an allocation with the volume in its request: it is then placed on that node.",
            volume_node=volume.node_id,
            machine_node=machine.node_id,
        )
    if is_over_quota(volume) and mode is AccessMode.READ_WRITE:
        raise VolumeOverQuota(
            f"The volume {volume.name} contains more than its {volume.size_gib} GiB. Attach it read_only, or "
            "delete data where it is attached.",
            used_bytes=volume.used_bytes,
        )


async def readable(tx: Tx, caller: Caller, allocation_id: str, id: str) -> AttachmentRow:
    machine = await allocations.get(tx, caller, allocation_id)
    row = await store.get(tx, id)
    caller.require(Permission.VOLUMES_READ, "storage_attachment", row)
    if row.allocation_id != machine.id:
        raise NotFound("storage_attachment")
    return row


async def detach(
    tx: Tx, caller: Caller, allocation_id: str, id: str, *, force: bool, ids: Ids, now: datetime
) -> Attachment:
    """Detach a volume from an allocation; `force` ends the processes that use it. Its data stays. A repeated request
    changes nothing.
    """
    row = await readable(tx, caller, allocation_id, id)
    await authorize(tx, caller, allocation_id, Action.DETACH)
    if row.status in (AttachmentStatus.DETACHED, AttachmentStatus.DETACHING, AttachmentStatus.FAILED):
        return attachment_view(row)
    change = Change(operation_id=ids.new("op"), forced=force, started="detach")
    note = "by force" if force else ""
    moved = await store.move(tx, row, AttachmentStatus.DETACHING, actor=caller.actor, note=note, now=now, change=change)
    facts = {
        "allocation_id": row.allocation_id,
        "mount_path": row.mount_path,
        "force": force,
        "volume_id": row.volume_id,
    }
    await audit(tx, row.subject, "volume.detach", actor=caller.actor, at=now, facts=facts)
    return attachment_view(moved)
