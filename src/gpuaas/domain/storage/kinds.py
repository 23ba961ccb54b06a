"""Declares how changes of volumes, snapshots and attachments are written."""

from gpuaas.domain.storage.states import ATTACHMENT as ATTACHMENT_STATES
from gpuaas.domain.storage.states import SNAPSHOT as SNAPSHOT_STATES
from gpuaas.domain.storage.states import VOLUME as VOLUME_STATES
from gpuaas.domain.timeline.kinds import Kind
from gpuaas.wire.storage import SnapshotStatus, VolumeStatus
from gpuaas.wire.timeline import OperationStatus

SINCE = {"status_since": ":now", "status_reason": ":note"}

VOLUME = Kind(
    noun="volume",
    table="volumes",
    states=VOLUME_STATES,
    subject_kind="volume",
    writes={**SINCE, "deleted_at": "case when '{status}' = 'deleted' then :now::timestamptz end"},
    given={"operation_id": ":operation_id"},
    phase="volume_{status}",
    ends={
        VolumeStatus.AVAILABLE: OperationStatus.SUCCEEDED,
        VolumeStatus.FAILED: OperationStatus.FAILED,
        VolumeStatus.DELETED: OperationStatus.SUCCEEDED,
        VolumeStatus.DELETE_FAILED: OperationStatus.FAILED,
    },
)

# Entries are on the timeline of the volume.
SNAPSHOT = Kind(
    noun="snapshot",
    table="volume_snapshots",
    states=SNAPSHOT_STATES,
    subject_kind="volume",
    subject_id="volume_id",
    writes=SINCE,
    given={"operation_id": ":operation_id", "size_bytes": ":size_bytes", "consistency": ":consistency"},
    phase="snapshot_{status}",
    evidence="jsonb_build_object('snapshot_id', id)",
    ends={
        SnapshotStatus.READY: OperationStatus.SUCCEEDED,
        SnapshotStatus.FAILED: OperationStatus.FAILED,
        SnapshotStatus.DELETED: OperationStatus.SUCCEEDED,
    },
)

# Entries are on the timeline of the allocation, where people look. The caller states how the operation ends, because
# that depends on what was in progress.
ATTACHMENT = Kind(
    noun="storage_attachment",
    table="storage_attachments",
    states=ATTACHMENT_STATES,
    subject_kind="allocation",
    subject_id="allocation_id",
    node="(select a.node_id from allocations a where a.id = allocation_id)",
    writes={
        **SINCE,
        "forced": ":forced",
        "observed_at": "case when :observed_boot::int is null then observed_at else :now end",
    },
    given={"operation_id": ":operation_id", "observed_boot": ":observed_boot"},
    phase="volume_{status}",
    evidence="jsonb_build_object('volume_id', volume_id, 'mount_path', mount_path, 'attachment_id', id)",
    shows="t.*, v.name as volume_name, v.durability",
    joins="join volumes v on v.id = t.volume_id",
)
