"""Derives the phases of an operation from its timeline entries: each phase ends when the next one begins."""

from collections import Counter
from itertools import zip_longest

from msgspec.structs import replace

from gpuaas.wire.timeline import Entry, LogLine, Operation, OperationStatus, Outcome, Phase

LINES_PER_PHASE = 5


def phases(entries: list[Entry], operation: Operation | None = None) -> list[Phase]:
    """Takes entries in order of time. An entry whose outcome is not `began` is a moment: it has no duration.

    The last phase ends with its operation, and fails with it.
    """
    ended_at = operation.ended_at if operation else None
    failed = operation is not None and operation.status is OperationStatus.FAILED
    told = []
    times: Counter[str] = Counter()
    for entry, following in zip_longest(entries, entries[1:]):
        times[entry.phase] += 1
        next_at = following.at if following else ended_at
        over_at = next_at if entry.outcome is Outcome.BEGAN else entry.at
        is_cut_off = failed and following is None
        told.append(
            Phase(
                phase=entry.phase,
                outcome=_ended(failed=is_cut_off) if entry.outcome is Outcome.BEGAN and over_at else entry.outcome,
                started_at=entry.at,
                ended_at=over_at,
                seconds=max(0.0, (over_at - entry.at).total_seconds()) if over_at else None,
                actor=entry.actor,
                actor_name=entry.actor_name,
                note=entry.note,
                evidence=entry.evidence,
                attempt=times[entry.phase],
            )
        )
    return told


def _ended(*, failed: bool) -> Outcome:
    return Outcome.FAILED if failed else Outcome.DONE


def with_logs(phases: list[Phase], lines: list[LogLine]) -> list[Phase]:
    """Each phase with the last lines of its time; lines before the first phase belong to the first."""
    found: list[list[LogLine]] = [[] for _ in phases]
    for line in lines:
        begun = [place for place, phase in enumerate(phases) if phase.started_at <= line.at]
        if phases:
            found[begun[-1] if begun else 0].append(line)
    return [replace(phase, logs=said[-LINES_PER_PHASE:]) for phase, said in zip(phases, found, strict=True)]
