"""Composes the statement of a transition from the declaration of its resource.

A statement is one `with`: the row changes in `moved`, and every further part reads `moved`. If the row has changed
since the caller read it, `moved` is empty and nothing is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuaas.core.states import S
from gpuaas.domain.timeline.kinds import Audit, Billed, Kind, Outbox
from gpuaas.domain.timeline.statements.parameters import Statement, numbered
from gpuaas.domain.timeline.states import MACHINE
from gpuaas.wire.timeline import OperationStatus, Outcome


@dataclass(frozen=True, kw_only=True)
class Form:
    """The parts of a statement."""

    begins: bool = False  # an operation begins
    ends: OperationStatus | None = None  # the operation in progress ends
    audit: Audit | None = None
    phase: Outcome | None = None  # of the timeline entry, if the caller names its phase
    given: tuple[str, ...] = ()  # the columns for which the change has a value
    pays: bool | None = None  # usage starts or ends; None changes no interval


@cache
def move(kind: Kind[S], to: S, form: Form) -> Statement:
    """A new status."""
    wanted = {**kind.writes, **{column: kind.given[column] for column in form.given}}
    written = {column: value.replace("{status}", to.value) for column, value in wanted.items()}
    written[kind.status] = f"'{to.value}'"
    parts = [
        *([ENDED.format(status=form.ends, may_end=MACHINE.sources(form.ends))] if form.ends else []),
        *([_operation(kind, "moved", ":begins::text")] if form.begins else []),
        *([_entry(kind, "moved", *_told(kind, to, form))] if kind.phase or form.phase else []),
        *([_audit(kind, "moved", form.audit, to.value)] if form.audit else []),
        *([_published(kind.outbox, to)] if kind.outbox and to in kind.outbox.states else []),
    ]
    return _statement(kind, written, parts, form)


@cache
def restate(kind: Kind[S], columns: tuple[str, ...], outcome: Outcome, form: Form) -> Statement:
    """New facts at the same status, with a timeline entry whose phase the caller names. It is part of no operation."""
    parts = [
        _entry(kind, "moved", ":phase::text", f"'{outcome}'", operation="null"),
        *([_audit(kind, "moved", form.audit, "")] if form.audit else []),
    ]
    return _statement(kind, {column: kind.facts[column] for column in columns}, parts, form)


def created(kind: Kind[S], status: S, *, source: str, operation: str | None, audit: Audit | None) -> str:
    """Parts for a statement that inserts the row: its timeline entry, audit row and operation.

    `source` names the part that returns the row.
    """
    parts = [
        *([_operation(kind, source, f"'{operation}'")] if operation else []),
        _entry(kind, source, _phase(kind, status), f"'{kind.outcome(status.value)}'"),
        *([_audit(kind, source, audit, status.value)] if audit else []),
    ]
    return ", ".join(parts)


def entries(columns: Mapping[str, str], source: str) -> str:
    """An insert of one timeline entry for each row of `source`, from a mapping of columns to expressions."""
    return f"insert into timeline_entries ({', '.join(columns)}) select {', '.join(columns.values())} from {source}"


def placed(kind: Kind[S], *, source: str, audit: Audit) -> str:
    """Like `created`, for a new allocation, which has an entry for each of its first two phases."""
    entries = _entry(kind, f"{source}, unnest(array['requested', 'placed']) as phase", "phase", "'began'", PLACED)
    return ", ".join([_operation(kind, source, "'create'"), entries, _audit(kind, source, audit, "")])


def _statement(kind: Kind[S], written: dict[str, str], parts: list[str], form: Form) -> Statement:
    sets = [f"{column} = {value}" for column, value in written.items()]
    if kind.billed and form.pays is not None:
        parts = [*parts, *_usage(kind, kind.billed, pays=form.pays)]
    if kind.guard_rises:
        sets.append(f"{kind.guard} = {kind.guard} + 1")
    # Read the operation in progress before the row moves, because the row may then hold the id of a new operation.
    before = f"before as (select {kind.operation} as operation_id from {kind.table} where {kind.id} = :id)"
    moved = f"""
        moved as (
            update {kind.table} set {", ".join(sets)} where {kind.id} = :id and {kind.guard} = :version returning *
        )
    """
    head = [before, moved] if form.ends else [moved]
    return numbered(f"with {', '.join([*head, *parts])} select {kind.shows or 1} from moved t {kind.joins}")


def _told(kind: Kind[S], status: S, form: Form) -> tuple[str, str]:
    """The phase and the outcome of the timeline entry."""
    if form.phase:
        return ":phase::text", f"'{form.phase}'"
    return _phase(kind, status), f"'{kind.outcome(status.value)}'"


def _phase(kind: Kind[S], status: S) -> str:
    return f"'{(kind.phase or '').format(status=status.value)}'"


def _operation(kind: Kind[S], source: str, operation_kind: str) -> str:
    return f"""
        started as (
            insert into operations (id, tenant_id, project_id, subject_kind, subject_id, kind, status, requested_by,
                started_at, last_progress_at, correlation_id, node_id)
            select {kind.operation}, {kind.tenant}, {kind.project}, '{kind.subject_kind}', {kind.subject_id},
                {operation_kind}, 'running', :actor::text, :now::timestamptz, :now::timestamptz, :correlation::text,
                {kind.node}
            from {source}
        )
    """


def _entry(
    kind: Kind[S], source: str, phase: str, outcome: str, evidence: str | None = None, *, operation: str | None = None
) -> str:
    return f"""
        told as (
            insert into timeline_entries (tenant_id, project_id, subject_kind, subject_id, operation_id, phase, outcome,
                at, actor, note, evidence)
            select {kind.tenant}, {kind.project}, '{kind.subject_kind}', {kind.subject_id},
                {operation or kind.operation}, {phase}, {outcome}, :at::timestamptz, :actor::text, {kind.note},
                {evidence or kind.evidence}
            from {source}
        )
    """


def _audit(kind: Kind[S], source: str, audit: Audit, status: str) -> str:
    return f"""
        audited as (
            insert into audit (at, tenant_id, project_id, actor, acted_as, action, target_kind, target_id, result,
                correlation_id, facts)
            select :now::timestamptz, {kind.tenant}, {kind.project}, :actor::text, :actor::text,
                '{audit.action.format(status=status)}', '{audit.target_kind}', {audit.target_id}, 'done',
                :correlation::text, {audit.facts}
            from {source}
        )
    """


def _published(outbox: Outbox[S], to: S) -> str:
    topic = outbox.topic.format(status=to.value)
    return f"published as (insert into outbox (topic, payload) select '{topic}', {outbox.payload} from moved)"


def _usage(kind: Kind[S], billed: Billed[S], *, pays: bool) -> list[str]:
    """Ends the open interval unless it continues, and starts one unless the open one continues.

    Neither part sees the rows of the other, so both look for an interval that continues.
    """
    same = f"""
        u.resource_kind = '{kind.subject_kind}' and u.resource_id = m.{kind.id} and u.source = '{billed.source}'
            and u.unit = '{billed.unit}' and u.ended is null
    """
    continues = f"(u.quantity, u.price_id) = (m.{billed.quantity}, m.{billed.price})" if pays else "false"
    closed = f"""
        closed as (
            update usage_intervals u set ended = greatest(u.started, :until::timestamptz) from moved m
            where {same} and not {continues}
        )
    """
    opened = f"""
        opened as (
            insert into usage_intervals (tenant_id, project_id, resource_kind, resource_id, source, unit, quantity,
                price_id, rate_minor, currency, started)
            select {kind.tenant}, {kind.project}, '{kind.subject_kind}', {kind.id}, '{billed.source}', '{billed.unit}',
                {billed.quantity}, {billed.price}, {billed.rate}, {billed.currency}, :now::timestamptz
            from moved m where not exists (select from usage_intervals u where {same} and {continues})
        )
    """
    return [closed, opened] if pays else [closed]


ENDED = """
    ended as (
        update operations o set status = '{status}', reason = :end_reason::text, ended_at = :now::timestamptz,
            last_progress_at = :now::timestamptz
        from before, moved where o.id = before.operation_id and o.status in {may_end}
    )
"""
PLACED = """
    case phase when 'placed' then jsonb_build_object('node', node_id, 'slots', to_jsonb(:slot_ids::text[]))
        else '{}' end
"""
