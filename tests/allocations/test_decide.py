"""What is decided for an allocation, as a table: same facts, same answer, no database."""

from datetime import timedelta

import pytest

from gpuaas.domain.allocations.reconcile import (
    CLEAN_UP,
    PROVISION_LIMIT,
    RELEASE_LIMIT,
    REMOVE_ATTEMPTS,
    UNTIL_LIMIT,
    Block,
    Decision,
    Move,
    Queue,
    Settle,
    decide,
)
from gpuaas.domain.allocations.states import LIVE, MACHINE
from gpuaas.domain.allocations.store import Seen
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import GPU_RESET, ProofItem
from gpuaas.wire.tasks import Removed, TaskKind
from tests.allocations.rows import CLEAN, DIRTY, NOON, environment, made, removed, seen, task

ENSURE, REMOVE = TaskKind.ENSURE, TaskKind.REMOVE
SOON = NOON + timedelta(seconds=1)
LATE = NOON + max(PROVISION_LIMIT, RELEASE_LIMIT) + timedelta(seconds=1)
PROVEN, UNPROVEN, EMPTY = removed(CLEAN), removed(DIRTY), removed([])
NOT_RESET = removed([*CLEAN, ProofItem(item=GPU_RESET, ok=False, evidence="GPU 0: not reset: it hangs")])

STARTING = {
    "a request is sent to its node": (
        seen(Status.REQUESTED),
        SOON,
        Queue(ENSURE, Status.PROVISIONING),
    ),
    "a machine in the making is waited for": (seen(Status.PROVISIONING, task(ENSURE, "sent")), SOON, None),
    "a lost task is asked for again": (seen(Status.PROVISIONING), SOON, Queue(ENSURE)),
    "an expired task is asked for again": (
        seen(Status.PROVISIONING, task(ENSURE, "expired", ended_at=NOON)),
        SOON + UNTIL_LIMIT.first,
        Queue(ENSURE),
    ),
    "a machine that was made is active": (
        seen(Status.PROVISIONING, task(ENSURE, "done", result=made())),
        SOON,
        Move(Status.ACTIVE, "the allocation is ready", environment=environment()),
    ),
    "a node's refusal is a failure with its reason": (
        seen(Status.PROVISIONING, task(ENSURE, "failed", reason="disk full", detail="ENOSPC")),
        SOON,
        Move(Status.FAILED, "disk full"),
    ),
    "a refusal without words gets ours": (
        seen(Status.PROVISIONING, task(ENSURE, "refused")),
        SOON,
        Move(Status.FAILED, "The node could not create the environment."),
    ),
    "a node that takes too long has failed": (
        seen(Status.PROVISIONING, task(ENSURE, "sent")),
        LATE,
        Move(Status.FAILED, "The node did not finish in time."),
    ),
    "a machine that came at the last moment is active all the same": (
        seen(Status.PROVISIONING, task(ENSURE, "done", result=made())),
        LATE,
        Move(Status.ACTIVE, "the allocation is ready", environment=environment()),
    ),
    "a restart asks for the new boot": (
        seen(Status.RESTARTING, task(ENSURE, "done", result=made()), boot=2),
        SOON,
        Queue(ENSURE),
    ),
    "a restart that came back is active": (
        seen(Status.RESTARTING, task(ENSURE, "done", boot=2, result=made()), boot=2),
        SOON,
        Move(Status.ACTIVE, "the allocation is ready", environment=environment()),
    ),
    "a restart that failed is not the end": (
        seen(Status.RESTARTING, task(ENSURE, "failed", boot=2, reason="no"), boot=2),
        SOON,
        Move(Status.RESTART_FAILED, "no"),
    ),
}
ENDING = {
    "a release removes what was made": (seen(Status.RELEASING, task(ENSURE, "done")), SOON, Queue(REMOVE)),
    "a release before anything was made removes all the same": (seen(Status.RELEASING), SOON, Queue(REMOVE)),
    "a release waits for holds": (seen(Status.RELEASING, holds=["volume v1"]), SOON, None),
    "a release held too long says by what": (
        seen(Status.RELEASING, holds=["volume v1", "volume v2"]),
        LATE,
        Move(Status.RELEASE_FAILED, "Still held by volume v1, volume v2."),
    ),
    "a removal under way is waited for": (seen(Status.RELEASING, task(REMOVE, "sent")), SOON, None),
    "a silent node blocks the slots": (
        seen(Status.RELEASING, task(REMOVE, "sent")),
        LATE,
        Block("The node does not answer.", None),
    ),
    "proof ends a release": (seen(Status.RELEASING, task(REMOVE, "done", result=PROVEN)), SOON, Settle(CLEAN)),
    "residue is removed again": (seen(Status.RELEASING, task(REMOVE, "done", result=UNPROVEN)), SOON, Queue(REMOVE)),
    "no proof is no proof": (seen(Status.RELEASING, task(REMOVE, "done", result=EMPTY)), SOON, Queue(REMOVE)),
    "residue that stays blocks the slots and is named": (
        seen(Status.RELEASING, task(REMOVE, "done", result=UNPROVEN), attempts=REMOVE_ATTEMPTS),
        SOON,
        Block("Still on the node: mounts.", UNPROVEN),
    ),
    "a GPU that was not reset is no residue, and blocks the slots as well": (
        seen(Status.RELEASING, task(REMOVE, "done", result=NOT_RESET), attempts=REMOVE_ATTEMPTS),
        SOON,
        Block("A GPU could not be reset.", NOT_RESET),
    ),
    "a removal that fails for good gives its reason": (
        seen(Status.RELEASING, task(REMOVE, "failed", reason="engine gone"), attempts=REMOVE_ATTEMPTS),
        SOON,
        Block("engine gone", None),
    ),
    "a retried release does not believe the removal of the last one": (
        seen(Status.RELEASING, task(REMOVE, "done", operation_id="op_before", result=PROVEN)),
        SOON,
        Queue(REMOVE),
    ),
}
FAILED = {
    "what failed is removed": (seen(Status.FAILED, task(ENSURE, "failed")), SOON, Queue(REMOVE)),
    "its removal is waited for, however long": (seen(Status.FAILED, task(REMOVE, "sent")), LATE, None),
    "its proof frees the slots": (seen(Status.FAILED, task(REMOVE, "done", result=PROVEN)), SOON, Settle(CLEAN)),
    "its residue blocks the slots": (
        seen(Status.FAILED, task(REMOVE, "done", result=UNPROVEN, ended_at=NOON)),
        SOON,
        Block("Still on the node: mounts.", UNPROVEN),
    ),
    "blocked slots need no blocking": (
        seen(Status.FAILED, task(REMOVE, "done", result=UNPROVEN, ended_at=NOON), blocked=True),
        SOON,
        None,
    ),
    "after a pause it is looked for again": (
        seen(Status.FAILED, task(REMOVE, "done", result=UNPROVEN, ended_at=NOON), blocked=True),
        NOON + CLEAN_UP.first + timedelta(seconds=1),
        Queue(REMOVE),
    ),
    "a failure cleaned up is over": (seen(Status.FAILED, cleanup_proven_at=NOON), LATE, None),
}
QUIET = {
    f"nothing is due while it is {status}": (seen(status, task(ENSURE, "done", result=made())), LATE, None)
    for status in (Status.ACTIVE, Status.RESTART_FAILED, Status.RELEASE_FAILED, Status.RELEASED)
}
CASES = STARTING | ENDING | FAILED | QUIET


