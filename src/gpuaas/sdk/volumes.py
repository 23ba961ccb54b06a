"""Volumes: data that outlives allocations; their snapshots, and where they are attached."""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import UNSET

from gpuaas.sdk.nouns import Call, Listing, Noun, R_co
from gpuaas.sdk.requests import Repeat, Request, get, path, post
from gpuaas.wire.common import Page
from gpuaas.wire.storage import (
    AccessMode,
    Attachment,
    AttachVolume,
    Backend,
    ChangeVolume,
    ConformanceRun,
    CreateSnapshot,
    CreateVolume,
    RunConformance,
    Snapshot,
    StorageBackend,
    Volume,
    VolumeStatus,
    WritePolicy,
)
from gpuaas.wire.timeline import Entry

T = TypeVar("T")


def end(route: str, answer: type[T], key: str | None, query: Mapping[str, str] | None = None) -> Request[T]:
    """A removal that goes on after its answer, which says how far it is."""
    return Request(
        method="DELETE", path=route, answer=answer, query=query or {}, repeat=Repeat.WITH_KEY, idempotency_key=key
    )


class Volumes(Noun[R_co]):
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
        """Answers at once; it may be attached at once too. With `snapshot_id` it begins as a copy of that."""
        body = CreateVolume(
            name=name,
            size_gib=size_gib,
            backend=backend,
            write_policy=write_policy,
            allocation_id=allocation_id,
            snapshot_id=snapshot_id,
        )
        return post(path("projects", project_id, "volumes"), Volume, body, key=idempotency_key)

    @Listing
    def list(
        self,
        project_id: str,
        *,
        name: str | None = None,
        status: VolumeStatus | None = None,
        limit: int | None = None,
    ) -> Request[Page[Volume]]:
        return get(path("projects", project_id, "volumes"), Page[Volume], name=name, status=status, limit=limit)

    @Call
    def get(self, project_id: str, id: str) -> Request[Volume]:
        return get(path("projects", project_id, "volumes", id), Volume)

    @Call
    def change(
        self,
        project_id: str,
        id: str,
        *,
        name: str | None = None,
        protected: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Request[Volume]:
        """What is left out stays as it is."""
        body = ChangeVolume(name=UNSET if name is None else name, protected=UNSET if protected is None else protected)
        return Request(
            method="PATCH",
            path=path("projects", project_id, "volumes", id),
            answer=Volume,
            body=body,
            repeat=Repeat.WITH_KEY,
            idempotency_key=idempotency_key,
        )

    @Call
    def delete(self, project_id: str, id: str, *, idempotency_key: str | None = None) -> Request[Volume]:
        """Its data goes for good; refused while it is attached, protected, or has snapshots."""
        return end(path("projects", project_id, "volumes", id), Volume, idempotency_key)

    @Listing
    def timeline(self, id: str, *, limit: int | None = None) -> Request[Page[Entry]]:
        return get(path("volumes", id, "timeline"), Page[Entry], limit=limit)

    @Call
    def snapshot(self, id: str, name: str, *, idempotency_key: str | None = None) -> Request[Snapshot]:
        return post(path("volumes", id, "snapshots"), Snapshot, CreateSnapshot(name=name), key=idempotency_key)

    @Listing
    def snapshots(self, id: str, *, limit: int | None = None) -> Request[Page[Snapshot]]:
        return get(path("volumes", id, "snapshots"), Page[Snapshot], limit=limit)

    @Call
    def delete_snapshot(self, id: str, snapshot_id: str, *, idempotency_key: str | None = None) -> Request[Snapshot]:
        return end(path("volumes", id, "snapshots", snapshot_id), Snapshot, idempotency_key)

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
        """Also while the machine runs; `operation_id` of the answer names the work."""
        body = AttachVolume(volume_id=volume_id, mount_path=mount_path, access_mode=access_mode)
        route = path("allocations", allocation_id, "storage-attachments")
        return post(route, Attachment, body, key=idempotency_key)

    @Listing
    def attachments(self, allocation_id: str, *, limit: int | None = None) -> Request[Page[Attachment]]:
        return get(path("allocations", allocation_id, "storage-attachments"), Page[Attachment], limit=limit)

    @Call
    def attachment(self, allocation_id: str, id: str) -> Request[Attachment]:
        return get(path("allocations", allocation_id, "storage-attachments", id), Attachment)

    @Call
    def detach(
        self, allocation_id: str, id: str, *, force: bool = False, idempotency_key: str | None = None
    ) -> Request[Attachment]:
        """`force` ends the processes that use it; its data stays in any case."""
        query = {"force": "true"} if force else {}
        return end(path("allocations", allocation_id, "storage-attachments", id), Attachment, idempotency_key, query)


class StorageBackends(Noun[R_co]):
    @Listing
    def list(self) -> Request[Page[StorageBackend]]:
        return get(path("storage-backends"), Page[StorageBackend])

    @Call
    def run_conformance(
        self, backend: Backend, node_id: str, *, idempotency_key: str | None = None
    ) -> Request[ConformanceRun]:
        """For operators. The result is shown with the backend."""
        route = path("admin", "storage-backends", backend.value, "conformance")
        return post(route, ConformanceRun, RunConformance(node_id=node_id), key=idempotency_key)
