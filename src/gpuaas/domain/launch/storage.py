"""Volumes in the launch submit: existing and new ones, in the same transaction as the allocation."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, ValidationError
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.identity.callers import Caller, Placed
from gpuaas.domain.identity.permissions import Permission
from gpuaas.domain.storage import paths
from gpuaas.domain.storage.attachments import commands as attachments
from gpuaas.domain.storage.volumes import commands as volumes
from gpuaas.domain.storage.volumes.store import VolumeRow
from gpuaas.wire.allocations import CreateAllocation
from gpuaas.wire.storage import AttachVolume, Backend, CreateVolume, LaunchAttachment


class NodeOfVolumeFull(Conflict):
    code = "sku_unavailable"

    def __init__(self, node_id: str) -> None:
        super().__init__(
            f"A volume in this request is on the disk of {node_id}, so the allocation must be there, and it does "
            "not fit. Release an allocation there, request fewer GPUs, or restore a snapshot of the volume elsewhere.",
            node_id=node_id,
        )


class Stored(Struct, frozen=True, kw_only=True):
    """The volumes of the request, checked as far as possible before the allocation exists."""

    wanted: list[tuple[LaunchAttachment, VolumeRow | None]]
    node_id: str | None  # the node on which the allocation must be

    @property
    def new_local_gib(self) -> int:
        """The size of new volumes on the disk of the allocation's node."""
        made = (one.new_volume for one, _ in self.wanted if one.new_volume)
        return sum(new.size_gib for new in made if new.backend is Backend.LOCAL)


async def check(tx: Tx, caller: Caller, project: Placed, data: CreateAllocation, *, username: str) -> Stored:
    wanted: list[tuple[LaunchAttachment, VolumeRow | None]] = []
    taken: list[str] = []
    for one in data.storage_attachments:
        caller.require(Permission.VOLUMES_WRITE, "project", project)
        paths.check(one.mount_path, username, taken)
        taken.append(one.mount_path)
        if (one.volume_id is None) is (one.new_volume is None):
            raise ValidationError(
                "Each of storage_attachments must name either a volume_id or a new_volume.",
                errors={"storage_attachments": "exactly one of volume_id and new_volume"},
            )
        if one.new_volume and data.count > 1:
            raise ValidationError(
                "A new volume needs count 1. Create the volume first, then attach it to each allocation.",
                errors={"storage_attachments": "new_volume needs count 1"},
            )
        wanted.append((one, await _found(tx, caller, project, one.volume_id) if one.volume_id else None))
    nodes = {volume.node_id for _, volume in wanted if volume and volume.node_id}
    if len(nodes) > 1:
        raise Conflict("The volumes are on the disks of different nodes, so no allocation can attach all of them.")
    return Stored(wanted=wanted, node_id=next(iter(nodes), None))


async def _found(tx: Tx, caller: Caller, project: Placed, volume_id: str) -> VolumeRow:
    volume = await volumes.readable(tx, caller, volume_id, lock=True)
    if volume.project_id != project.project_id:
        raise NotFound("volume")
    return volume


async def attach(tx: Tx, caller: Caller, row: AllocationRow, stored: Stored, *, ids: Ids, now: datetime) -> None:
    """Runs in the transaction of the submit. The allocation does not wait for its volumes to be attached."""
    for one, found in stored.wanted:
        volume = found
        if one.new_volume is not None:
            new = CreateVolume(
                name=one.new_volume.name,
                size_gib=one.new_volume.size_gib,
                backend=one.new_volume.backend,
                write_policy=one.new_volume.write_policy,
            )
            node_id = row.node_id if new.backend is Backend.LOCAL else None
            volume = await volumes.add(tx, caller, row, new, node_id=node_id, ids=ids, now=now)
        if volume is not None:
            wanted = AttachVolume(volume_id=volume.id, mount_path=one.mount_path, access_mode=one.access_mode)
            await attachments.add(tx, caller, row, volume, wanted, ids=ids, now=now)
