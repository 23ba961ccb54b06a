"""SQL for volumes and their snapshots."""

from datetime import datetime

import asyncpg
from msgspec import Struct, to_builtins
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, StaleWrite
from gpuaas.core.paging import Paging
from gpuaas.domain.storage.kinds import SNAPSHOT, VOLUME
from gpuaas.domain.timeline.store import EVENTS, Subject
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import NO_OPERATION, Act, OperationChange
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.storage import (
    Backend,
    Durability,
    Snapshot,
    SnapshotStatus,
    VolumeAttachment,
    VolumeObservation,
    VolumeOwnership,
    VolumeRef,
    VolumeStatus,
    WritePolicy,
)

VOLUMES = "volume"  # the lane of a volume, and the topic; its row ids are volume ids
SNAPSHOTS = "snapshot"  # the same for a snapshot


class VolumeRow(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    project_id: str
    name: str
    size_gib: int
    backend: Backend
    write_policy: WritePolicy
    durability: Durability
    node_id: str | None
    status: VolumeStatus
    status_since: datetime
    status_reason: str
    version: int
    operation_id: str
    protected: bool
    quota: str
    used_bytes: int | None
    used_at: datetime | None
    snapshot_id: str | None
    created_at: datetime
    created_by: str
    deleted_at: datetime | None
    deletion_proofs: list[ProofItem]
    record_stale_since: datetime | None = None  # the ownership record on disk is outdated or missing
    attachments: list[VolumeAttachment] = []

    @property
    def subject(self) -> Subject:
        return Subject(kind="volume", id=self.id, tenant_id=self.tenant_id, project_id=self.project_id)

    @property
    def ref(self) -> VolumeRef:
        return VolumeRef(volume_id=self.id, backend=self.backend, size_gib=self.size_gib)

    @property
    def ownership(self) -> VolumeOwnership:
        """The ownership record that should be on disk."""
        return VolumeOwnership(
            tenant_id=self.tenant_id,
            project_id=self.project_id,
            name=self.name,
            size_gib=self.size_gib,
            backend=self.backend,
            write_policy=self.write_policy,
            protected=self.protected,
            snapshot_id=self.snapshot_id,
            created_by=self.created_by,
            created_at=self.created_at,
        )


class SnapshotRow(Snapshot, frozen=True, kw_only=True):
    tenant_id: str
    version: int

    @property
    def subject(self) -> Subject:
        return Subject(kind="volume", id=self.volume_id, tenant_id=self.tenant_id, project_id=self.project_id)


class NewVolumeRow(Struct, frozen=True, kw_only=True):
    """In the order of the statement's parameters."""

    id: str
    tenant_id: str
    project_id: str
    name: str
    size_gib: int
    backend: Backend
    write_policy: WritePolicy
    durability: Durability
    node_id: str | None
    operation_id: str
    snapshot_id: str | None
    created_at: datetime
    created_by: str


async def add_volume(tx: Tx, new: NewVolumeRow) -> None:
    try:
        await tx.run(ADD_VOLUME, *astuple(new))
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"A volume named {new.name} already exists in this project. Choose another name.") from error
    tx.hint(VOLUMES, new.id)


async def volume(tx: Tx, id: str, *, lock: bool = False) -> VolumeRow:
    """The row with its attachments. Commands that attach or delete take the lock, so that they exclude each other."""
    if lock:
        await tx.run("select from volumes where id = $1 for update", id)
    row = await tx.maybe(VolumeRow, f"{VOLUME_SEEN} where v.id = $1", id)
    if row is None:
        raise NotFound("volume")
    return row


async def volumes_of(
    tx: Tx, project_id: str, *, name: str | None, status: VolumeStatus | None, paging: Paging
) -> list[VolumeRow]:
    return await tx.all(VolumeRow, LIST_VOLUMES, project_id, name, status, paging.before, paging.limit + 1)


async def change_volume(tx: Tx, row: VolumeRow, *, name: str, protected: bool, now: datetime) -> None:
    try:
        changed = await tx.run(CHANGE_VOLUME, row.id, row.version, name, protected, now)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"A volume named {name} already exists in this project. Choose another name.") from error
    if not changed:
        raise StaleWrite("volume")
    tx.hint(VOLUMES, row.id)


class VolumeChange(Struct, frozen=True, kw_only=True):
    """Columns that a move of a volume sets with the status."""

    operation_id: str | None = None


class SnapshotChange(Struct, frozen=True, kw_only=True):
    """Columns that a move of a snapshot sets with the status."""

    operation_id: str | None = None
    size_bytes: int | None = None
    consistency: str | None = None


async def move_volume(
    tx: Tx,
    row: VolumeRow,
    to: VolumeStatus,
    act: Act,
    change: VolumeChange | None = None,
    *,
    operation: OperationChange = NO_OPERATION,
) -> None:
    await transitions.move(tx, VOLUME, row, to, act, change=change or VolumeChange(), operation=operation)
    tx.hint(VOLUMES, row.id)
    tx.hint(EVENTS, row.project_id)


async def measured(tx: Tx, id: str, seen: VolumeObservation) -> None:
    """Store a measurement. A late one does not replace a newer one."""
    await tx.run(MEASURED, id, seen.used_bytes, seen.at, seen.quota)


