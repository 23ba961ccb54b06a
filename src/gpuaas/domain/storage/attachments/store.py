"""Rows of attachments: a volume wanted at a path of a machine. `move` is the only writer of a status."""

from datetime import datetime

import asyncpg
from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, StaleWrite
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.store import ALLOCATIONS
from gpuaas.domain.storage.outcomes import outcome_of
from gpuaas.domain.storage.states import ATTACHMENT
from gpuaas.domain.storage.volumes.store import VolumeRow
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.store import NewEntry, Subject, record
from gpuaas.wire.allocations import Status
from gpuaas.wire.storage import AccessMode, Attachment, AttachmentStatus, WritePolicy

ATTACHMENTS = "volumes"  # the lane of a volume on a machine, and the topic; its row ids are allocation ids
HOLD = "volume"


class AttachmentRow(Attachment, frozen=True, kw_only=True):
    tenant_id: str
    project_id: str
    version: int
    forced: bool

    @property
    def subject(self) -> Subject:
        """Told on the machine's timeline: that is where people watch it."""
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
    """Of the machine, all that an overlay looks at."""

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


class VolumeInUse(Conflict):
    code = "volume_in_use"


async def add(tx: Tx, new: NewAttachment, volume_name: str, writer: str) -> None:
    """`writer` is the machine that writes to the volume now, if any does."""
    values = [getattr(new, field) for field in NewAttachment.__struct_fields__]
    try:
        await tx.run(ADD, *values)
    except asyncpg.UniqueViolationError as error:
        raise refusal_of(error.constraint_name or "", volume_name, new.mount_path, writer) from error
    await tx.run("insert into holds values ($1, $2, $3) on conflict do nothing", new.allocation_id, HOLD, new.id)
    tx.hint(ATTACHMENTS, new.allocation_id)


def refusal_of(fence: str, volume_name: str, mount_path: str, writer: str) -> Conflict:
    match fence:
        case "storage_attachments_one_writer":
            return VolumeInUse(
                f"The volume {volume_name} has one writer, and it is {writer or 'another machine'}. Detach it there "
                "first, or attach it read_only. A writer whose machine is lost counts until that is proven gone.",
                writer=writer,
            )
        case "storage_attachments_path":
            return Conflict(f"Another volume is attached at {mount_path} of this machine.")
        case _:
            return VolumeInUse(f"The volume {volume_name} is attached to this machine already.")


async def get(tx: Tx, id: str) -> AttachmentRow:
    row = await tx.maybe(AttachmentRow, f"{SEEN} where t.id = $1", id)
    if row is None:
        raise NotFound("storage_attachment")
    return row


async def list_of(tx: Tx, allocation_id: str, paging: Paging) -> list[AttachmentRow]:
    return await tx.all(AttachmentRow, LIST_ATTACHMENTS, allocation_id, paging.before, paging.limit + 1)


async def live_on(tx: Tx, allocation_id: str) -> list[AttachmentRow]:
    return await tx.all(AttachmentRow, LIVE_ATTACHMENTS, allocation_id)


async def machine(tx: Tx, allocation_id: str) -> Machine:
    return await tx.one(Machine, MACHINE, allocation_id)


async def wanted_on(tx: Tx, allocation_id: str) -> list[Wanted]:
    """Everything that is or should be on one machine, of one moment."""
    return await tx.all(Wanted, WANTED, allocation_id)


async def move(
    tx: Tx,
    row: AttachmentRow,
    to: AttachmentStatus,
    *,
    actor: str,
    note: str,
    now: datetime,
    operation_id: str | None = None,
    observed_boot: int | None = None,
    forced: bool = False,
) -> None:
    """The hold lives as long as the attachment: a release waits for it."""
    ATTACHMENT.check(row.status, to)
    if not await tx.run(MOVE, row.id, row.version, to.value, now, note, operation_id, observed_boot, forced):
        raise StaleWrite("storage_attachment")
    if to in ATTACHMENT.final:
        await tx.run(
            "delete from holds where allocation_id = $1 and kind = $2 and ref = $3", row.allocation_id, HOLD, row.id
        )
        tx.hint(ALLOCATIONS, row.allocation_id)
    entry = NewEntry(
        phase=f"volume_{to.value}",
        outcome=outcome_of(to.value),
        at=now,
        actor=actor,
        note=note,
        evidence={"volume_id": row.volume_id, "mount_path": row.mount_path, "attachment_id": row.id},
    )
    await record(tx, row.subject, entry, operation_id or row.operation_id)
    tx.hint(ATTACHMENTS, row.allocation_id)


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
MACHINE = """
    select id, node_id, status, version, boot, cleanup_proven_at is not null as is_cleaned
    from allocations where id = $1
"""
WANTED = """
    select to_jsonb(t) || jsonb_build_object('volume_name', v.name, 'durability', v.durability) as row,
        to_jsonb(v) as volume, (
            select to_jsonb(k) from node_tasks k where k.allocation_id = t.allocation_id
                and k.lane = 'volumes:' || v.id and k.operation_id = t.operation_id order by seq desc limit 1
        ) as task
    from storage_attachments t join volumes v on v.id = t.volume_id
    where t.allocation_id = $1 and t.status not in ('detached', 'failed') order by t.id
"""
ADD = """
    insert into storage_attachments (id, tenant_id, project_id, allocation_id, volume_id, write_policy, mount_path,
        access_mode, operation_id, created_at, created_by, status, status_since)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'attaching', $10)
"""
MOVE = """
    update storage_attachments set status = $3, status_since = $4, status_reason = $5, version = version + 1,
        operation_id = coalesce($6, operation_id), observed_boot = coalesce($7, observed_boot),
        observed_at = case when $7::int is null then observed_at else $4 end, forced = $8
    where id = $1 and version = $2
"""
SEEN_ATTACHED = """
    update storage_attachments set observed_at = $3 where id = $1 and observed_boot = $2 and status = 'attached'
        and observed_at < $3
"""
