"""What happened, to what, when, by whom: timeline entries, operations, their log lines."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class Outcome(StrEnum):
    """`began` opens a phase that the next entry of its operation closes; the rest are moments."""

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
    """Who did what to what, or was refused; written with the change and never altered."""

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
    """What a node said. `seq` rises, with gaps; which operation it worked on is told with it."""

    seq: int
    at: datetime
    line: str
    operation_id: str = ""


class Phase(Struct, frozen=True, kw_only=True):
    """A phase as the durable entries tell it; `seconds` is null while it lasts."""

    phase: str
    outcome: Outcome
    started_at: datetime
    ended_at: datetime | None
    seconds: float | None
    actor: str
    actor_name: str
    note: str
    evidence: dict[str, object] = {}
    attempt: int = 1  # how often the phase began in this operation, this time included
    logs: list[LogLine] = []  # the last of what the node said meanwhile


class Operation(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    subject_kind: str
    subject_id: str
    project_id: str  # empty: work on a node that belongs to no project
    node_id: str | None = None
    status: OperationStatus
    requested_by: str
    started_at: datetime
    ended_at: datetime | None
    last_progress_at: datetime
    reason: str
    phases: list[Phase] = []
