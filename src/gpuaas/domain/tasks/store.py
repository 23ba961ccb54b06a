"""Node tasks: what a node is asked to make true. Rows are queued by reconcilers, sent and ended by the link."""

from collections.abc import Iterable
from datetime import datetime

import asyncpg
from msgspec import Struct, to_builtins

from gpuaas.core.db import Tx
from gpuaas.core.errors import Raced
from gpuaas.domain.timeline.store import EVENTS
from gpuaas.wire.link import LogLines, Progress, Result, TaskKind

TASKS = "node_tasks"  # the topic; its row ids are node ids
LOG_LINES_KEPT = 2000  # per task


class TaskRow(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    allocation_id: str | None
    operation_id: str | None
    seq: int
    boot: int
    kind: TaskKind
    wants: dict[str, object]
    status: str
    attempt: int
    created_at: datetime
    ended_at: datetime | None
    reason: str
    detail: str
    result: Result | None

    @property
    def is_open(self) -> bool:
        return self.status in ("queued", "sent")


class NewTask(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    allocation_id: str
    operation_id: str
    boot: int
    kind: TaskKind
    wants: Struct


class EndedTask(Struct, frozen=True):
    id: str
    allocation_id: str | None


async def queue(tx: Tx, task: NewTask, now: datetime) -> None:
    """The newest task of an allocation is the wanted one: older open ones are superseded with it."""
    fields = (task.id, task.node_id, task.allocation_id, task.operation_id, task.boot, task.kind.value)
    try:
        await tx.run(QUEUE, *fields, to_builtins(task.wants), now)
    except asyncpg.UniqueViolationError as error:
        raise Raced("Another pass queued a task for this allocation.") from error
    tx.hint(TASKS, task.node_id)


async def latest(tx: Tx, allocation_id: str) -> TaskRow | None:
    return await tx.maybe(TaskRow, LATEST, allocation_id)


async def take_queued(tx: Tx, node_ids: Iterable[str], limit: int) -> list[TaskRow]:
    """Queued tasks of these nodes, marked as sent: the caller sends them now, or the next `hello` will."""
    return await tx.all(TaskRow, TAKE_QUEUED, list(node_ids), limit)


async def take_unfinished(tx: Tx, node_id: str) -> list[TaskRow]:
    """All a node has not answered, oldest first: sent again after each `hello`."""
    return await tx.all(TaskRow, TAKE_UNFINISHED, node_id)


async def end(tx: Tx, node_id: str, results: list[Result]) -> list[EndedTask]:
    """Write down how tasks of this node ended, once; an answer to one already ended changes nothing."""
    ended = []
    for result in results:
        stored = to_builtins(result)
        row = await tx.maybe(
            EndedTask,
            END,
            result.task_id,
            node_id,
            result.status.value,
            result.reason,
            result.detail,
            stored,
            result.at,
        )
        if row:
            ended.append(row)
            for progress in result.phases:
                await tell(tx, node_id, progress)
    return ended


async def tell(tx: Tx, node_id: str, progress: Progress) -> None:
    """A phase on the timeline of the task's allocation; told twice, it stands there once."""
    project_id = await tx.value(TELL, progress.task_id, node_id, progress.phase[:80], progress.note[:500], progress.at)
    if project_id:
        tx.hint(EVENTS, project_id)


async def add_logs(tx: Tx, node_id: str, logs: LogLines) -> None:
    numbers = list(range(logs.first_seq, logs.first_seq + len(logs.lines)))
    await tx.run(
        ADD_LOGS, logs.task_id, node_id, numbers, [line[:2000] for line in logs.lines], logs.at, LOG_LINES_KEPT
    )


QUEUE = """
    with superseded as (
        update node_tasks set status = 'superseded', ended_at = $8
        where allocation_id = $3 and status in ('queued', 'sent')
    )
    insert into node_tasks (id, node_id, allocation_id, operation_id, boot, kind, wants, status, created_at, seq)
    select $1, $2, $3, $4, $5, $6, $7, 'queued', $8,
        coalesce((select max(seq) from node_tasks where allocation_id = $3), 0) + 1
"""
LATEST = "select * from node_tasks where allocation_id = $1 order by seq desc limit 1"
TAKE_QUEUED = """
    with taken as (
        update node_tasks set status = 'sent', sent_at = clock_timestamp(), attempt = attempt + 1
        where id in (
            select id from node_tasks where node_id = any ($1) and status = 'queued'
            order by id limit $2 for update skip locked
        )
        returning *
    )
    select * from taken order by id
"""
TAKE_UNFINISHED = """
    with taken as (
        update node_tasks set status = 'sent', sent_at = clock_timestamp(), attempt = attempt + 1
        where node_id = $1 and status in ('queued', 'sent') returning *
    )
    select * from taken order by id
"""
END = """
    update node_tasks set status = $3, reason = $4, detail = $5, result = $6, ended_at = $7
    where id = $1 and node_id = $2 and status in ('queued', 'sent') returning id, allocation_id
"""
TELL = """
    insert into timeline_entries
        (tenant_id, project_id, subject_kind, subject_id, operation_id, phase, outcome, at, actor, note)
    select a.tenant_id, a.project_id, 'allocation', a.id, t.operation_id, $3, 'began', $5, $2, $4
    from node_tasks t join allocations a on a.id = t.allocation_id
    where t.id = $1 and t.node_id = $2 and not exists (
        select from timeline_entries e where e.operation_id = t.operation_id and e.phase = $3 and e.at = $5)
    returning project_id
"""
ADD_LOGS = """
    insert into task_logs (operation_id, tenant_id, task_id, seq, at, line)
    select t.operation_id, a.tenant_id, t.id, lines.seq, $5, lines.line
    from node_tasks t join allocations a on a.id = t.allocation_id,
        unnest($3::int[], $4::text[]) as lines (seq, line)
    where t.id = $1 and t.node_id = $2 and lines.seq < $6
    on conflict do nothing
"""
