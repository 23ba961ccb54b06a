"""Timeline entries, audit rows, operations, and log lines."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class Outcome(StrEnum):
    """`began` opens a phase that the next entry of its operation closes; the others are moments."""

    BEGAN = "began"
    DONE = "done"
    FAILED = "failed"


class Entry(Struct, frozen=True, kw_only=True):
    id: int
    subject_kind: str
    subject_id: str
    project_id: str | None
    operation_id: str | None
    phase: str
    outcome: Outcome
    at: datetime
    actor: str
    actor_name: str  # an e-mail address, a node's name, `system`, or `operator`
    note: str
    evidence: dict[str, object] = {}


class AuditResult(StrEnum):
    DONE = "done"
    DENIED = "denied"


class AuditRow(Struct, frozen=True, kw_only=True):
    """An action or its refusal; written with the change and never altered."""

    id: int
    at: datetime
    actor: str
    actor_name: str
    action: str
    target_kind: str
    target_id: str
    result: AuditResult
    repeats: int  # the same refusal within a minute is counted
    correlation_id: str
    facts: dict[str, object] = {}


class OperationStatus(StrEnum):
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class LogLine(Struct, frozen=True, kw_only=True):
    """A log line of a node. `seq` rises, with gaps."""

    seq: int
    at: datetime
    line: str
    operation_id: str = ""


class Phase(Struct, frozen=True, kw_only=True):
    """A phase, derived from the stored entries; `seconds` is null while it lasts."""

    phase: str
    outcome: Outcome
    started_at: datetime
    ended_at: datetime | None
    seconds: float | None
    actor: str
    actor_name: str
    note: str
    evidence: dict[str, object] = {}
    attempt: int = 1  # how often the phase began in this operation, including this time
    logs: list[LogLine] = []  # the last lines of the node during the phase


class Operation(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    subject_kind: str
    subject_id: str
    project_id: str  # empty: work on a node, which belongs to no project
    node_id: str | None = None
    status: OperationStatus
    requested_by: str
    started_at: datetime
    ended_at: datetime | None
    last_progress_at: datetime
    reason: str
    phases: list[Phase] = []
