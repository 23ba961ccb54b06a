"""SQL for timelines, the audit trail and operations. Entries and audit rows are only added, never changed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Generic, TypeVar

import asyncpg
from msgspec import Struct
from msgspec.structs import asdict, astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound, Place
from gpuaas.core.logs import correlation_id
from gpuaas.core.paging import Paging, matching
from gpuaas.domain.timeline.states import MACHINE
from gpuaas.wire.common import Page
from gpuaas.wire.timeline import AuditResult, AuditRow, Entry, LogLine, Operation, OperationStatus, Outcome

T = TypeVar("T")
BIGINT_DIGITS = 18
EPOCH_DIGITS = 9
MOST_XID = 10**BIGINT_DIGITS  # greater than every transaction id
EXCERPT = 300  # lines of an operation that are read for its phases
ANONYMOUS = "anonymous"  # the actor if nobody is signed in
SYSTEM = "system"  # the actor of what the platform does automatically
EVENTS = "events"  # the topic that wakes streams of timeline entries; its row ids are project ids
LOGS = "logs"  # the same for streams of log lines


class Subject(Struct, frozen=True, kw_only=True):
    """The resource that an entry is about."""

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


class Cursor(Struct, frozen=True, order=True):
    """The position of a follower: transactions in the order in which they began, and never past one that may still
    commit.

    The epoch rises when the database is promoted or restored into another cluster, where transaction ids start again.
    """

    epoch: int
    xid: int
    id: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.xid}-{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        """Cursors from before epochs have two numbers; entries from that time have epoch 0."""
        numbers = text.split("-") if text.count("-") == 2 else ["0", *text.split("-")]  # noqa: PLR2004
        if len(numbers) != 3 or not all(map(_is_number, numbers)) or len(numbers[0]) > EPOCH_DIGITS:  # noqa: PLR2004
            return None
        return cls(*map(int, numbers))


START, END = Cursor(0, 0, 0), Cursor(10**EPOCH_DIGITS - 1, MOST_XID, 0)


class Followed(Struct, Generic[T], frozen=True):
    """A timeline entry or a log line, and its position."""

    cursor: Cursor
    item: T


def page_of(paging: Paging, rows: list[Followed[T]]) -> Page[T]:
    page = paging.page(rows, lambda each: str(each.cursor))
    return Page(items=[each.item for each in page.items], next_cursor=page.next_cursor)


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Which audit rows to show; a field without a value does not restrict them."""

    actor: str | None = None
    action: str | None = None  # a prefix: `volume` and `volume.delete` both match `volume.delete`
    target: str | None = None  # its id
    result: AuditResult | None = None
    since: datetime | None = None
    until: datetime | None = None


class OperationFilter(Struct, frozen=True, kw_only=True):
    """Which operations of the fleet to show. The fields are columns; a field without a value does not restrict them."""

    status: OperationStatus | None = None
    kind: str | None = None
    node_id: str | None = None
    project_id: str | None = None
    subject_id: str | None = None


class LogsOf(Struct, frozen=True, kw_only=True):
    """The owner of log lines: exactly one of the two."""

    operation_id: str | None = None
    allocation_id: str | None = None


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
    """Runs in the transaction of the change, so that both are stored or neither."""
    place = (subject.tenant_id, subject.project_id, subject.kind, subject.id)
    await tx.run(AUDIT, at, *place, actor, actor, action, correlation_id.get(), dict(facts or {}))


async def audit_denial(tx: Tx, place: Place, *, actor: str, action: str, target: str, at: datetime) -> None:
    """Runs after the refused request rolled back. The same refusal within a minute is counted, not repeated; after
    many refusals of an action, so is every further one, so that a refused person cannot fill the log. Counts have
    a separate table, because audit rows are sealed and never change.
    """
    if not await tx.run(COUNT_DENIAL, actor, action, target, at):
        await tx.run(DENIAL, at, place.tenant_id, place.project_id, actor, action, target, correlation_id.get())


async def audit_failure(tx: Tx, subject: Subject, action: str, *, actor: str, at: datetime, source: str) -> None:
    """A failure without a sign-in; the same failure from the same source within a minute is counted, not repeated."""
    if not await tx.run(COUNT_FAILURE, actor, action, subject.id, at, source):
        facts, correlation = {"source": source}, correlation_id.get()
        await tx.run(FAILURE, at, subject.kind, subject.id, actor, action, correlation, facts)


async def audit_of_project(tx: Tx, project_id: str, wanted: AuditFilter, paging: Paging) -> list[AuditRow]:
    return await tx.all(AuditRow, AUDIT_OF_PROJECT, *_asked(wanted, paging), project_id)


async def audit_of_tenant(tx: Tx, tenant_id: str, wanted: AuditFilter, paging: Paging) -> list[AuditRow]:
    return await tx.all(AuditRow, AUDIT_OF_TENANT, *_asked(wanted, paging), tenant_id)


