"""Routes of volumes. Generated from the OpenAPI description by `make sdk`; do not edit."""

from msgspec import UNSET, UnsetType

from gpuaas.sdk.methods import Call, Listing, R_co, Resource
from gpuaas.sdk.requests import Request, delete, get, given, patch, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.storage import (
    AccessMode,
    Attachment,
    AttachVolume,
    Backend,
    ChangeVolume,
    CreateSnapshot,
    CreateVolume,
    Snapshot,
    Volume,
    VolumeStatus,
    WritePolicy,
)
from gpuaas.wire.timeline import Entry


class VolumesRoutes(Resource[R_co]):
    @Call
    def attach(
        self,
        allocation_id: str,
        volume_id: str,
        mount_path: str,
        *,
        access_mode: AccessMode = AccessMode.READ_WRITE,
        idempotency_key: str | None = None,
    ) -> Request[Attachment]:
        """Mount a volume on an allocation, also while it runs. It is mounted again automatically after every
        restart."""
        body = AttachVolume(volume_id=volume_id, mount_path=mount_path, access_mode=access_mode)
        return post(path("allocations", allocation_id, "storage-attachments"), Attachment, body, key=idempotency_key)

    @Call
    def attachment(self, allocation_id: str, id: str) -> Request[Attachment]:
        """One attachment, as observed."""
        return get(path("allocations", allocation_id, "storage-attachments", id), Attachment)

    @Listing
    def attachments(self, allocation_id: str, *, limit: int | None = None) -> Request[Page[Attachment]]:
        """The current and former attachments of an allocation, newest first."""
        return get(path("allocations", allocation_id, "storage-attachments"), Page[Attachment], limit=limit)

    @Call
    def change(
        self,
        project_id: str,
        id: str,
        *,
        name: str | UnsetType | None = UNSET,
        protected: bool | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Volume]:
        """Rename a volume, or protect it against deletion."""
        body = ChangeVolume(name=given(name), protected=given(protected))
        return patch(path("projects", project_id, "volumes", id), Volume, body, key=idempotency_key)

    @Call
    def create(
        self,
        project_id: str,
        name: str,
        size_gib: int,
        *,
        backend: Backend = Backend.SHARED,
        write_policy: WritePolicy = WritePolicy.SINGLE_WRITER,
        allocation_id: str | None = None,
        snapshot_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Volume]:
        """Create a volume: data that outlives allocations. It can be attached at once; the mount waits until it is
        available."""
        body = CreateVolume(
            name=name,
            size_gib=size_gib,
            backend=backend,
            write_policy=write_policy,
            allocation_id=allocation_id,
            snapshot_id=snapshot_id,
        )
        return post(path("projects", project_id, "volumes"), Volume, body, key=idempotency_key)

    @Call
    def delete(self, project_id: str, id: str, *, idempotency_key: str | None = None) -> Request[Volume]:
        """Erase the volume permanently, with proof. Refused while it is attached, protected, or has snapshots."""
        return delete(path("projects", project_id, "volumes", id), Volume, idempotency_key)

    @Call
    def delete_snapshot(self, id: str, snapshot_id: str, *, idempotency_key: str | None = None) -> Request[Snapshot]:
        """Erase a snapshot; the volume, and volumes restored from it, stay."""
        return delete(path("volumes", id, "snapshots", snapshot_id), Snapshot, idempotency_key)

    @Call
    def detach(
        self, allocation_id: str, id: str, *, force: bool = False, idempotency_key: str | None = None
    ) -> Request[Attachment]:
        """Unmount a volume from an allocation; its data stays. If it is in use, the attachment's reason names the
        processes; with `force` they are ended."""
        return delete(
            path("allocations", allocation_id, "storage-attachments", id), Attachment, idempotency_key, force=force
        )

    @Call
    def get(self, project_id: str, id: str) -> Request[Volume]:
        """One volume: its durability, measured usage, and attachments."""
        return get(path("projects", project_id, "volumes", id), Volume)

    @Listing
    def list(
        self, project_id: str, *, status: VolumeStatus | None = None, name: str | None = None, limit: int | None = None
    ) -> Request[Page[Volume]]:
        """The project's volumes; deleted ones only with a filter by status."""
        return get(path("projects", project_id, "volumes"), Page[Volume], status=status, name=name, limit=limit)

    @Call
    def snapshot(self, id: str, name: str, *, idempotency_key: str | None = None) -> Request[Snapshot]:
        """Copy the volume as it is now; `consistency` says how. Restore it by creating a volume from the snapshot."""
        body = CreateSnapshot(name=name)
        return post(path("volumes", id, "snapshots"), Snapshot, body, key=idempotency_key)

    @Listing
    def snapshots(self, id: str, *, limit: int | None = None) -> Request[Page[Snapshot]]:
        """Snapshots of a volume, newest first."""
        return get(path("volumes", id, "snapshots"), Page[Snapshot], limit=limit)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        """The timeline of the volume, newest first; attaching and detaching are on the timeline of the allocation."""
        return get(path("volumes", id, "timeline"), Page[Entry], limit=limit)
