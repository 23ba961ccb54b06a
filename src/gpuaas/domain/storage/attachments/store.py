"""SQL for attachments: a volume mounted at a path of an allocation."""

from datetime import datetime

import asyncpg
from msgspec import Struct
from msgspec.structs import asdict

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound
from gpuaas.core.logs import correlation_id
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.store import ALLOCATIONS
from gpuaas.domain.storage.kinds import ATTACHMENT
from gpuaas.domain.storage.volumes.store import VolumeRow
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.kinds import Audit
from gpuaas.domain.timeline.statements.parameters import numbered
from gpuaas.domain.timeline.statements.store import created
from gpuaas.domain.timeline.store import EVENTS, Subject
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import Act, OperationChange
from gpuaas.wire.allocations import Status
from gpuaas.wire.storage import AccessMode, Attachment, AttachmentStatus, WritePolicy
from gpuaas.wire.timeline import OperationStatus

ATTACHMENTS = "volumes"  # the lane of a volume on an allocation, and the topic; its row ids are allocation ids
HOLD = "volume"


class AttachmentRow(Attachment, frozen=True, kw_only=True):
    tenant_id: str
    project_id: str
    version: int
    forced: bool

    @property
    def subject(self) -> Subject:
        """Its entries are on the timeline of the allocation, where people look."""
        return Subject(kind="allocation", id=self.allocation_id, tenant_id=self.tenant_id, project_id=self.project_id)


