"""Commands on volumes and their snapshots."""

from datetime import datetime

from msgspec import UNSET

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import commands as allocations
from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.identity.callers import Caller, Placed
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage.backends import store as backends
from gpuaas.domain.storage.unknown import store as unknown
from gpuaas.domain.storage.views import snapshot_view, volume_view
from gpuaas.domain.storage.volumes import store
from gpuaas.domain.storage.volumes.store import NewVolumeRow, SnapshotRow, VolumeRow
from gpuaas.domain.timeline.kinds import Audit
from gpuaas.domain.timeline.store import NewEntry, audit, record, start_operation
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.storage import (
    Backend,
    ChangeVolume,
    CreateSnapshot,
    CreateVolume,
    Durability,
    Snapshot,
    SnapshotStatus,
    Volume,
    VolumeStatus,
    WritePolicy,
)

DELETED = Audit(action="volume.delete", target_kind="volume", facts="'{}'::jsonb")
SNAPSHOT_DELETED = Audit(
    action="snapshot.delete", target_kind="volume", target_id="volume_id", facts="jsonb_build_object('snapshot_id', id)"
)


class MultiWriterUnavailable(Conflict):
    code = "multi_writer_unavailable"

    def __init__(self, backend: Backend) -> None:
        super().__init__(
            f"The {backend} storage has not passed a conformance run, so it supports only one writer. "
            "Use single_writer, or ask an operator to run `gpuaas admin storage conformance`.",
            backend=backend,
        )


class VolumeProtected(Conflict):
    code = "volume_protected"


class VolumeNotReady(Conflict):
    code = "volume_not_ready"


async def get(tx: Tx, caller: Caller, project_id: str, id: str, *, lock: bool = False) -> VolumeRow:
    row = await readable(tx, caller, id, lock=lock)
    if row.project_id != project_id:
        raise NotFound("volume")
    return row


async def readable(tx: Tx, caller: Caller, id: str, *, lock: bool = False) -> VolumeRow:
    row = await store.volume(tx, id, lock=lock)
    caller.require(Permission.VOLUMES_READ, "volume", row)
    return row


async def create(tx: Tx, caller: Caller, project: Placed, data: CreateVolume, *, ids: Ids, now: datetime) -> Volume:
    caller.require(Permission.VOLUMES_WRITE, "project", project)
    node_id = await _node_of(tx, caller, project, data)
    row = await add(tx, caller, project, data, node_id=node_id, ids=ids, now=now)
    return volume_view(row, caller)


async def _node_of(tx: Tx, caller: Caller, project: Placed, data: CreateVolume) -> str | None:
    """The node of a local volume: the node of its snapshot, of the given allocation, or any node."""
    beside = None
    if data.allocation_id:
        machine = await allocations.get(tx, caller, data.allocation_id)
        if machine.project_id != project.project_id:
            raise NotFound("allocation")
        beside = machine.node_id
    if data.snapshot_id:
        taken = await _snapshot_in(tx, caller, project, data)
        beside = taken.node_id or beside
    if data.backend is not Backend.LOCAL:
        return None
    node_id = beside or await store.an_active_node(tx, data.size_gib)
    if node_id is None:
        raise Conflict("No node that could hold a local volume is online. Try again, or use the shared backend.")
    return node_id


async def _snapshot_in(tx: Tx, caller: Caller, project: Placed, data: CreateVolume) -> VolumeRow:
    """The source volume of the snapshot: a restored copy must be on the same node."""
    snapshot = await store.snapshot(tx, data.snapshot_id or "")
    caller.require(Permission.VOLUMES_READ, "snapshot", snapshot)
    if snapshot.project_id != project.project_id:
        raise NotFound("snapshot")
    if snapshot.status is not SnapshotStatus.READY:
        raise VolumeNotReady(f"The snapshot is {snapshot.status}. Wait until it is ready.")
    source = await store.volume(tx, snapshot.volume_id)
    if source.backend is not data.backend or source.size_gib > data.size_gib:
        raise Conflict(
            f"A snapshot of a {source.backend} volume of {source.size_gib} GiB can be restored into a "
            f"{source.backend} volume of that size or larger."
        )
    return source


async def add(
    tx: Tx, caller: Caller, project: Placed, data: CreateVolume, *, node_id: str | None, ids: Ids, now: datetime
) -> VolumeRow:
    """Insert the row, operation, timeline entry and audit row; a worker then creates the volume."""
    if data.write_policy is WritePolicy.MULTI_WRITER:
        offered = {one.backend: one.multi_writer for one in await backends.all_of(tx)}
        if not offered.get(data.backend):
            raise MultiWriterUnavailable(data.backend)
    if node_id:
        await disks.check_left(tx, node_id, data.size_gib)
    new = NewVolumeRow(
        id=ids.new("vol"),
        tenant_id=project.tenant_id,
        project_id=project.project_id,
        name=data.name,
        size_gib=data.size_gib,
        backend=data.backend,
        write_policy=data.write_policy,
        durability=Durability.NODE_BOUND if data.backend is Backend.LOCAL else Durability.SHARED,
        node_id=node_id,
        operation_id=ids.new("op"),
        snapshot_id=data.snapshot_id,
        created_at=now,
        created_by=caller.user_id,
    )
    await store.add_volume(tx, new)
    row = await store.volume(tx, new.id)
    await start_operation(tx, new.operation_id, row.subject, "volume.create", requested_by=caller.actor, now=now)
    entry = NewEntry(phase="volume_creating", at=now, actor=caller.actor)
    await record(tx, row.subject, entry, new.operation_id)
    facts = {"backend": data.backend, "size_gib": data.size_gib}
    await audit(tx, row.subject, "volume.create", actor=caller.actor, at=now, facts=facts)
    return row


