"""Phases read off entries: one begins when the one before it ends. No database."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from gpuaas.domain.timeline.phases import phases
from gpuaas.domain.timeline.store import Cursor
from gpuaas.wire.timeline import Entry, Operation, OperationStatus, Outcome

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ENTRY = Entry(
    id=1,
    subject_kind="allocation",
    subject_id="alloc_a",
    project_id="proj_a",
    operation_id="op_a",
    phase="",
    outcome=Outcome.BEGAN,
    at=NOON,
    actor="ada",
    actor_name="ada@example.com",
    note="",
)

OPERATION = Operation(
    id="op_a",
    kind="runtime_stage",
    subject_kind="node",
    subject_id="node_a",
    project_id="",
    status=OperationStatus.RUNNING,
    requested_by="ada",
    started_at=NOON,
    ended_at=None,
    last_progress_at=NOON,
    reason="",
)


def entry(phase: str, seconds: float, outcome: Outcome = Outcome.BEGAN) -> Entry:
    return replace(ENTRY, phase=phase, at=NOON + timedelta(seconds=seconds), outcome=outcome)


def test_a_phase_lasts_until_the_next_entry() -> None:
    told = phases([entry("requested", 0), entry("booting", 0.25), entry("active", 1, Outcome.DONE)])
    assert [(phase.phase, phase.seconds, phase.outcome) for phase in told] == [
        ("requested", 0.25, "done"),
        ("booting", 0.75, "done"),
        ("active", 0.0, "done"),
    ]


def test_the_last_phase_lasts_while_nothing_follows() -> None:
    (phase,) = phases([entry("booting", 0)])
    assert (phase.ended_at, phase.seconds, phase.outcome) == (None, None, "began")


def test_a_failure_is_a_moment() -> None:
    told = phases([entry("booting", 0), entry("failed", 2, Outcome.FAILED)])
    assert [(phase.seconds, phase.outcome) for phase in told] == [(2.0, "done"), (0.0, "failed")]


def test_clocks_that_disagree_make_no_negative_time() -> None:
    told = phases([entry("provisioning", 1), entry("preparing", 0.5)])
    assert told[0].seconds == 0.0


def test_nothing_told_is_nothing() -> None:
    assert phases([]) == []


def test_a_cursor_is_read_back_as_it_was_written_and_nothing_else_is_one() -> None:
    assert Cursor.parse(str(Cursor(3, 17, 4))) == Cursor(3, 17, 4)
    for text in ("", "17", "17-", "-4", "a-b", "1-2-3-4", "9" * 30 + "-1", "9" * 10 + "-1-1", "1--2"):
        assert Cursor.parse(text) is None


def test_a_cursor_from_before_epochs_lies_before_every_epoch() -> None:
    assert Cursor.parse("17-4") == Cursor(0, 17, 4)
    assert Cursor(0, 10**9, 4) < Cursor(1, 2, 3)


@pytest.mark.parametrize(
    ("status", "outcome"), [(OperationStatus.SUCCEEDED, Outcome.DONE), (OperationStatus.FAILED, Outcome.FAILED)]
)
def test_the_last_phase_ends_with_its_operation(status: OperationStatus, outcome: Outcome) -> None:
    over = replace(OPERATION, status=status, ended_at=NOON + timedelta(seconds=3))
    first, last = phases([entry("preparing", 0), entry("unpacking", 1)], over)
    assert (first.outcome, last.outcome, last.seconds) == (Outcome.DONE, outcome, 2.0)
    assert phases([entry("unpacking", 1)], OPERATION)[0].ended_at is None