async def record_kept(tx: Tx, row: VolumeRow) -> None:
    """A node has the ownership record of this version on disk."""
    await tx.run("update volumes set record_stale_since = null where id = $1 and version = $2", row.id, row.version)


async def deleted(tx: Tx, row: VolumeRow, proofs: list[ProofItem]) -> None:
    await tx.run("update volumes set deletion_proofs = $2 where id = $1", row.id, to_builtins(proofs))


async def a_node(tx: Tx, backend: Backend) -> str | None:
    """An online, capable node with this backend."""
    found: str | None = await tx.value(A_NODE, f"storage_{backend.value}")
    return found


async def an_active_node(tx: Tx, size_gib: int) -> str | None:
    """An online node that takes new allocations; with room for the volume, if there is one."""
    found: str | None = await tx.value(AN_ACTIVE_NODE, size_gib)
    return found


async def count_on_node(tx: Tx, node_id: str) -> int:
    found: int = await tx.value(COUNT_ON_NODE, node_id)
    return found


async def count_snapshots(tx: Tx, volume_id: str) -> int:
    found: int = await tx.value(COUNT_SNAPSHOTS, volume_id)
    return found


async def add_snapshot(tx: Tx, row: SnapshotRow) -> None:
    fields = (row.id, row.volume_id, row.tenant_id, row.project_id, row.name, row.operation_id, row.created_at)
    try:
        await tx.run(ADD_SNAPSHOT, *fields, row.created_by)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"A snapshot named {row.name} of this volume already exists. Choose another name.") from error
    tx.hint(SNAPSHOTS, row.id)


async def snapshot(tx: Tx, id: str) -> SnapshotRow:
    row = await tx.maybe(SnapshotRow, "select * from volume_snapshots where id = $1", id)
    if row is None:
        raise NotFound("snapshot")
    return row


async def snapshots_of(tx: Tx, volume_id: str, paging: Paging) -> list[SnapshotRow]:
    return await tx.all(SnapshotRow, LIST_SNAPSHOTS, volume_id, paging.before, paging.limit + 1)


async def move_snapshot(
    tx: Tx,
    row: SnapshotRow,
    to: SnapshotStatus,
    act: Act,
    change: SnapshotChange,
    *,
    operation: OperationChange = NO_OPERATION,
) -> None:
    await transitions.move(tx, SNAPSHOT, row, to, act, change=change, operation=operation)
    tx.hint(SNAPSHOTS, row.id)
    tx.hint(EVENTS, row.project_id)


VOLUME_SEEN = """
    select v.*, (
        select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'allocation_id', t.allocation_id, 'allocation_name',
            a.name, 'mount_path', t.mount_path, 'access_mode', t.access_mode, 'status', t.status) order by t.id), '[]')
        from storage_attachments t join allocations a on a.id = t.allocation_id
        where t.volume_id = v.id and t.status not in ('detached', 'failed')
    ) as attachments
    from volumes v
"""
LIST_VOLUMES = f"""
    {VOLUME_SEEN} where v.project_id = $1 and ($2::text is null or v.name = $2)
        and case when $3::text is null then v.status <> 'deleted' else v.status = $3 end
        and v.id < $4 order by v.id desc limit $5
"""
ADD_VOLUME = """
    insert into volumes (id, tenant_id, project_id, name, size_gib, backend, write_policy, durability, node_id,
        operation_id, snapshot_id, created_at, created_by, status, status_since)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'creating', $12)
"""
CHANGE_VOLUME = """
    update volumes set name = $3, protected = $4, version = version + 1,
        record_stale_since = case when status = 'available' then $5 else record_stale_since end
    where id = $1 and version = $2
"""
MEASURED = """
    update volumes set used_bytes = $2, used_at = $3, quota = $4 where id = $1 and coalesce(used_at, $3) <= $3
"""
A_NODE = """
    select id from nodes where offline_since is null and is_capable and intent in ('active', 'draining')
        and coalesce(facts -> 'facts' -> $1 ->> 'value', 'not configured') <> 'not configured'
    order by intent, id limit 1
"""
AN_ACTIVE_NODE = """
    select id from nodes where offline_since is null and is_capable and intent = 'active'
    order by coalesce(disk_left(id) >= $1, true) desc, id limit 1
"""
COUNT_ON_NODE = """
    select count(*) from volumes where node_id = $1 and status <> 'deleted'
"""  # house: project-filter because a node holds volumes of every project
COUNT_SNAPSHOTS = """
    select count(*) from volume_snapshots where volume_id = $1 and status <> 'deleted'
"""  # house: project-filter because a volume is of one project
ADD_SNAPSHOT = """
    insert into volume_snapshots (id, volume_id, tenant_id, project_id, name, operation_id, created_at, created_by,
        status, status_since, size_gib)
    select $1, id, $3, $4, $5, $6, $7, $8, 'creating', $7, size_gib from volumes where id = $2
"""
LIST_SNAPSHOTS = """
    select * from volume_snapshots where volume_id = $1 and status <> 'deleted' and id < $2 order by id desc limit $3
"""  # house: project-filter because a volume is of one project
