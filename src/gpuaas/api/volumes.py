"""Volumes, snapshots, attachments, and storage backends."""

from typing import Annotated

from litestar import Router, delete, get, patch, post
from litestar.params import QueryParameter

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, IllegalMove, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations import commands as allocations
from gpuaas.domain.identity.commands import get_project
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.storage.attachments import commands as attachments
from gpuaas.domain.storage.attachments import store as attachment_rows
from gpuaas.domain.storage.attachments.commands import VolumeElsewhere, VolumeOverQuota
from gpuaas.domain.storage.attachments.store import VolumeInUse
from gpuaas.domain.storage.backends import commands as backends
from gpuaas.domain.storage.backends import store as backend_rows
from gpuaas.domain.storage.paths import MountPathRefused
from gpuaas.domain.storage.views import attachment_view, snapshot_view, volume_view
from gpuaas.domain.storage.volumes import commands as volumes
from gpuaas.domain.storage.volumes import store as rows
from gpuaas.domain.storage.volumes.commands import MultiWriterUnavailable, VolumeNotReady, VolumeProtected
from gpuaas.domain.timeline import store as timeline
from gpuaas.wire.common import Page
from gpuaas.wire.storage import (
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
)
from gpuaas.wire.timeline import Entry

StatusFilter = Annotated[VolumeStatus | None, QueryParameter(name="status", required=False)]
NameFilter = Annotated[str | None, QueryParameter(name="name", required=False, max_length=63)]
Force = Annotated[bool, QueryParameter(name="force", required=False)]


@post(
    "/projects/{project_id:str}/volumes",
    status_code=202,
    responses=problems(
        NotFound, Conflict, QuotaExceeded, MultiWriterUnavailable, VolumeNotReady, InsufficientPermissions
    ),
)
async def create_volume(project_id: str, data: CreateVolume, context: Context) -> Volume:
    """Create a volume: data that outlives allocations. It can be attached at once; the mount waits until it is
    available.
    """
    project = await get_project(context.tx, context.caller, project_id)
    return await volumes.create(context.tx, context.caller, project, data, ids=context.ids, now=context.now)


