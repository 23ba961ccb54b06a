"""SQL for node tasks. Reconcilers queue rows; the links send and end them."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import asyncpg
from msgspec import Struct, json, to_builtins

from gpuaas.core.db import Tx
from gpuaas.core.errors import Raced
from gpuaas.domain.tasks.states import ENDED, NODE_TASK, NodeTaskStatus
from gpuaas.domain.timeline.statements.store import entries
from gpuaas.domain.timeline.store import EVENTS, LOGS
from gpuaas.wire.allocations import NodeTask
from gpuaas.wire.link import LogLines, Progress, Result, TaskStatus
from gpuaas.wire.tasks import CONTRACTS, TaskKind

TASKS = "node_tasks"  # the topic; its row ids are node ids
ENVIRONMENT = "environment"  # the lane of the environment; other lanes are a topic, or topic:row id
LOG_LINES_KEPT = 2000  # per task
LONGEST_LINE = 2000
ENTRIES_KEPT = 1000  # per operation, from nodes; one statement may exceed it
HIGHEST_SEQ = 1 << 30  # no lane comes near it: a higher number from a node is rejected
MOST_RENUMBERED = 20  # times that a task is sent before it stays superseded by a node that refuses each number


class TaskRow(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    allocation_id: str | None
    operation_id: str | None
    lane: str
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
    disputed: bool = False  # answered by a contested node

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
    lane: str = ENVIRONMENT
    supersedes: tuple[str, ...] = ()  # further lanes whose open tasks this one makes pointless

    def __post_init__(self) -> None:
        _check(self.kind, self.wants)


class SentTask(Struct, frozen=True, kw_only=True):
    """The part of a task that is sent to its node."""

    id: str
    node_id: str
    allocation_id: str | None
    lane: str
    seq: int
    boot: int
    kind: TaskKind
    wants: dict[str, object]


class NewNodeTask(Struct, frozen=True, kw_only=True):
    """For the node as a whole; after the colon, its lane has the id of a row."""

    id: str
    node_id: str
    operation_id: str | None
    kind: TaskKind
    wants: Struct
    lane: str

    def __post_init__(self) -> None:
        _check(self.kind, self.wants)


def _check(kind: TaskKind, wants: Struct) -> None:
    """Fail here, because otherwise only the node would refuse parameters of another kind."""
    if not isinstance(wants, CONTRACTS[kind].wants):
        raise TypeError(f"{kind} wants {CONTRACTS[kind].wants.__name__}, not {type(wants).__name__}")


class EndedTask(Struct, frozen=True):
    id: str
    node_id: str
    allocation_id: str | None
    lane: str
    kind: str
    status: str
    sent_at: datetime
    ended_at: datetime
    correlation_id: str  # of the request that it serves; empty for the platform's own tasks

    @property
    def row_id(self) -> str:
        """The row that the lane's worker reconciles; empty for a lane without rows."""
        return self.allocation_id or self.lane.partition(":")[2]


async def queue(tx: Tx, task: NewTask, *, version: int, now: datetime) -> None:
    """Queue the task that counts for its lane: older open ones are superseded. A removal supersedes the tasks of
    every lane.

    `version` is the allocation's version at the decision; if the allocation moved since, the task is not queued.
    """
    fields = (task.id, task.node_id, task.allocation_id, task.operation_id, task.boot, task.kind.value)
    lanes = None if task.kind is TaskKind.REMOVE else [task.lane, *task.supersedes]
    try:
        queued = await tx.run(QUEUE, *fields, to_builtins(task.wants), now, version, task.lane, lanes)
    except asyncpg.UniqueViolationError as error:
        raise Raced("Another pass queued a task for this allocation.") from error
    if not queued:
        raise Raced("The allocation moved before its task was queued.")
    tx.hint(TASKS, task.node_id)


async def queue_on_node(tx: Tx, task: NewNodeTask, *, now: datetime) -> None:
    """Supersede older open tasks of the same lane of this node; the node compares their numbers."""
    fields = (task.id, task.node_id, task.operation_id, task.kind.value)
    await tx.run(QUEUE_ON_NODE, *fields, to_builtins(task.wants), now, task.lane)
    tx.hint(TASKS, task.node_id)


