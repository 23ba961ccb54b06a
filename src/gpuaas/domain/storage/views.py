"""Builds the API representations of volumes, snapshots and attachments, and lists the volumes that survive a
disruption.
"""

from gpuaas.core.db import Tx
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.storage.attachments import store as attachments
from gpuaas.domain.storage.attachments.store import AttachmentRow
from gpuaas.domain.storage.volumes.store import SnapshotRow, VolumeRow
from gpuaas.wire.allocations import Consequence, Disruption
from gpuaas.wire.permissions import Permission
from gpuaas.wire.storage import Attachment, Durability, Snapshot, Usage, Volume

GIB = 1 << 30


PERMISSIONS = frozenset({Permission.VOLUMES_READ, Permission.VOLUMES_WRITE})


def volume_view(row: VolumeRow, caller: Caller) -> Volume:
    usage = None
    if row.used_bytes is not None and row.used_at is not None:
        usage = Usage(used_bytes=row.used_bytes, at=row.used_at)
    plain = {field: getattr(row, field) for field in Volume.__struct_fields__ if hasattr(row, field)}
    return Volume(
        **plain,
        attaches_to=attaches_to(row),
        usage=usage,
        is_over_quota=is_over_quota(row),
        permissions=permissions(row, caller),
    )


def permissions(row: VolumeRow | SnapshotRow, caller: Caller) -> list[str]:
    return sorted(caller.permissions_in(row) & PERMISSIONS)


def attaches_to(row: VolumeRow) -> str:
    """Where the volume can be attached, and how durable it is."""
    if row.durability is Durability.NODE_BOUND:
        return f"allocations on {row.node_id} only; it is lost with that node's disk"
    return "allocations on every node that mounts the shared storage"


def is_over_quota(row: VolumeRow) -> bool:
    return row.used_bytes is not None and row.quota == "measured" and row.used_bytes > row.size_gib * GIB


def snapshot_view(row: SnapshotRow, caller: Caller) -> Snapshot:
    plain = {field: getattr(row, field) for field in Snapshot.__struct_fields__}
    return Snapshot(**{**plain, "permissions": permissions(row, caller)})


def attachment_view(row: AttachmentRow) -> Attachment:
    return Attachment(**{field: getattr(row, field) for field in Attachment.__struct_fields__})


async def survivors(tx: Tx, allocation_id: str, of: Disruption) -> list[Consequence]:
    """Volumes survive every disruption of an allocation; `consequences` lists what is lost of its root disk."""
    return [
        Consequence(what=f"volume {row.volume_name} at {row.mount_path}", detail=_fate(row, of), ref=row.volume_id)
        for row in await attachments.live_on(tx, allocation_id)
    ]


def _fate(row: AttachmentRow, of: Disruption) -> str:
    bound = " It is on the disk of one node, so it is not durable." if row.durability is Durability.NODE_BOUND else ""
    if of is Disruption.RELEASE:
        return f"It is detached and kept, with all its data, until a person deletes it.{bound}"
    return f"It is mounted again automatically, with all its data.{bound}"