async def change(tx: Tx, caller: Caller, project_id: str, id: str, data: ChangeVolume, *, now: datetime) -> Volume:
    row = await get(tx, caller, project_id, id)
    caller.require(Permission.VOLUMES_WRITE, "volume", row)
    if row.status is VolumeStatus.DELETED:
        raise Conflict("The volume is deleted.")
    name = row.name if data.name is UNSET else data.name
    protected = row.protected if data.protected is UNSET else data.protected
    await store.change_volume(tx, row, name=name, protected=protected, now=now)
    facts = {"name": name, "protected": protected}
    await audit(tx, row.subject, "volume.change", actor=caller.actor, at=now, facts=facts)
    return volume_view(await store.volume(tx, id), caller)


async def delete(tx: Tx, caller: Caller, project_id: str, id: str, *, ids: Ids, now: datetime) -> Volume:
    """Delete the volume and its data permanently. Refused while it is attached, protected or has snapshots."""
    row = await get(tx, caller, project_id, id, lock=True)
    caller.require(Permission.VOLUMES_WRITE, "volume", row)
    if row.status in (VolumeStatus.DELETING, VolumeStatus.DELETED):
        return volume_view(row, caller)
    if row.protected:
        raise VolumeProtected(f"The volume {row.name} is protected against deletion. Remove the protection first.")
    if row.attachments:
        names = ", ".join(sorted({one.allocation_name for one in row.attachments}))
        raise Conflict(
            f"The volume {row.name} is attached to {names}. Detach it first.", attachments=len(row.attachments)
        )
    if snapshots := await store.count_snapshots(tx, id):
        raise Conflict(f"The volume {row.name} has {snapshots} snapshots. Delete them first.", snapshots=snapshots)
    act = Act(actor=caller.actor, now=now, audit=DELETED)
    change = store.VolumeChange(operation_id=ids.new("op"))
    operation = OperationChange(begins="volume.delete")
    await store.move_volume(tx, row, VolumeStatus.DELETING, act, change, operation=operation)
    return volume_view(await store.volume(tx, id), caller)


async def check_retirable(tx: Tx, node_id: str) -> None:
    """Data on a node's disk is lost with the node, so its projects must decide about it first."""
    if volumes := await store.count_on_node(tx, node_id):
        raise Conflict(
            f"{volumes} volumes are on this node's disk. Their projects have to copy or delete them before it retires.",
            volumes=volumes,
        )
    if forgotten := await unknown.count_on_node(tx, node_id):
        raise Conflict(
            f"{forgotten} volumes on this node's disk are unknown to the database. Adopt or remove them before it "
            "retires: `gpuaas admin unknown-volumes list`.",
            unknown_volumes=forgotten,
        )


async def take_snapshot(
    tx: Tx, caller: Caller, volume_id: str, data: CreateSnapshot, *, ids: Ids, now: datetime
) -> Snapshot:
    row = await readable(tx, caller, volume_id, lock=True)
    caller.require(Permission.VOLUMES_WRITE, "volume", row)
    if row.status is not VolumeStatus.AVAILABLE:
        raise VolumeNotReady(f"The volume is {row.status}. A snapshot needs an available volume.")
    if row.node_id:
        await disks.check_left(tx, row.node_id, row.size_gib)
    taken = SnapshotRow(
        id=ids.new("snap"),
        volume_id=row.id,
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        name=data.name,
        status=SnapshotStatus.CREATING,
        status_since=now,
        status_reason="",
        size_bytes=None,
        consistency="",
        created_at=now,
        created_by=caller.user_id,
        operation_id=ids.new("op"),
        version=1,
    )
    await store.add_snapshot(tx, taken)
    await start_operation(tx, taken.operation_id, row.subject, "snapshot.create", requested_by=caller.actor, now=now)
    entry = NewEntry(phase="snapshot_creating", at=now, actor=caller.actor, evidence={"snapshot_id": taken.id})
    await record(tx, row.subject, entry, taken.operation_id)
    await audit(tx, row.subject, "snapshot.create", actor=caller.actor, at=now, facts={"snapshot_id": taken.id})
    return snapshot_view(taken, caller)


async def delete_snapshot(tx: Tx, caller: Caller, volume_id: str, id: str, *, ids: Ids, now: datetime) -> Snapshot:
    await readable(tx, caller, volume_id)
    row = await store.snapshot(tx, id)
    caller.require(Permission.VOLUMES_READ, "snapshot", row)
    if row.volume_id != volume_id:
        raise NotFound("snapshot")
    caller.require(Permission.VOLUMES_WRITE, "snapshot", row)
    if row.status in (SnapshotStatus.DELETING, SnapshotStatus.DELETED):
        return snapshot_view(row, caller)
    act = Act(actor=caller.actor, now=now, audit=SNAPSHOT_DELETED)
    change = store.SnapshotChange(operation_id=ids.new("op"))
    operation = OperationChange(begins="snapshot.delete")
    await store.move_snapshot(tx, row, SnapshotStatus.DELETING, act, change, operation=operation)
    return snapshot_view(await store.snapshot(tx, id), caller)
