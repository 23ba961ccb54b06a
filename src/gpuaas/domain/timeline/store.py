"""The durable rows behind every timeline, audit trail and operation. Entries and audit rows are only ever added."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, Place
from gpuaas.core.logs import correlation_id
from gpuaas.core.paging import Paging
from gpuaas.wire.timeline import AuditResult, AuditRow, Entry, LogLine, Operation, OperationStatus, Outcome

BIGINT_DIGITS = 18
MOST_XID = 10**BIGINT_DIGITS  # past every transaction
EXCERPT = 300  # lines of an operation that are looked through for its phases
SYSTEM = "system"  # the actor of what the platform does by itself
EVENTS = "events"  # the topic that wakes streams; its row ids are project ids


class Subject(Struct, frozen=True, kw_only=True):
    """What an entry is about."""

    kind: str
    id: str
    tenant_id: str | None = None
    project_id: str | None = None


class NewEntry(Struct, frozen=True, kw_only=True):
    phase: str
    at: datetime
    actor: str
    outcome: Outcome = Outcome.BEGAN
    note: str = ""
    evidence: Mapping[str, object] = {}


class Cursor(Struct, frozen=True):
    """A follower's place: transactions in the order they began, and never past one that may still commit."""

    xid: int
    id: int

    def __str__(self) -> str:
        return f"{self.xid}-{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        xid, dash, id = text.partition("-")
        return cls(int(xid), int(id)) if dash and _is_number(xid) and _is_number(id) else None


class Followed(Struct, frozen=True):
    xid: int
    entry: Entry

    def place(self) -> str:
        return str(Cursor(self.xid, self.entry.id))


class AuditFilter(Struct, frozen=True, kw_only=True):
    """What to show of an audit log; what is left out lets everything through."""

    actor: str | None = None
    action: str | None = None  # its beginning: `volume` and `volume.delete` both find the latter
    result: AuditResult | None = None
    since: datetime | None = None
    until: datetime | None = None


class LogsOf(Struct, frozen=True, kw_only=True):
    """Whose lines: one of the two."""

    operation_id: str | None = None
    allocation_id: str | None = None


class FollowedLine(Struct, frozen=True):
    xid: int
    line: LogLine


async def record(tx: Tx, subject: Subject, entry: NewEntry, operation_id: str | None) -> None:
    await tx.run(
        RECORD,
        subject.tenant_id,
        subject.project_id,
        subject.kind,
        subject.id,
        operation_id,
        entry.phase,
        entry.outcome.value,
        entry.at,
        entry.actor,
        entry.note,
        dict(entry.evidence),
    )
    if subject.project_id:
        tx.hint(EVENTS, subject.project_id)


async def audit(
    tx: Tx,
    subject: Subject,
    action: str,
    *,
    actor: str,
    at: datetime,
    facts: Mapping[str, object] | None = None,
) -> None:
    """In the transaction of the change it tells of: both or neither."""
    place = (subject.tenant_id, subject.project_id, subject.kind, subject.id)
    await tx.run(AUDIT, at, *place, actor, actor, action, correlation_id.get(), dict(facts or {}))


async def audit_denial(tx: Tx, place: Place, *, actor: str, action: str, target: str, at: datetime) -> None:
    """After the refused request rolled back; the same refusal again within a minute is counted, not repeated."""
    if not await tx.run(COUNT_DENIAL, actor, action, target, at):
        await tx.run(DENIAL, at, place.tenant_id, place.project_id, actor, action, target, correlation_id.get())


async def audit_of_project(tx: Tx, project_id: str, wanted: AuditFilter, paging: Paging) -> list[AuditRow]:
    asked = (wanted.actor, wanted.action, wanted.result and wanted.result.value, wanted.since, wanted.until)
    return await tx.all(AuditRow, AUDIT_OF_PROJECT, project_id, _number(paging), paging.limit + 1, *asked)


async def start_operation(tx: Tx, id: str, subject: Subject, kind: str, *, requested_by: str, now: datetime) -> None:
    place = (subject.tenant_id, subject.project_id, subject.kind, subject.id)
    await tx.run(START_OPERATION, id, *place, kind, requested_by, now, correlation_id.get())


async def end_operation(tx: Tx, id: str, status: OperationStatus, *, reason: str, now: datetime) -> None:
    await tx.run(END_OPERATION, id, status.value, reason, now)


async def entries(tx: Tx, subject_id: str, paging: Paging) -> list[Entry]:
    sql = f"{ENTRY} where subject_id = $1 {PAGE_ENTRIES}"
    return await tx.all(Entry, sql, subject_id, _number(paging), paging.limit + 1)


async def recent(tx: Tx, project_id: str, paging: Paging) -> list[Followed]:
    """What happened to anything in a project, newest first: the stream of its events, read backwards."""
    before = Cursor.parse(paging.before) or Cursor(MOST_XID, 0)
    rows = await tx.connection.fetch(RECENT, project_id, before.xid, before.id, paging.limit + 1)
    return [Followed(row["xid"], _entry(row)) for row in rows]


async def operation_entries(tx: Tx, operation_id: str) -> list[Entry]:
    return await tx.all(Entry, f"{ENTRY} where operation_id = $1 order by at, id", operation_id)


async def operation(tx: Tx, id: str) -> Operation:
    row = await tx.maybe(Operation, "select * from operations where id = $1", id)
    if row is None:
        raise NotFound("operation")
    return row


async def operations(tx: Tx, project_id: str, subject_id: str | None, paging: Paging) -> list[Operation]:
    return await tx.all(Operation, LIST_OPERATIONS, project_id, subject_id, paging.before, paging.limit + 1)


