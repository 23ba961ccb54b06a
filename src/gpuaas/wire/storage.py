"""Volumes, snapshots, attachments, and storage backends."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gpuaas.wire.common import Dated, Moment, Name, Reference
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.permissions import Permissions

LARGEST_GIB = 1 << 14  # of one volume, regardless of the quota


class Backend(StrEnum):
    SHARED = "shared"  # a folder that every node mounts
    LOCAL = "local"  # the disk of one node


class Durability(StrEnum):
    SHARED = "shared"
    NODE_BOUND = "node_bound"


class WritePolicy(StrEnum):
    SINGLE_WRITER = "single_writer"
    MULTI_WRITER = "multi_writer"


class AccessMode(StrEnum):
    READ_ONLY = "read_only"
    READ_WRITE = "read_write"


class VolumeStatus(StrEnum):
    CREATING = "creating"
    AVAILABLE = "available"
    FAILED = "failed"
    DELETING = "deleting"
    DELETE_FAILED = "delete_failed"
    DELETED = "deleted"


class SnapshotStatus(StrEnum):
    CREATING = "creating"
    READY = "ready"
    FAILED = "failed"
    DELETING = "deleting"
    DELETED = "deleted"


class AttachmentStatus(StrEnum):
    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    DETACH_FAILED = "detach_failed"  # still attached; the reason names what uses it
    DETACHED = "detached"
    FAILED = "failed"  # it was never attached


MountPath = Annotated[str, Meta(min_length=2, max_length=255, description="absolute, such as /data")]
SizeGib = Annotated[int, Meta(ge=1, le=LARGEST_GIB)]


class NewVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A volume that is created in the same request as its allocation."""

    name: Name
    size_gib: SizeGib
    backend: Backend = Backend.SHARED
    write_policy: WritePolicy = WritePolicy.SINGLE_WRITER


class CreateVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `local` volume is created on the node of the given allocation; `snapshot_id` fills it from a snapshot."""

    name: Name
    size_gib: SizeGib
    backend: Backend = Backend.SHARED
    write_policy: WritePolicy = WritePolicy.SINGLE_WRITER
    allocation_id: Reference | None = None
    snapshot_id: Reference | None = None


class ChangeVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields that are left out stay as they are."""

    name: Name | UnsetType = UNSET
    protected: bool | UnsetType = UNSET


class AttachVolume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    volume_id: Reference
    mount_path: MountPath
    access_mode: AccessMode = AccessMode.READ_WRITE


class LaunchAttachment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In a launch: an existing volume, or a new one that is created with the allocation, all or none."""

    mount_path: MountPath
    volume_id: Reference | None = None
    new_volume: NewVolume | None = None
    access_mode: AccessMode = AccessMode.READ_WRITE


class CreateSnapshot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Name


class Usage(Struct, frozen=True, kw_only=True):
    """As last measured by a node."""

    used_bytes: int
    at: datetime


class VolumeAttachment(Struct, frozen=True, kw_only=True):
    """An attachment, as the volume shows it."""

    id: str
    allocation_id: str
    allocation_name: str
    mount_path: str
    access_mode: AccessMode
    status: AttachmentStatus


class Volume(Struct, frozen=True, kw_only=True):
    id: str
    project_id: str
    name: str
    status: VolumeStatus
    status_since: datetime
    status_reason: str
    size_gib: int
    backend: Backend
    write_policy: WritePolicy
    durability: Durability
    attaches_to: str  # where it can be attached, for people
    node_id: str | None
    quota: str  # enforced: a full volume cannot grow; measured: a warning, and new writers are refused
    usage: Usage | None
    is_over_quota: bool
    protected: bool
    snapshot_id: str | None
    created_at: datetime
    created_by: str
    deleted_at: datetime | None
    deletion_proofs: list[ProofItem]
    attachments: list[VolumeAttachment]
    operation_id: str
    permissions: Permissions = []


class Snapshot(Struct, frozen=True, kw_only=True):
    id: str
    volume_id: str
    project_id: str
    name: str
    status: SnapshotStatus
    status_since: datetime
    status_reason: str
    size_bytes: int | None
    consistency: str  # how it was taken, for people
    created_at: datetime
    created_by: str
    operation_id: str
    permissions: Permissions = []


class Attachment(Struct, frozen=True, kw_only=True):
    """A volume at a path of an allocation; `observed_boot` is the boot at which it was observed there."""

    id: str
    allocation_id: str
    volume_id: str
    volume_name: str
    mount_path: str
    access_mode: AccessMode
    durability: Durability
    status: AttachmentStatus
    status_since: datetime
    status_reason: str
    observed_boot: int
    observed_at: datetime | None
    created_at: datetime
    operation_id: str


# Capabilities of backends, and their tests


class Check(Struct, frozen=True, kw_only=True):
    """One test of a backend."""

    check: str
    ok: bool
    evidence: str


class ConformanceRun(Struct, frozen=True, kw_only=True):
    id: str
    backend: Backend
    node_id: str
    requested_by: str
    started_at: datetime
    ended_at: datetime | None
    passed: bool | None  # null while it runs
    reason: str
    checks: list[Check]


class StorageBackend(Struct, frozen=True, kw_only=True):
    backend: Backend
    title: str
    durability: Durability
    capabilities: list[str]  # declared; multi_writer is available only after a run that passed
    multi_writer: bool
    conformance: ConformanceRun | None


class RunConformance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    node_id: Reference


# To and from nodes


class VolumeRef(Struct, frozen=True, kw_only=True):
    """The part of a volume that a node needs."""

    volume_id: str
    backend: Backend
    size_gib: int


class VolumeOwnership(Dated, frozen=True, kw_only=True):
    """The owner of a volume, stored on disk next to its data, so that a database that lost the volume can adopt it."""

    tenant_id: str
    project_id: str
    name: str
    size_gib: int
    backend: Backend
    write_policy: WritePolicy
    protected: bool
    snapshot_id: str | None  # from which it was filled
    created_by: str
    created_at: Moment


class PresentVolume(Struct, frozen=True, kw_only=True):
    """A volume whose data a node found on its disk or on the shared storage."""

    volume_id: str
    backend: Backend
    quota: str
    ownership: VolumeOwnership | None = None
    detail: str = ""  # why there is no ownership record, unless an older version created the volume


class VolumeObservation(Dated, frozen=True, kw_only=True):
    """A volume as a node observed it."""

    volume_id: str
    used_bytes: int
    quota: str
    at: Moment


class WantedMount(Struct, frozen=True, kw_only=True):
    volume: VolumeRef
    mount_path: str
    access_mode: AccessMode


class VolumeReport(Dated, frozen=True, kw_only=True, tag="volumes"):
    """Volumes present on the node, in one or more parts; `at` is the time before the scan, the same in all parts.
    After the part with `is_last` the report is complete. `mounted` maps a volume to the environments in which it
    is mounted.
    """

    volumes: list[PresentVolume]
    at: Moment
    mounted: dict[str, list[str]] = {}
    is_last: bool = True