async def latest_on_node(tx: Tx, lane: str) -> TaskRow | None:
    return await tx.maybe(TaskRow, LATEST_ON_NODE, lane)


async def latest(tx: Tx, allocation_id: str) -> TaskRow | None:
    return await tx.maybe(TaskRow, LATEST, allocation_id, ENVIRONMENT)


async def of_allocation(tx: Tx, allocation_id: str) -> list[NodeTask]:
    return await tx.all(NodeTask, "select * from node_tasks where allocation_id = $1 order by seq", allocation_id)


async def take_queued(tx: Tx, node_ids: Sequence[str], replica_id: str, *, of_each: int, in_all: int) -> list[SentTask]:
    """Mark queued tasks of these nodes as sent, if their newest link is on this replica. The caller sends them now,
    or else the next `hello` does.
    """
    return await tx.all(SentTask, TAKE_QUEUED, node_ids, of_each, in_all, replica_id)


async def take_unfinished(tx: Tx, node_ids: Sequence[str]) -> list[SentTask]:
    """All tasks that these nodes have not answered, oldest first; they are sent again after each `hello`."""
    return await tx.all(SentTask, TAKE_UNFINISHED, node_ids)


async def doubt_removals(tx: Tx, node_id: str, since_epoch: int) -> None:
    """Removal results from links of this node since that epoch prove nothing."""
    await tx.run(DOUBT_REMOVALS, node_id, since_epoch, TaskKind.REMOVE.value)


async def end_all(
    tx: Tx, results: Sequence[tuple[str, Result]], epochs: Sequence[int] | None = None
) -> list[EndedTask]:
    """Store how tasks ended, by node. An answer to a task that already ended changes nothing. `epochs` are those of
    the links that delivered the results.

    One statement stores the results of many nodes, because round trips dominate the cost.
    """
    renumbered = await _renumber(tx, results)
    results = [each for each in results if each[1].task_id not in renumbered]
    if not results:
        return []
    ended = await tx.all(
        EndedTask,
        END,
        [result.task_id for _, result in results],
        [node_id for node_id, _ in results],
        [result.status.value for _, result in results],
        [result.reason for _, result in results],
        [result.detail for _, result in results],
        [json.encode(result).decode() for _, result in results],
        [result.at for _, result in results],
        [None] * len(results) if epochs is None else epochs,
    )
    first_told = {task.id for task in ended}
    await tell_all(
        tx, [(id, phase) for id, result in results if result.task_id in first_told for phase in result.phases]
    )
    return ended


async def _renumber(tx: Tx, results: Sequence[tuple[str, Result]]) -> set[str]:
    """If the node has already used the number of an open task, give the task the next number and queue it again.

    Only for the newest task of a lane: the node can only know a higher number from writes that this database lost.
    Either the task was not done, or its result was lost too; in both cases it must be done again.
    """
    renumbered = set()
    for node_id, result in results:
        is_used_up = result.status is TaskStatus.SUPERSEDED and 0 < result.highest_seq < HIGHEST_SEQ
        if is_used_up and await tx.run(RENUMBER, result.task_id, node_id, result.highest_seq, MOST_RENUMBERED):
            renumbered.add(result.task_id)
            tx.hint(TASKS, node_id)
    return renumbered


async def tell_all(tx: Tx, told: Iterable[tuple[str, Progress]]) -> None:
    """Write the reported phases to the timelines of the tasks' allocations, each once."""
    once = {(id, progress.task_id, progress.phase[:80], progress.at): (id, progress) for id, progress in told}
    if not once:
        return
    project_ids = await tx.column(
        TELL,
        [progress.task_id for _, progress in once.values()],
        [node_id for node_id, _ in once.values()],
        [progress.phase[:80] for _, progress in once.values()],
        [progress.note[:500] for _, progress in once.values()],
        [progress.at for _, progress in once.values()],
        ENTRIES_KEPT,
    )
    for project_id in {each for each in project_ids if each}:
        tx.hint(EVENTS, project_id)