async def audit_of_all(tx: Tx, wanted: AuditFilter, paging: Paging) -> list[AuditRow]:
    """For operators."""
    return await tx.all(AuditRow, AUDIT_OF_ALL, *_asked(wanted, paging))


def _asked(wanted: AuditFilter, paging: Paging) -> tuple[object, ...]:
    result = wanted.result and wanted.result.value
    asked = (wanted.actor, wanted.action, result, wanted.since, wanted.until, wanted.target)
    return (_number(paging), paging.limit + 1, *asked)


async def start_operation(tx: Tx, id: str, subject: Subject, kind: str, *, requested_by: str, now: datetime) -> None:
    place = (subject.tenant_id, subject.project_id, subject.kind, subject.id)
    await tx.run(START_OPERATION, id, *place, kind, requested_by, now, correlation_id.get())


async def end_operation(tx: Tx, id: str, status: OperationStatus, *, reason: str, now: datetime) -> None:
    await tx.run(END_OPERATION, id, status.value, reason, now)


async def entries(tx: Tx, subject_id: str, paging: Paging) -> list[Followed[Entry]]:
    """The entries of one subject, newest first."""
    before = Cursor.parse(paging.before) or END
    rows = await tx.connection.fetch(RECENT_OF_SUBJECT, subject_id, *astuple(before), paging.limit + 1)
    return [_followed(row) for row in rows]


async def recent(tx: Tx, project_id: str, paging: Paging) -> list[Followed[Entry]]:
    """The entries of a project, newest first: the stream of its events in reverse."""
    before = Cursor.parse(paging.before) or END
    rows = await tx.connection.fetch(RECENT, project_id, *astuple(before), paging.limit + 1)
    return [_followed(row) for row in rows]


async def operation_entries(tx: Tx, operation_id: str) -> list[Entry]:
    return await tx.all(Entry, f"{ENTRY} where operation_id = $1 order by at, id", operation_id)


async def operation(tx: Tx, id: str) -> Operation:
    row = await tx.maybe(Operation, f"{OPERATION} where id = $1", id)
    if row is None:
        raise NotFound("operation")
    return row


async def operations(tx: Tx, project_id: str, subject_id: str | None, paging: Paging) -> list[Operation]:
    words, values = matching({"subject_id": subject_id}, first=4)
    listing = LIST_OPERATIONS.replace("{matching}", words)
    return await tx.all(Operation, listing, project_id, paging.before, paging.limit + 1, *values)


async def fleet_operations(tx: Tx, wanted: OperationFilter, paging: Paging) -> list[Operation]:
    """Operations of every project, and operations of nodes, which belong to no project."""
    words, values = matching(asdict(wanted), first=3)
    listing = FLEET_OPERATIONS.replace("{matching}", words)
    return await tx.all(Operation, listing, paging.before, paging.limit + 1, *values)


async def log_lines(tx: Tx, of: LogsOf, paging: Paging) -> list[Followed[LogLine]]:
    """Newest first."""
    return await _log_lines(tx, of, Cursor.parse(paging.before) or END, paging.limit + 1)


async def log_excerpt(tx: Tx, operation_id: str, most: int = EXCERPT) -> list[LogLine]:
    """The last lines, oldest first."""
    lines = await _log_lines(tx, LogsOf(operation_id=operation_id), END, most)
    return [each.item for each in reversed(lines)]


async def _log_lines(tx: Tx, of: LogsOf, before: Cursor, limit: int) -> list[Followed[LogLine]]:
    owner = "operation_id" if of.operation_id else "allocation_id"
    args = (of.operation_id or of.allocation_id, *astuple(before), limit)
    rows = await tx.connection.fetch(LOG_LINES.format(owner), *args)
    return [
        Followed(
            Cursor(row["epoch"], row["place"], row["seq"]),
            LogLine(seq=row["seq"], at=row["at"], line=row["line"], operation_id=row["operation_id"]),
        )
        for row in rows
    ]


async def here(tx: Tx) -> Cursor:
    """The start of a stream that wants only new entries."""
    row = await tx.connection.fetchrow(HERE)
    return Cursor(row["epoch"], row["xid"], 0) if row else START


async def is_ahead(tx: Tx, cursor: Cursor) -> bool:
    """Whether the cursor is newer than everything in this database: then it comes from a database that was lost."""
    ahead: bool = await tx.value(IS_AHEAD, cursor.epoch, cursor.xid)
    return ahead


def _number(paging: Paging) -> int | None:
    return int(paging.before) if _is_number(paging.before) else None


def _is_number(text: str) -> bool:
    """Whether the text is a number that fits a bigint."""
    return text.isdecimal() and len(text) <= BIGINT_DIGITS


def _followed(row: asyncpg.Record) -> Followed[Entry]:
    entry = Entry(**{field: row[field] for field in Entry.__struct_fields__})
    return Followed(Cursor(row["epoch"], row["place"], row["id"]), entry)


