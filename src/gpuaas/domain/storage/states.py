"""The states of volumes, snapshots and attachments, and their moves."""

from gpuaas.core.states import Machine
from gpuaas.wire.storage import AttachmentStatus, SnapshotStatus, VolumeStatus

VOLUME = Machine(
    "volume",
    {
        VolumeStatus.CREATING: {VolumeStatus.AVAILABLE, VolumeStatus.FAILED},
        VolumeStatus.AVAILABLE: {VolumeStatus.DELETING},
        VolumeStatus.FAILED: {VolumeStatus.DELETING},
        VolumeStatus.DELETING: {VolumeStatus.DELETED, VolumeStatus.DELETE_FAILED},
        VolumeStatus.DELETE_FAILED: {VolumeStatus.DELETING},
        VolumeStatus.DELETED: set(),
    },
)

SNAPSHOT = Machine(
    "snapshot",
    {
        SnapshotStatus.CREATING: {SnapshotStatus.READY, SnapshotStatus.FAILED},
        SnapshotStatus.READY: {SnapshotStatus.DELETING},
        SnapshotStatus.FAILED: {SnapshotStatus.DELETING},
        SnapshotStatus.DELETING: {SnapshotStatus.DELETED, SnapshotStatus.FAILED},
        SnapshotStatus.DELETED: set(),
    },
)

ATTACHMENT = Machine(
    "attachment",
    {
        # Attaching again: after a restart, and when the mount was missing.
        AttachmentStatus.ATTACHING: {
            AttachmentStatus.ATTACHED,
            AttachmentStatus.DETACHING,
            AttachmentStatus.DETACHED,
            AttachmentStatus.FAILED,
        },
        AttachmentStatus.ATTACHED: {
            AttachmentStatus.ATTACHING,
            AttachmentStatus.DETACHING,
            AttachmentStatus.DETACHED,
        },
        AttachmentStatus.DETACHING: {AttachmentStatus.DETACHED, AttachmentStatus.DETACH_FAILED},
        AttachmentStatus.DETACH_FAILED: {
            AttachmentStatus.ATTACHING,
            AttachmentStatus.DETACHING,
            AttachmentStatus.DETACHED,
        },
        AttachmentStatus.DETACHED: set(),
        AttachmentStatus.FAILED: set(),
    },
)
