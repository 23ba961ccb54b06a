"""Phases of an operation, read off its entries: one begins when the one before it ends."""

from itertools import zip_longest

from gpuaas.wire.timeline import Entry, Outcome, Phase


def phases(entries: list[Entry]) -> list[Phase]:
    """Entries in order of time. An entry that did not begin anything is a moment: it lasts no time."""
    told = []
    for entry, following in zip_longest(entries, entries[1:]):
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
            )
        )
    return told
