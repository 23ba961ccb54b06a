"""Phases of an operation, read off its entries: one begins when the one before it ends."""

from collections import Counter
from itertools import zip_longest

from msgspec.structs import replace

from gpuaas.wire.timeline import Entry, LogLine, Outcome, Phase

LINES_PER_PHASE = 5


def phases(entries: list[Entry]) -> list[Phase]:
    """Entries in order of time. An entry that did not begin anything is a moment: it lasts no time."""
    told = []
    times: Counter[str] = Counter()
    for entry, following in zip_longest(entries, entries[1:]):
        times[entry.phase] += 1
        next_at = following.at if following else None
        ended_at = next_at if entry.outcome is Outcome.BEGAN else entry.at
        told.append(
            Phase(
                phase=entry.phase,
                outcome=Outcome.DONE if entry.outcome is Outcome.BEGAN and ended_at else entry.outcome,
                started_at=entry.at,
                ended_at=ended_at,
                seconds=max(0.0, (ended_at - entry.at).total_seconds()) if ended_at else None,
                actor=entry.actor,
                actor_name=entry.actor_name,
                note=entry.note,
                evidence=entry.evidence,
                attempt=times[entry.phase],
            )
        )
    return told


def with_logs(phases: list[Phase], lines: list[LogLine]) -> list[Phase]:
    """Each phase with the last lines of its time; what was said before the first belongs to the first."""
    found: list[list[LogLine]] = [[] for _ in phases]
    for line in lines:
        begun = [place for place, phase in enumerate(phases) if phase.started_at <= line.at]
        if phases:
            found[begun[-1] if begun else 0].append(line)
    return [replace(phase, logs=said[-LINES_PER_PHASE:]) for phase, said in zip(phases, found, strict=True)]