async def log_lines(tx: Tx, of: LogsOf, paging: Paging) -> list[LogLine]:
    return await tx.all(LogLine, LOG_LINES, of.operation_id, of.allocation_id, _number(paging), paging.limit + 1)


async def log_excerpt(tx: Tx, operation_id: str) -> list[LogLine]:
    """The last lines, in the order they were said."""
    lines = await tx.all(LogLine, LOG_LINES, operation_id, None, None, EXCERPT)
    return lines[::-1]


async def follow_logs(tx: Tx, of: LogsOf, after: Cursor, limit: int) -> list[FollowedLine]:
    rows = await tx.connection.fetch(FOLLOW_LOGS, of.operation_id, of.allocation_id, after.xid, after.id, limit)
    return [
        FollowedLine(
            row["xid"],
            LogLine(seq=row["seq"], at=row["at"], line=row["line"], operation_id=row["operation_id"]),
        )
        for row in rows
    ]


async def here(tx: Tx) -> Cursor:
    """Where a stream that wants only what comes next begins."""
    return Cursor(await tx.value(HERE), 0)


async def follow(tx: Tx, project_id: str, subject_id: str | None, after: Cursor, limit: int) -> list[Followed]:
    rows = await tx.connection.fetch(FOLLOW, project_id, subject_id, after.xid, after.id, limit)
    return [Followed(row["xid"], _entry(row)) for row in rows]


def _number(paging: Paging) -> int | None:
    return int(paging.before) if _is_number(paging.before) else None


def _is_number(text: str) -> bool:
    """One that a bigint holds."""
    return text.isdecimal() and len(text) <= BIGINT_DIGITS


def _entry(row: Mapping[str, object]) -> Entry:
    return Entry(**{field: row[field] for field in Entry.__struct_fields__})  # type: ignore[arg-type]


# Tenants see the names of their own people; anybody else who acts on their things is an operator to them.
ACTOR_NAME = """
    coalesce((select u.email from users u where u.id = actor), (select n.name from nodes n where n.id = actor),
        case when actor like 'user\\_%' then 'operator' else actor end) as actor_name
"""
ENTRY = f"""
    select id, subject_kind, subject_id, project_id, operation_id, phase, outcome, at, actor, {ACTOR_NAME},
        note, evidence
    from timeline_entries
"""
PAGE_ENTRIES = "and ($2::bigint is null or id < $2) order by id desc limit $3"
RECORD = """
    insert into timeline_entries
        (tenant_id, project_id, subject_kind, subject_id, operation_id, phase, outcome, at, actor, note, evidence)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
AUDIT = """
    insert into audit
        (at, tenant_id, project_id, target_kind, target_id, actor, acted_as, action, result, correlation_id, facts)
    values ($1, $2, $3, $4, $5, $6, $7, $8, 'done', $9, $10)
"""
AUDIT_OF_PROJECT = f"""
    select id, at, actor, {ACTOR_NAME}, action, target_kind, target_id, result, repeats, correlation_id, facts
    from audit where project_id = $1 and ($2::bigint is null or id < $2) and ($4::text is null or actor = $4)
        and ($5::text is null or starts_with(action, $5)) and ($6::text is null or result = $6)
        and ($7::timestamptz is null or at >= $7) and ($8::timestamptz is null or at < $8)
    order by id desc limit $3
"""
COUNT_DENIAL = """
    update audit set repeats = repeats + 1 where id = (
        select id from audit where result = 'denied' and actor = $1 and action = $2 and target_id = $3
            and at > $4::timestamptz - interval '1 minute' order by id desc limit 1)
"""
DENIAL = """
    insert into audit
        (at, tenant_id, project_id, actor, acted_as, action, target_kind, target_id, result, correlation_id)
    values ($1, $2, $3, $4, $4, $5, 'route', $6, 'denied', $7)
"""
START_OPERATION = """
    insert into operations (id, tenant_id, project_id, subject_kind, subject_id, kind, status, requested_by, started_at,
        last_progress_at, correlation_id)
    values ($1, $2, $3, $4, $5, $6, 'running', $7, $8, $8, $9)
"""
END_OPERATION = """
    update operations set status = $2, reason = $3, ended_at = $4, last_progress_at = $4
    where id = $1 and status = 'running'
"""
LIST_OPERATIONS = """
    select * from operations where project_id = $1 and ($2::text is null or subject_id = $2) and id < $3
    order by id desc limit $4
"""
LOG_LINES = """
    select id as seq, at, line, operation_id from task_logs
    where ($1::text is null or operation_id = $1) and ($2::text is null or allocation_id = $2)
        and coalesce($1, $2) is not null and ($3::bigint is null or id < $3)
    order by id desc limit $4
"""
FOLLOW_LOGS = """
    select xid::text::bigint as xid, id as seq, at, line, operation_id from task_logs
    where ($1::text is null or operation_id = $1) and ($2::text is null or allocation_id = $2)
        and coalesce($1, $2) is not null
        and (xid, id) > ($3::bigint::text::xid8, $4) and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid, id limit $5
"""
HERE = "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
PLACED_ENTRY = f"""
    select xid::text::bigint as xid, id, subject_kind, subject_id, project_id, operation_id, phase, outcome, at, actor,
        {ACTOR_NAME}, note, evidence
    from timeline_entries
"""
RECENT = f"""
    {PLACED_ENTRY} where project_id = $1 and (xid, id) < ($2::bigint::text::xid8, $3)
    order by xid desc, id desc limit $4
"""
FOLLOW = f"""
    {PLACED_ENTRY} where project_id = $1 and ($2::text is null or subject_id = $2)
        and (xid, id) > ($3::bigint::text::xid8, $4) and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid, id limit $5
"""