async def add_logs(tx: Tx, told: Sequence[tuple[str, LogLines]]) -> None:
    """Store log lines of tasks, by node, in one statement. A line that is already stored changes nothing."""
    lines = [
        (node_id, logs.task_id, seq, line[:LONGEST_LINE], logs.at)
        for node_id, logs in told
        for seq, line in enumerate(logs.lines, logs.first_seq)
        if 0 <= seq < LOG_LINES_KEPT
    ]
    if not lines:
        return
    project_ids = await tx.column(ADD_LOGS, *map(list, zip(*lines, strict=True)))
    for project_id in set(project_ids):
        tx.hint(LOGS, project_id)


# The states that permit each move. Statements that move many tasks are guarded by these lists.
MAY_BE_QUEUED = NODE_TASK.sources(NodeTaskStatus.QUEUED)
MAY_BE_SENT = NODE_TASK.sources(NodeTaskStatus.SENT)
MAY_BE_SUPERSEDED = NODE_TASK.sources(NodeTaskStatus.SUPERSEDED)
MAY_END = NODE_TASK.sources(*ENDED)
QUEUE = f"""
    with superseded as (
        update node_tasks set status = 'superseded', ended_at = $8
        where allocation_id = $3 and status in {MAY_BE_SUPERSEDED} and ($11::text[] is null or lane = any ($11))
    )
    insert into node_tasks (id, node_id, allocation_id, operation_id, boot, kind, wants, status, created_at, lane, seq)
    select $1, $2, $3, $4, $5, $6, $7, 'queued', $8, $10,
        coalesce((select max(seq) from node_tasks where allocation_id = $3), 0) + 1
    where exists (select from allocations where id = $3 and version = $9)
"""
QUEUE_ON_NODE = f"""
    with superseded as (
        update node_tasks set status = 'superseded', ended_at = $6
        where node_id = $2 and lane = $7 and allocation_id is null and status in {MAY_BE_SUPERSEDED}
    )
    insert into node_tasks (id, node_id, operation_id, boot, kind, wants, status, created_at, lane, seq)
    select $1, $2, $3, 0, $4, $5, 'queued', $6, $7,
        coalesce((select max(seq) from node_tasks where node_id = $2 and lane = $7 and allocation_id is null), 0) + 1
"""
RENUMBER = f"""
    update node_tasks t set status = 'queued', seq = 1 + greatest($3,
        (select max(o.seq) from node_tasks o where o.allocation_id = t.allocation_id))
    where t.id = $1 and t.node_id = $2 and t.ended_at is null and t.status in {MAY_BE_QUEUED} and t.seq <= $3
        and t.attempt < $4
        and not exists (select from node_tasks o where o.node_id = t.node_id and o.lane = t.lane
            and o.allocation_id is not distinct from t.allocation_id and o.seq > t.seq)
"""
LATEST_ON_NODE = "select * from node_tasks where allocation_id is null and lane = $1 order by id desc limit 1"
LATEST = "select * from node_tasks where allocation_id = $1 and lane = $2 order by seq desc limit 1"
# By node and oldest first: an index provides this order, and a node with many tasks does not delay the others.
TAKE_QUEUED = f"""
    with taken as (
        update node_tasks t set status = 'sent', sent_at = clock_timestamp(), attempt = attempt + 1
        from (
            select queued.id from unnest($1::text[]) as node (id)
                join links l on l.node_id = node.id and l.replica_id = $4, lateral (
                select q.id from node_tasks q where q.node_id = node.id and q.ended_at is null and q.status = 'queued'
                order by q.id limit $2 for update skip locked
            ) as queued limit $3
        ) as chosen
        where t.id = chosen.id and t.status in {MAY_BE_SENT}
        returning t.id, t.node_id, t.allocation_id, t.lane, t.seq, t.boot, t.kind, t.wants
    )
    select * from taken order by id
"""
TAKE_UNFINISHED = f"""
    with taken as (
        update node_tasks set status = 'sent', sent_at = clock_timestamp(), attempt = attempt + 1
        where node_id = any ($1) and ended_at is null and status in {MAY_BE_SENT}
        returning id, node_id, allocation_id, lane, seq, boot, kind, wants
    )
    select * from taken order by id
"""
END = f"""
    update node_tasks t
    set status = r.status, reason = r.reason, detail = r.detail, result = r.result::jsonb, ended_at = r.at,
        answered_epoch = r.epoch, disputed = n.contested_at is not null
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::bigint[])
        as r (id, node_id, status, reason, detail, result, at, epoch) join nodes n on n.id = r.node_id
    where t.id = r.id and t.node_id = r.node_id and t.status in {MAY_END}
    returning t.id, t.node_id, t.allocation_id, t.lane, t.kind, t.status, coalesce(t.sent_at, t.created_at) as sent_at,
        t.ended_at, coalesce((select correlation_id from operations where id = t.operation_id), '') as correlation_id
"""
DOUBT_REMOVALS = """
    update node_tasks set disputed = true where node_id = $1 and answered_epoch >= $2 and kind = $3 and not disputed
"""
TOLD = {
    "tenant_id": "a.tenant_id",
    "project_id": "a.project_id",
    "subject_kind": "case when a.id is null then 'node' else 'allocation' end",
    "subject_id": "coalesce(a.id, t.node_id)",
    "operation_id": "t.operation_id",
    "phase": "p.phase",
    "outcome": "'began'",
    "at": "p.at",
    "actor": "p.node_id",
    "note": "p.note",
}
PROGRESS = """
    unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) with ordinality
            as p (task_id, node_id, phase, note, at, number)
        join node_tasks t on t.id = p.task_id and t.node_id = p.node_id
        left join allocations a on a.id = t.allocation_id
"""
TELL = f"""
    with told as (
        {entries(TOLD, PROGRESS)}
        where not exists (
            select from timeline_entries e where e.operation_id = t.operation_id and e.phase = p.phase and e.at = p.at)
            and $6 > (select count(*) from timeline_entries e where e.operation_id = t.operation_id)
        order by p.number
        returning project_id, operation_id, at
    ), progressed as (
        update operations o set last_progress_at = greatest(o.last_progress_at, latest.at)
        from (select operation_id, max(at) as at from told group by operation_id) latest
        where o.id = latest.operation_id
    )
    select project_id from told
"""  # house: project-filter because each row is bound to a task of the node that reports it
ADD_LOGS = """
    with kept as (
        insert into task_logs (operation_id, tenant_id, allocation_id, task_id, seq, at, line)
        select t.operation_id, a.tenant_id, a.id, t.id, said.seq, said.at, said.line
        from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::timestamptz[]) with ordinality
                as said (node_id, task_id, seq, line, at, number)
            join node_tasks t on t.id = said.task_id and t.node_id = said.node_id
            left join allocations a on a.id = t.allocation_id
        where t.operation_id is not null
        order by said.number
        on conflict do nothing
        returning allocation_id
    )
    select a.project_id from kept join allocations a on a.id = kept.allocation_id
"""  # house: project-filter because each line is bound to a task of the node that reports it
SWEEPS = (
    # Tasks and log lines of an allocation whose cleanup is proven. Its last task, a removal, stays: later tasks
    # continue its numbers if the node reports the environment again.
    """
    delete from task_logs l using operations o, allocations a
    where l.at < statement_timestamp() - interval '30 days' and o.id = l.operation_id and a.id = o.subject_id
        and a.cleanup_proven_at < statement_timestamp() - interval '30 days'
    """,
    """
    delete from node_tasks t using allocations a
    where t.kind <> 'environment.remove' and t.ended_at < statement_timestamp() - interval '30 days'
        and a.id = t.allocation_id and a.cleanup_proven_at < statement_timestamp() - interval '30 days'
        and exists (select from node_tasks later where later.allocation_id = a.id and later.seq > t.seq)
    """,
    # Tasks of a node as a whole: all but the newest of each lane, which keeps the highest number.
    """
    delete from task_logs l using operations o
    where l.allocation_id is null and l.at < statement_timestamp() - interval '30 days' and o.id = l.operation_id
        and o.status <> 'running'
    """,
    """
    delete from node_tasks t where allocation_id is null and ended_at < statement_timestamp() - interval '30 days'
        and exists (select from node_tasks later where later.node_id = t.node_id and later.lane = t.lane
            and later.allocation_id is null and later.seq > t.seq)
    """,
)