# Tenants see the names of their people, including former members; any other actor is shown as an operator.
ACTOR_NAME = """
    coalesce((select u.email from users u where u.id = actor), actor_name(actor), actor) as actor_name
"""
ENTRY = f"""
    select id, subject_kind, subject_id, project_id, operation_id, phase, outcome, at, actor, {ACTOR_NAME},
        note, evidence
    from timeline_entries
"""
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
AUDIT_ROWS = f"""
    select id, at, actor, {ACTOR_NAME}, action, target_kind, target_id, result,
        coalesce(r.repeats, a.repeats) as repeats, correlation_id, facts
    from audit a left join audit_repeats r on r.audit_id = a.id
    where ($1::bigint is null or id < $1) and ($3::text is null or actor = $3)
        and ($4::text is null or starts_with(action, $4)) and ($5::text is null or result = $5)
        and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
        and ($8::text is null or target_id = $8)
"""
NEWEST = "order by id desc limit $2"
AUDIT_OF_PROJECT = f"{AUDIT_ROWS} and project_id = $9 {NEWEST}"
AUDIT_OF_TENANT = f"{AUDIT_ROWS} and tenant_id = $9 {NEWEST}"
AUDIT_OF_ALL = f"{AUDIT_ROWS} {NEWEST}"  # house: project-filter because operators see every project
DENIALS_A_MINUTE = 20
COUNT_DENIAL = f"""
    with recent as materialized (
        select id, target_id from audit where result = 'denied' and actor = $1 and action = $2
            and at > $4::timestamptz - interval '1 minute' order by id desc limit {DENIALS_A_MINUTE}
    )
    insert into audit_repeats as kept (audit_id, repeats)
    select id, 2 from (
        select id from recent where target_id = $3 or (select count(*) from recent) = {DENIALS_A_MINUTE}
        order by target_id = $3 desc, id desc limit 1) as found
    on conflict (audit_id) do update set repeats = kept.repeats + 1
"""  # house: project-filter because one person may be refused in many projects
DENIAL = """
    insert into audit
        (at, tenant_id, project_id, actor, acted_as, action, target_kind, target_id, result, correlation_id)
    values ($1, $2, $3, $4, $4, $5, 'route', $6, 'denied', $7)
"""
COUNT_FAILURE = """
    insert into audit_repeats as kept (audit_id, repeats)
    select id, 2 from (
        select id from audit where result = 'denied' and actor = $1 and action = $2 and target_id = $3
            and at > $4::timestamptz - interval '1 minute' and facts ->> 'source' = $5
        order by id desc limit 1) as found
    on conflict (audit_id) do update set repeats = kept.repeats + 1
"""
FAILURE = """
    insert into audit (at, target_kind, target_id, actor, acted_as, action, result, correlation_id, facts)
    values ($1, $2, $3, $4, $4, $5, 'denied', $6, $7)
"""
START_OPERATION = """
    insert into operations (id, tenant_id, project_id, subject_kind, subject_id, kind, status, requested_by, started_at,
        last_progress_at, correlation_id, node_id)
    values ($1, $2, $3, $4, $5, $6, 'running', $7, $8, $8, $9, case $4 when 'node' then $5
        when 'allocation' then (select a.node_id from allocations a where a.id = $5) end)
"""
MAY_END = MACHINE.sources(OperationStatus.SUCCEEDED, OperationStatus.FAILED)
END_OPERATION = f"""
    update operations set status = $2, reason = $3, ended_at = $4, last_progress_at = $4
    where id = $1 and status in {MAY_END}
"""
OPERATION = """
    select id, kind, subject_kind, subject_id, coalesce(project_id, '') as project_id, node_id, status, requested_by,
        started_at, ended_at, last_progress_at, reason
    from operations
"""
LIST_OPERATIONS = f"""
    {OPERATION} where project_id = $1 and id < $2 {{matching}} order by id desc limit $3
"""
FLEET_OPERATIONS = f"""
    {OPERATION} where id < $1 {{matching}} order by id desc limit $2
"""  # house: project-filter because operators see the whole fleet
HERE = "select history_epoch() as epoch, pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xid"
IS_AHEAD = "select ($1::int, $2::bigint::text::xid8) > (history_epoch(), pg_snapshot_xmax(pg_current_snapshot()))"
PLACED_ENTRY = f"""
    select epoch, xid::text::bigint as place, id, subject_kind, subject_id, project_id, operation_id, phase, outcome,
        at, actor, {ACTOR_NAME}, note, evidence
    from timeline_entries
"""
BEFORE = """
    and (epoch, xid, id) < ($2::int, $3::bigint::text::xid8, $4::bigint)
    order by epoch desc, xid desc, id desc limit $5
"""
# The transaction id is selected as `place`: with an output column named xid, `order by xid` would sort by that column
# and read the whole history.
PLACED_LINE = "select epoch, xid::text::bigint as place, id as seq, at, line, operation_id from task_logs"
LOG_LINES = f"{PLACED_LINE} where {{}} = $1 {BEFORE}"
RECENT = f"{PLACED_ENTRY} where project_id = $1 {BEFORE}"
RECENT_OF_SUBJECT = f"{PLACED_ENTRY} where subject_id = $1 {BEFORE}"