@pytest.mark.parametrize("case", CASES)
def test_decide(case: str) -> None:
    facts, now, expected = CASES[case]
    assert decide(facts, now) == expected


@pytest.mark.parametrize("case", CASES)
def test_every_decided_move_is_a_legal_one(case: str) -> None:
    facts, now, _ = CASES[case]
    to = destination(facts, decide(facts, now))
    if to is not None:
        MACHINE.check(facts.row.status, to)


def destination(facts: Seen, decision: Decision) -> Status | None:
    """Where the worker would take the allocation."""
    match decision:
        case Queue(_, to):
            return to
        case Move(to):
            return to
        case Settle():
            return Status.RELEASED if facts.row.status is Status.RELEASING else None
        case Block():
            return Status.RELEASE_FAILED if facts.row.status is Status.RELEASING else None
    return None


def test_every_status_has_its_moves_written_down() -> None:
    assert set(MACHINE.moves) == set(Status)


def test_every_status_can_be_reached() -> None:
    assert set().union(*MACHINE.moves.values()) == set(Status) - {Status.REQUESTED}


def test_release_is_legal_from_every_live_status() -> None:
    assert all(Status.RELEASING in MACHINE.moves[status] for status in LIVE - {Status.RELEASING})


def test_only_released_and_failed_are_final() -> None:
    assert MACHINE.final == {Status.RELEASED, Status.FAILED}


@pytest.mark.parametrize(
    ("proofs", "proven"), [(CLEAN, True), (DIRTY, False), ([], False)], ids=["clean", "dirty", "nothing looked at"]
)
def test_cleanup_is_proven_by_every_item_and_never_by_none(proofs: list[ProofItem], proven: bool) -> None:
    assert Removed(proofs=proofs).is_proven is proven
