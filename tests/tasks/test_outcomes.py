"""What the newest task of a lane means, whatever task, target and policy: properties, each "never" with a red twin."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from gpuaas.domain.tasks.outcomes import (
    STALE_BOOT,
    Done,
    Failed,
    Missing,
    Open,
    Outcome,
    Retry,
    Target,
    Waiting,
    evaluate,
)
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.wire.link import Result
from gpuaas.wire.tasks import CONTRACTS, REMOVE, Made, Removed, TaskKind
from tests.allocations.rows import CLEAN, DIRTY, NOON, environment, made, removed, task

IDLE = [("expired", "late"), ("superseded", "newer"), ("refused", STALE_BOOT)]
ANSWERS = [("done", ""), ("failed", "no disk"), ("refused", "unknown kind"), *IDLE]
OPEN = [("queued", ""), ("sent", "")]
KINDS = [TaskKind.ENSURE, TaskKind.REMOVE, TaskKind.VOLUME_ATTACH]
moments = st.integers(0, 7200).map(lambda seconds: NOON + timedelta(seconds=seconds))
retries = st.builds(
    Retry,
    first=st.integers(0, 60).map(lambda seconds: timedelta(seconds=seconds)),
    doublings=st.integers(0, 7),
    tries=st.none() | st.integers(1, 5),
    counts_idle=st.booleans(),
    deadline=st.none() | st.integers(0, 600).map(lambda seconds: timedelta(seconds=seconds)),
)
targets = st.builds(
    Target,
    task=st.sampled_from([CONTRACTS[kind] for kind in KINDS]),
    boot=st.none() | st.integers(1, 3),
    operation_id=st.none() | st.sampled_from(["op_now", "op_before"]),
    wants=st.sampled_from([{}, {"keys.generation": 1}, {"keys.generation": 2}]),
    shares_lane=st.booleans(),
)
attempts = st.integers(1, 20)


def a_task(kind: TaskKind, said: tuple[str, str], boot: int, generation: int, operation: str) -> TaskRow:
    status, reason = said
    ended = None if said in OPEN else NOON
    wants = {"keys": {"generation": generation}}
    return task(kind, status, reason=reason, boot=boot, wants=wants, operation_id=operation, ended_at=ended)


def tasks(said: list[tuple[str, str]]) -> st.SearchStrategy[TaskRow]:
    operations = st.sampled_from(["op_now", "op_before"])
    return st.builds(
        a_task, st.sampled_from(KINDS), st.sampled_from(said), st.integers(1, 3), st.integers(1, 2), operations
    )


def target_of(row: TaskRow) -> Target[Struct]:
    return Target(task=CONTRACTS[row.kind], boot=row.boot, operation_id=row.operation_id)


# Nothing that the node did not do is a failure -------------------------------------------------------------------


def idle_fails(retry: Retry, row: TaskRow, tried: int, now: Any) -> bool:
    return isinstance(evaluate(row, target_of(row), retry, now, attempts=tried, since=NOON), Failed)


@given(retries, tasks(IDLE), attempts, moments)
def test_what_the_node_did_not_do_is_never_a_failure(retry: Retry, row: TaskRow, tried: int, now: Any) -> None:
    assert not idle_fails(replace(retry, counts_idle=False, deadline=None), row, tried, now)


def test_red_twin_a_policy_that_counts_it_or_has_a_deadline_fails() -> None:
    row, later = task(TaskKind.REMOVE, "expired", ended_at=NOON), NOON + timedelta(hours=1)
    assert idle_fails(Retry(tries=3, counts_idle=True), row, 3, NOON)
    assert idle_fails(Retry(deadline=timedelta(minutes=5)), row, 1, later)


# A task for something else says nothing ----------------------------------------------------------------------------

OTHERS: dict[str, Callable[[TaskRow], Target[Struct]]] = {
    "kind": lambda row: replace(target_of(row), task=CONTRACTS[TaskKind.STORAGE_CONFORMANCE]),
    "boot": lambda row: replace(target_of(row), boot=row.boot + 1),
    "operation": lambda row: replace(target_of(row), operation_id="op_later"),
    "parameters": lambda row: replace(target_of(row), wants={"keys.generation": 9}),
}


@pytest.mark.parametrize("what", OTHERS)
@given(retries, tasks(ANSWERS + OPEN), attempts, moments)
def test_a_task_for_something_else_is_never_believed(
    what: str, retry: Retry, row: TaskRow, tried: int, now: Any
) -> None:
    assert evaluate(row, OTHERS[what](row), retry, now, attempts=tried, since=NOON) == Missing()
    sharing = replace(OTHERS[what](row), shares_lane=True)
    assert evaluate(row, sharing, retry, now, attempts=tried, since=NOON) == (Open() if row.is_open else Missing())


def test_red_twin_a_target_that_leaves_it_out_believes_it() -> None:
    row = task(TaskKind.REMOVE, "done", boot=4, operation_id="op_before", wants={"keys": {"generation": 1}})
    assert evaluate(row, Target(task=REMOVE), Retry(), NOON) == Done(Removed())


# Done and open -------------------------------------------------------------------------------------------------------


@given(retries, targets, tasks([("done", "")]), attempts, moments)
def test_what_is_done_is_done_however_late(
    retry: Retry, target: Target[Struct], row: TaskRow, tried: int, now: Any
) -> None:
    row = replace(row, result=made())
    found = evaluate(row, target, retry, now, attempts=tried, since=NOON)
    assert isinstance(found, Done) is target.is_of(row)


@given(retries, tasks(OPEN), attempts, moments)
def test_an_open_task_is_never_queued_again(retry: Retry, row: TaskRow, tried: int, now: Any) -> None:
    found = evaluate(row, target_of(row), retry, now, attempts=tried, since=NOON)
    is_late = retry.deadline is not None and now - NOON > retry.deadline
    assert found == (Failed(retry.late, tried) if is_late else Open())


def test_red_twin_an_answered_task_is_queued_again() -> None:
    row = task(TaskKind.REMOVE, "failed", ended_at=NOON)
    assert evaluate(row, target_of(row), Retry(tries=None), NOON) == Missing()


PROVEN = Target(task=REMOVE, is_proof_needed=True)


@pytest.mark.parametrize(
    ("result", "is_believed", "expected"),
    [
        (removed(CLEAN), True, Done(Removed(proofs=CLEAN))),
        (removed(CLEAN), False, Failed("", 1)),
        (removed(DIRTY), True, Failed("", 1)),
        (removed([]), True, Failed("", 1)),
        (None, True, Failed("", 1)),
    ],
)
def test_what_has_to_be_proven_is_done_by_proof_alone(
    result: Result | None, is_believed: bool, expected: Outcome[Removed]
) -> None:
    row = task(TaskKind.REMOVE, "done", result=result)
    assert evaluate(row, PROVEN, Retry(), NOON, is_believed=is_believed) == expected


def test_no_proof_is_needed_of_what_is_made() -> None:
    row = task(TaskKind.ENSURE, "done", result=made())
    assert evaluate(row, target_of(row), Retry(), NOON) == Done(Made(environment=environment()))
    assert evaluate(replace(row, result=None), target_of(row), Retry(), NOON) == Failed("", 1), "nothing was made"


# Pauses, tries, deadline ----------------------------------------------------------------------------------------------


@given(retries, tasks(ANSWERS), attempts, moments)
def test_who_waits_is_due_when_the_pause_is_over(retry: Retry, row: TaskRow, tried: int, now: Any) -> None:
    retry, target = replace(retry, deadline=None), target_of(row)
    match evaluate(row, target, retry, now, attempts=tried):
        case Waiting(reason, until):
            assert (reason, until) == (row.reason, NOON + retry.pause(tried))
            assert now < until
            assert evaluate(row, target, retry, until, attempts=tried) == Missing()
        case Missing():
            assert now >= NOON + retry.pause(tried)


@given(retries, attempts)
def test_a_pause_grows_to_its_longest_and_never_shrinks(retry: Retry, tried: int) -> None:
    assert retry.first <= retry.pause(tried) <= retry.pause(tried + 1) <= retry.first * 2**retry.doublings


@given(retries, tasks(ANSWERS), attempts, moments)
def test_without_a_limit_and_a_deadline_it_is_tried_for_ever(retry: Retry, row: TaskRow, tried: int, now: Any) -> None:
    endless = replace(retry, tries=None, deadline=None)
    assert not isinstance(evaluate(row, target_of(row), endless, now, attempts=tried, since=NOON), Failed)


@given(st.integers(1, 5), attempts)
def test_a_node_fails_as_often_as_the_policy_says(tries: int, tried: int) -> None:
    row = task(TaskKind.REMOVE, "failed", reason="no disk", ended_at=NOON)
    found = evaluate(row, target_of(row), Retry(tries=tries), NOON, attempts=tried)
    assert found == (Failed("no disk", tried) if tried >= tries else Missing())


@pytest.mark.parametrize(("status", "is_failed"), [("sent", True), ("expired", True), ("superseded", True)])
def test_a_deadline_ends_what_is_open_or_idle(status: str, is_failed: bool) -> None:
    limit, row = timedelta(minutes=5), task(TaskKind.ENSURE, status, ended_at=None if status == "sent" else NOON)
    retry = Retry(deadline=limit, late="too late")
    late = evaluate(row, target_of(row), retry, NOON + limit + timedelta(seconds=1), since=NOON)
    assert (late == Failed("too late", 1)) is is_failed
    assert evaluate(row, target_of(row), retry, NOON + limit, since=NOON) in (Open(), Missing())
    after_a_restore = NOON + timedelta(hours=1)
    assert evaluate(row, target_of(row), retry, after_a_restore, since=after_a_restore) in (Open(), Missing())


def test_a_node_whose_clock_is_ahead_makes_no_pause() -> None:
    row = task(TaskKind.ENSURE, "expired", ended_at=NOON + timedelta(minutes=1))
    assert evaluate(row, target_of(row), Retry(), NOON) == Missing()