class NewAttachment(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    project_id: str
    allocation_id: str
    volume_id: str
    write_policy: WritePolicy
    mount_path: str
    access_mode: AccessMode
    operation_id: str
    created_at: datetime
    created_by: str


class Machine(Struct, frozen=True, kw_only=True):
    """The columns of an allocation that an overlay reads."""

    id: str
    node_id: str
    status: Status
    version: int
    boot: int
    is_cleaned: bool


class Wanted(Struct, frozen=True, kw_only=True):
    """One attachment with its volume and its newest task."""

    row: AttachmentRow
    volume: VolumeRow
    task: TaskRow | None


class Change(Struct, frozen=True, kw_only=True):
    """Columns and operations that a move writes with the status."""

    operation_id: str | None = None  # of the operation that begins
    observed_boot: int | None = None
    forced: bool = False
    ended: OperationStatus | None = None  # how the operation in progress ended
    started: str | None = None  # the kind of the operation that begins


PLAIN = Change()


class Look(Struct, frozen=True, kw_only=True):
    """One allocation with all its attachments, from one snapshot."""

    machine: Machine
    wanted: list[Wanted]


class VolumeInUse(Conflict):
    code = "volume_in_use"


async def add(tx: Tx, new: NewAttachment, volume: VolumeRow, *, actor: str) -> AttachmentRow:
    """Insert row, hold, operation, timeline entry and audit row in one statement, because round trips dominate the
    cost.
    """
    act = {"actor": actor, "note": volume.name, "now": new.created_at, "at": new.created_at}
    values = {**asdict(new), **act, "hold": HOLD, "correlation": correlation_id.get()}
    try:
        row = await tx.one(AttachmentRow, ADD.sql, *ADD.values(values))
    except asyncpg.UniqueViolationError as error:
        writer = next(
            (one.allocation_name for one in volume.attachments if one.access_mode is AccessMode.READ_WRITE), ""
        )
        raise refusal_of(error.constraint_name or "", volume.name, new.mount_path, writer) from error
    tx.hint(ATTACHMENTS, new.allocation_id)
    tx.hint(EVENTS, new.project_id)
    return row


def refusal_of(fence: str, volume_name: str, mount_path: str, writer: str) -> Conflict:
    match fence:
        case "storage_attachments_one_writer":
            return VolumeInUse(
                f"The volume {volume_name} has one writer, and it is {writer or 'another allocation'}. Detach it there "
                "first, or attach it read_only. A lost allocation counts as writer until its removal is proven.",
                writer=writer,
            )
        case "storage_attachments_path":
            return Conflict(f"Another volume is attached at {mount_path} of this allocation.")
        case _:
            return VolumeInUse(f"The volume {volume_name} is already attached to this allocation.")


async def get(tx: Tx, id: str) -> AttachmentRow:
    row = await tx.maybe(AttachmentRow, f"{SEEN} where t.id = $1", id)
    if row is None:
        raise NotFound("storage_attachment")
    return row


async def list_of(tx: Tx, allocation_id: str, paging: Paging) -> list[AttachmentRow]:
    return await tx.all(AttachmentRow, LIST_ATTACHMENTS, allocation_id, paging.before, paging.limit + 1)


async def live_on(tx: Tx, allocation_id: str) -> list[AttachmentRow]:
    return await tx.all(AttachmentRow, LIVE_ATTACHMENTS, allocation_id)


async def look(tx: Tx, allocation_id: str) -> Look:
    return await tx.one(Look, LOOK, allocation_id)


async def move(
    tx: Tx, row: AttachmentRow, to: AttachmentStatus, *, actor: str, note: str, now: datetime, change: Change = PLAIN
) -> AttachmentRow:
    """The hold exists as long as the attachment, because a release waits for holds."""
    operation = OperationChange(
        begins=change.started, ends=change.ended, reason=note if change.ended is OperationStatus.FAILED else ""
    )
    act = Act(actor=actor, now=now, note=note)
    moved = await transitions.move(tx, ATTACHMENT, row, to, act, change=change, operation=operation)
    if to in ATTACHMENT.states.final:  # only workers reach these states: a request may not remove a hold
        await tx.run(LET_GO, row.allocation_id, HOLD, row.id)
        tx.hint(ALLOCATIONS, row.allocation_id)
    tx.hint(ATTACHMENTS, row.allocation_id)
    tx.hint(EVENTS, row.project_id)
    return moved


async def seen_attached(tx: Tx, row_id: str, boot: int, at: datetime) -> None:
    await tx.run(SEEN_ATTACHED, row_id, boot, at)


async def attached_on_nodes(tx: Tx, node_ids: list[str]) -> list[AttachmentRow]:
    return await tx.all(AttachmentRow, ATTACHED_ON_NODES, node_ids)


SEEN = """
    select t.*, v.name as volume_name, v.durability
    from storage_attachments t join volumes v on v.id = t.volume_id
"""
LIST_ATTACHMENTS = f"{SEEN} where t.allocation_id = $1 and t.id < $2 order by t.id desc limit $3"
LIVE_ATTACHMENTS = f"""
    {SEEN} where t.allocation_id = $1 and t.status not in ('detached', 'failed') order by t.id
"""
ATTACHED_ON_NODES = f"""
    {SEEN} join allocations a on a.id = t.allocation_id
    where a.node_id = any ($1) and t.status = 'attached' and a.status = 'active' and t.observed_boot = a.boot
"""  # house: project-filter because a node tells of every project on it
LOOK = """
    select jsonb_build_object('id', a.id, 'node_id', a.node_id, 'status', a.status, 'version', a.version,
        'boot', a.boot, 'is_cleaned', a.cleanup_proven_at is not null) as machine, (
        select coalesce(jsonb_agg(jsonb_build_object(
            'row', to_jsonb(t) || jsonb_build_object('volume_name', v.name, 'durability', v.durability),
            'volume', to_jsonb(v), 'task', (
                select to_jsonb(k) from node_tasks k where k.allocation_id = t.allocation_id
                    and k.lane = 'volumes:' || v.id and k.operation_id = t.operation_id order by seq desc limit 1)
            ) order by t.id), '[]')
        from storage_attachments t join volumes v on v.id = t.volume_id
        where t.allocation_id = a.id and t.status not in ('detached', 'failed')) as wanted
    from allocations a where a.id = $1
"""
ATTACHED = Audit(action="volume.attach", target_kind="volume", target_id="volume_id", facts=ATTACHMENT.evidence)
ADD = numbered(f"""
    with added as (
        insert into storage_attachments (id, tenant_id, project_id, allocation_id, volume_id, write_policy, mount_path,
            access_mode, operation_id, created_at, created_by, status, status_since)
        values (:id, :tenant_id, :project_id, :allocation_id, :volume_id, :write_policy, :mount_path, :access_mode,
            :operation_id, :created_at, :created_by, 'attaching', :created_at) returning *
    ), held as (
        insert into holds select allocation_id, :hold, id from added on conflict do nothing
    ), {created(ATTACHMENT, AttachmentStatus.ATTACHING, source="added", operation="attach", audit=ATTACHED)}
    select t.*, v.name as volume_name, v.durability from added t join volumes v on v.id = t.volume_id
""")  # house: project-filter because it reads back what it has just added
LET_GO = "delete from holds where allocation_id = $1 and kind = $2 and ref = $3"
SEEN_ATTACHED = """
    update storage_attachments set observed_at = $3 where id = $1 and observed_boot = $2 and status = 'attached'
        and observed_at < $3
"""
