"""The registrations of volumes, snapshots, attachments and unknown volumes."""

from gpuaas.domain.storage.attachments import store as attachments
from gpuaas.domain.storage.attachments.reconcile import AttachmentWorker, observe
from gpuaas.domain.storage.backends import store as backends
from gpuaas.domain.storage.backends.reconcile import ConformanceWorker
from gpuaas.domain.storage.unknown import store as unknown
from gpuaas.domain.storage.unknown.reconcile import UnknownVolumeWorker
from gpuaas.domain.storage.volumes import store as volumes
from gpuaas.domain.storage.volumes.reconcile import SnapshotWorker, VolumeWorker
from gpuaas.domain.tasks.registration import Overlay, Resource
from gpuaas.wire.tasks import (
    STORAGE_CONFORMANCE,
    VOLUME_ATTACH,
    VOLUME_DELETE,
    VOLUME_DETACH,
    VOLUME_ENSURE,
    VOLUME_MEASURE,
    VOLUME_REMOVE_UNKNOWN,
    VOLUME_SNAPSHOT,
)

VOLUMES = Resource(
    name="volumes",
    workers=(lambda parts: VolumeWorker(parts.db, parts.ids, parts.clock),),
    tasks=(VOLUME_ENSURE, VOLUME_DELETE, VOLUME_MEASURE),
    lanes={volumes.VOLUMES: volumes.VOLUMES},
    tables=("volumes",),
    actions=("restore", "delete_volume"),
)
SNAPSHOTS = Resource(
    name="snapshots",
    workers=(lambda parts: SnapshotWorker(parts.db, parts.ids, parts.clock),),
    tasks=(VOLUME_SNAPSHOT, VOLUME_DELETE),
    lanes={volumes.SNAPSHOTS: volumes.SNAPSHOTS},
    tables=("volume_snapshots",),
    actions=("snapshot",),
)
ATTACHMENTS = Overlay(
    name="attachments",
    workers=(lambda parts: AttachmentWorker(parts.db, parts.ids, parts.clock),),
    tasks=(VOLUME_ATTACH, VOLUME_DETACH),
    lanes={attachments.ATTACHMENTS: attachments.ATTACHMENTS},
    observe=observe,
    tables=("storage_attachments",),
    actions=("attach", "detach"),
    hold=attachments.HOLD,
)
CONFORMANCE = Resource(
    name="conformance",
    workers=(lambda parts: ConformanceWorker(parts.db, parts.ids, parts.clock),),
    tasks=(STORAGE_CONFORMANCE,),
    lanes={backends.CONFORMANCE: backends.CONFORMANCE},
    tables=("storage_conformance_runs",),
)
UNKNOWN_VOLUMES = Resource(
    name="unknown_volumes",
    workers=(lambda parts: UnknownVolumeWorker(parts.db, parts.ids, parts.clock),),
    tasks=(VOLUME_REMOVE_UNKNOWN,),
    lanes={unknown.UNKNOWN_VOLUMES: unknown.UNKNOWN_VOLUMES},
    tables=("unknown_volumes",),
)
