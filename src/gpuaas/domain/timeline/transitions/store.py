"""The only functions that change a status.

Each runs one statement: it writes row, timeline entry, audit row, operation, outbox row and usage interval, or
nothing.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from gpuaas.core.db import Tx, decode
from gpuaas.core.errors import StaleWrite
from gpuaas.core.logs import correlation_id
from gpuaas.core.outbox import TOPIC as OUTBOX
from gpuaas.core.states import S
from gpuaas.domain.timeline.kinds import Audit, Kind
from gpuaas.domain.timeline.statements import store as composed
from gpuaas.domain.timeline.statements.parameters import Statement
from gpuaas.domain.timeline.statements.store import Form
from gpuaas.wire.timeline import OperationStatus, Outcome

T = TypeVar("T", bound=Struct)


class Act(Struct, frozen=True, kw_only=True):
    """The actor, time and reason of a change."""

    actor: str
    now: datetime
    note: str = ""
    at: datetime | None = None  # of the timeline entry, if not now
    phase: str | None = None  # of the timeline entry, instead of the declared one,
    outcome: Outcome = Outcome.DONE  # and its outcome
    evidence: Mapping[str, object] = {}
    audit: Audit | None = None  # replaces the audit row that the kind declares
    facts: Mapping[str, object] = {}  # of that audit row


class OperationChange(Struct, frozen=True, kw_only=True):
    """The operations of a move, where the declaration of the kind is not enough."""

    begins: str | None = None  # the kind of the operation that begins; its id is the change's `operation_id`
    ends: OperationStatus | None = None
    reason: str | None = None  # why it ended; None: the note, or empty if it succeeded


NO_OPERATION = OperationChange()


async def move(
    tx: Tx,
    kind: Kind[S],
    row: T,
    to: S,
    act: Act,
    *,
    change: Struct | None = None,
    operation: OperationChange = NO_OPERATION,
    usage_until: datetime | None = None,
) -> T:
    """Move the row if the move is legal and the row has not changed since the caller read it."""
    kind.states.check(getattr(row, kind.status), to)
    ends = operation.ends or kind.ends.get(to)
    form = Form(
        begins=operation.begins is not None,
        ends=ends,
        audit=act.audit or kind.audit,
        phase=act.outcome if act.phase else None,
        given=tuple(column for column in kind.given if getattr(change, column, None) is not None),
        pays=kind.pays(to),
    )
    succeeded = ends is OperationStatus.SUCCEEDED
    reason = operation.reason if operation.reason is not None else "" if succeeded else act.note
    values = {
        **_values(kind, row, act, change),
        "begins": operation.begins,
        "end_reason": reason,
        "until": usage_until or act.now,
    }
    moved = await _write(tx, kind, row, composed.move(kind, to, form), values)
    if kind.outbox and to in kind.outbox.states:
        tx.hint(OUTBOX, "")
    return moved


async def restate(
    tx: Tx,
    kind: Kind[S],
    row: T,
    phase: str,
    act: Act,
    *,
    change: Struct | None = None,
    columns: tuple[str, ...] = (),
    pays: bool | None = None,
) -> T:
    """Set facts of the row at the same status, with a timeline entry; `pays` starts or ends its usage."""
    statement = composed.restate(kind, columns, act.outcome, Form(audit=act.audit, pays=pays))
    values = {**_values(kind, row, act, change), "phase": phase, "until": act.at or act.now}
    return await _write(tx, kind, row, statement, values)


def _values(kind: Kind[S], row: Struct, act: Act, change: Struct | None) -> dict[str, object]:
    return {
        **(asdict(change) if change else {}),
        "id": getattr(row, kind.id),
        "version": getattr(row, kind.guard),
        "now": act.now,
        "at": act.at or act.now,
        "actor": act.actor,
        "phase": act.phase,
        "note": act.note,
        "evidence": dict(act.evidence),
        "facts": dict(act.facts),
        "correlation": correlation_id.get(),
    }


async def _write(tx: Tx, kind: Kind[S], row: T, statement: Statement, values: Mapping[str, object]) -> T:
    moved = await tx.connection.fetchrow(statement.sql, *statement.values(values))
    if moved is None:
        raise StaleWrite(kind.noun)
    return row if kind.shows is None else decode(type(row), moved)