@get("/projects/{project_id:str}/volumes", responses=problems(NotFound))
async def list_volumes(
    project_id: str,
    context: Context,
    *,
    status: StatusFilter = None,
    name: NameFilter = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Page[Volume]:
    """The project's volumes; deleted ones only with a filter by status."""
    paging = Paging.of(limit, cursor)
    await get_project(context.tx, context.caller, project_id)
    found = await rows.volumes_of(context.tx, project_id, name=name, status=status, paging=paging)
    return paging.page([volume_view(row, context.caller) for row in found], lambda volume: volume.id)


@get("/projects/{project_id:str}/volumes/{volume_id:str}", responses=problems(NotFound))
async def get_volume(project_id: str, volume_id: str, context: Context) -> Volume:
    """One volume: its durability, measured usage, and attachments."""
    return volume_view(await volumes.get(context.tx, context.caller, project_id, volume_id), context.caller)


@patch(
    "/projects/{project_id:str}/volumes/{volume_id:str}",
    responses=problems(NotFound, Conflict, InsufficientPermissions),
)
async def change_volume(project_id: str, volume_id: str, data: ChangeVolume, context: Context) -> Volume:
    """Rename a volume, or protect it against deletion."""
    return await volumes.change(context.tx, context.caller, project_id, volume_id, data, now=context.now)


@delete(
    "/projects/{project_id:str}/volumes/{volume_id:str}",
    status_code=202,
    responses=problems(NotFound, Conflict, VolumeProtected, IllegalMove, InsufficientPermissions),
)
async def delete_volume(project_id: str, volume_id: str, context: Context) -> Volume:
    """Erase the volume permanently, with proof. Refused while it is attached, protected, or has snapshots."""
    return await volumes.delete(context.tx, context.caller, project_id, volume_id, ids=context.ids, now=context.now)


@get("/volumes/{volume_id:str}/timeline", responses=problems(NotFound))
async def volume_timeline(volume_id: str, context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Entry]:
    """The timeline of the volume, newest first; attaching and detaching are on the timeline of the allocation."""
    paging = Paging.of(limit, cursor)
    await volumes.readable(context.tx, context.caller, volume_id)
    return timeline.page_of(paging, await timeline.entries(context.tx, volume_id, paging))


@post(
    "/volumes/{volume_id:str}/snapshots",
    status_code=202,
    responses=problems(NotFound, Conflict, QuotaExceeded, VolumeNotReady, InsufficientPermissions),
)
async def create_snapshot(volume_id: str, data: CreateSnapshot, context: Context) -> Snapshot:
    """Copy the volume as it is now; `consistency` says how. Restore it by creating a volume from the snapshot."""
    return await volumes.take_snapshot(context.tx, context.caller, volume_id, data, ids=context.ids, now=context.now)


@get("/volumes/{volume_id:str}/snapshots", responses=problems(NotFound))
async def list_snapshots(
    volume_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[Snapshot]:
    """Snapshots of a volume, newest first."""
    paging = Paging.of(limit, cursor)
    await volumes.readable(context.tx, context.caller, volume_id)
    found = await rows.snapshots_of(context.tx, volume_id, paging)
    return paging.page([snapshot_view(row, context.caller) for row in found], lambda snapshot: snapshot.id)


@delete(
    "/volumes/{volume_id:str}/snapshots/{snapshot_id:str}",
    status_code=202,
    responses=problems(NotFound, IllegalMove, InsufficientPermissions),
)
async def delete_snapshot(volume_id: str, snapshot_id: str, context: Context) -> Snapshot:
    """Erase a snapshot; the volume, and volumes restored from it, stay."""
    return await volumes.delete_snapshot(
        context.tx, context.caller, volume_id, snapshot_id, ids=context.ids, now=context.now
    )


@post(
    "/allocations/{allocation_id:str}/storage-attachments",
    status_code=202,
    responses=problems(
        NotFound,
        Conflict,
        VolumeInUse,
        VolumeElsewhere,
        VolumeOverQuota,
        VolumeNotReady,
        MountPathRefused,
        InsufficientPermissions,
    ),
)
async def attach_volume(allocation_id: str, data: AttachVolume, context: Context) -> Attachment:
    """Mount a volume on an allocation, also while it runs. It is mounted again automatically after every restart."""
    return await attachments.attach(context.tx, context.caller, allocation_id, data, ids=context.ids, now=context.now)


@get("/allocations/{allocation_id:str}/storage-attachments", responses=problems(NotFound))
async def list_attachments(
    allocation_id: str, context: Context, limit: Limit = None, cursor: Cursor = None
) -> Page[Attachment]:
    """The current and former attachments of an allocation, newest first."""
    paging = Paging.of(limit, cursor)
    await allocations.get(context.tx, context.caller, allocation_id)
    found = await attachment_rows.list_of(context.tx, allocation_id, paging)
    return paging.page([attachment_view(row) for row in found], lambda attachment: attachment.id)


@get("/allocations/{allocation_id:str}/storage-attachments/{attachment_id:str}", responses=problems(NotFound))
async def get_attachment(allocation_id: str, attachment_id: str, context: Context) -> Attachment:
    """One attachment, as observed."""
    return attachment_view(await attachments.readable(context.tx, context.caller, allocation_id, attachment_id))


@delete(
    "/allocations/{allocation_id:str}/storage-attachments/{attachment_id:str}",
    status_code=202,
    responses=problems(NotFound, IllegalMove, InsufficientPermissions),
)
async def detach_volume(
    allocation_id: str, attachment_id: str, context: Context, *, force: Force = False
) -> Attachment:
    """Unmount a volume from an allocation; its data stays. If it is in use, the attachment's reason names the
    processes; with `force` they are ended.
    """
    return await attachments.detach(
        context.tx,
        context.caller,
        allocation_id,
        attachment_id,
        force=force,
        ids=context.ids,
        now=context.now,
    )


@get("/storage-backends")
async def list_storage_backends(context: Context) -> Page[StorageBackend]:
    """The storage backends, their durability, and the result of their last conformance run."""
    return Page(items=await backend_rows.all_of(context.tx))


@post(
    "/admin/storage-backends/{backend:str}/conformance",
    status_code=201,
    responses=problems(NotFound, InsufficientPermissions),
)
async def run_conformance(backend: str, data: RunConformance, context: Context) -> ConformanceRun:
    """Test on one node whether a backend has its declared properties; the result is shown with the backend."""
    if backend not in set(Backend):
        raise NotFound("storage_backend")
    return await backends.run_conformance(
        context.tx, context.caller, Backend(backend), data.node_id, ids=context.ids, now=context.now
    )


ROUTER = Router(
    "",
    tags=["storage"],
    route_handlers=[
        create_volume,
        list_volumes,
        get_volume,
        change_volume,
        delete_volume,
        volume_timeline,
        create_snapshot,
        list_snapshots,
        delete_snapshot,
        attach_volume,
        list_attachments,
        get_attachment,
        detach_volume,
        list_storage_backends,
        run_conformance,
    ],
)
