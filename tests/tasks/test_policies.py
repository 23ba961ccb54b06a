"""What each worker makes of an answer: one row of the table in docs/design/structure.md each."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from gpuaas.domain.access import reconcile as access
from gpuaas.domain.access.store import Seen as SeenKeys
from gpuaas.domain.allocations import reconcile as allocations
from gpuaas.domain.allocations.unknown import reconcile as unknown_environments
from gpuaas.domain.runtimes import reconcile as runtimes
from gpuaas.domain.runtimes.stagings import reconcile as stagings
from gpuaas.domain.sessions import reconcile as sessions
from gpuaas.domain.sessions.store import WantedEnd
from gpuaas.domain.storage.attachments import reconcile as attachments
from gpuaas.domain.storage.backends import reconcile as conformance
from gpuaas.domain.storage.unknown import reconcile as unknown_volumes
from gpuaas.domain.storage.volumes import reconcile as volumes
from gpuaas.domain.tasks.outcomes import STALE_BOOT, Failed, Found, Missing, Open, Retry, Target, Waiting, evaluate
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import KeySet
from gpuaas.wire.link import ENVIRONMENT_REMOVED
from gpuaas.wire.runtimes import RuntimeState
from gpuaas.wire.storage import AttachmentStatus
from gpuaas.wire.tasks import VOLUME_ENSURE, VOLUME_SNAPSHOT, TaskKind
from gpuaas.wire.timeline import OperationStatus
from tests.allocations.rows import NOON, made, row, seen, task
from tests.runtimes.test_decide import row as runtime_row
from tests.runtimes.test_decide import seen as seen_runtime
from tests.runtimes.test_unstage import removing
from tests.storage.test_decide import NOON as LOOKED_AT
from tests.storage.test_decide import decided

AGAIN, WAITS, FAILS, SUCCEEDS = "again", "waits", "fails", "succeeds"
ANSWERS = {
    "expired": ("expired", "the task came after its expiry"),
    "superseded": ("superseded", "a newer task took its place"),
    "stale boot": ("refused", STALE_BOOT),
    "failed": ("failed", "no disk"),
}
Judge = Callable[[str, str, timedelta], str]
"""Status and reason of the answer, and how long ago it came: what the worker does."""


def word(decision: object, *, again: type, fails: Callable[[object], bool]) -> str:
    if decision is None:
        return WAITS
    if isinstance(decision, again):
        return AGAIN
    return FAILS if fails(decision) else SUCCEEDS


def create(status: str, reason: str, ago: timedelta) -> str:
    answered = task(TaskKind.ENSURE, status, reason=reason, ended_at=NOON, result=made())
    decision = allocations.decide(seen(Status.PROVISIONING, answered), NOON + ago)
    return word(decision, again=allocations.Queue, fails=lambda to: to.to is Status.FAILED)  # type: ignore[attr-defined]


def removal(of: Status, attempts: int) -> Judge:
    def judge(status: str, reason: str, ago: timedelta) -> str:
        answered = task(TaskKind.REMOVE, status, reason=reason, ended_at=NOON)
        decision = allocations.decide(seen(of, answered, attempts=attempts, blocked=of is Status.FAILED), NOON + ago)
        return word(decision, again=allocations.Queue, fails=lambda to: isinstance(to, allocations.Block))

    return judge


def keys(status: str, reason: str, ago: timedelta) -> str:
    answered = task(TaskKind.INSTALL_KEYS, status, reason=reason, ended_at=NOON, wants={"keys": {"generation": 2}})
    facts = SeenKeys(
        row=row(Status.ACTIVE), keys=KeySet(generation=2), observed_generation=1, reported=1, task=answered
    )
    return word(access.decide(facts, NOON + ago), again=access.Install, fails=lambda _: False)


def end_of_a_connection(status: str, reason: str, ago: timedelta) -> str:
    answered = task(TaskKind.END_SESSION, status, reason=reason, ended_at=NOON)
    wanted = WantedEnd(session_id="s", operation_id="op_now", reason="", task=answered)
    decision = sessions.decide(Status.ACTIVE, wanted, NOON + ago)
    return word(decision, again=sessions.Queue, fails=lambda to: to.status is OperationStatus.FAILED)  # type: ignore[attr-defined]


def mount(
    kind: TaskKind,
    here: AttachmentStatus,
    *,
    allocation: Status = Status.ACTIVE,
    force: bool = False,
    observed: int = 0,
) -> Judge:
    def judge(status: str, reason: str, ago: timedelta) -> str:
        answered = task(kind, status, reason=reason, ended_at=LOOKED_AT - ago, wants={"force": force})
        decision = decided(allocation, here, answered, observed=observed)
        failed = (AttachmentStatus.FAILED, AttachmentStatus.DETACH_FAILED)
        return word(decision, again=attachments.Queue, fails=lambda to: to.to in failed)  # type: ignore[attr-defined]

    return judge


def runtime(status: str, reason: str, ago: timedelta) -> str:
    answered = task(TaskKind.WRITE_RUNTIME, status, reason=reason, ended_at=NOON, operation_id="op")
    decision = runtimes.decide(seen_runtime(runtime_row(), task=answered), NOON + ago)
    return word(decision, again=runtimes.Write, fails=lambda to: to.to is RuntimeState.FAILED)  # type: ignore[attr-defined]


def staging(status: str, reason: str, ago: timedelta) -> str:
    facts = removing(status, reason=reason, ended_at=NOON)
    return word(
        stagings.decide_staging(facts, NOON + ago),
        again=stagings.Queue,
        fails=lambda to: isinstance(to, stagings.Keep | stagings.Fail),
    )


def volume(kind: volumes.AboutVolume) -> Judge:
    def judge(status: str, reason: str, ago: timedelta) -> str:
        decision = volumes.decide(kind, "op_now", task(kind.kind, status, reason=reason, ended_at=NOON), NOON + ago)
        return word(decision, again=volumes.Ask, fails=lambda to: not to.succeeded)  # type: ignore[attr-defined]

    return judge


def policy(target: Target[Found], retry: Retry) -> Judge:
    """Of a worker that acts on the outcome without a decision of its own."""

    def judge(status: str, reason: str, ago: timedelta) -> str:
        answered = task(target.task.kind, status, reason=reason, ended_at=NOON)
        outcome = evaluate(answered, target, retry, NOON + ago, since=NOON)
        is_none = isinstance(outcome, Open | Waiting)
        return word(None if is_none else outcome, again=Missing, fails=lambda it: isinstance(it, Failed))

    return judge


ATTACH, DETACH = TaskKind.VOLUME_ATTACH, TaskKind.VOLUME_DETACH
NONE, SECOND = timedelta(0), timedelta(seconds=1)
NEVER: dict[str, str] = dict.fromkeys(ANSWERS, AGAIN)
IDLE = NEVER | {"failed": FAILS}
ROWS: dict[str, tuple[Judge, dict[str, str], timedelta]] = {
    "create, restart": (create, IDLE, 2 * SECOND),
    "release": (removal(Status.RELEASING, 1), NEVER, NONE),
    "release, the third time": (removal(Status.RELEASING, 3), dict.fromkeys(ANSWERS, FAILS), NONE),
    "cleanup of a failed allocation": (removal(Status.FAILED, 1), NEVER, 30 * SECOND),
    "cleanup, the eighth time and later": (removal(Status.FAILED, 99), NEVER, 30 * SECOND * 2**7),
    "keys": (keys, NEVER, 2 * SECOND),
    "end of a connection": (end_of_a_connection, IDLE, 2 * SECOND),
    "attach": (mount(ATTACH, AttachmentStatus.ATTACHING), IDLE, 5 * SECOND),
    "attach of what was mounted": (mount(ATTACH, AttachmentStatus.ATTACHING, observed=1), NEVER, 5 * SECOND),
    "detach": (mount(DETACH, AttachmentStatus.DETACHING), IDLE, 5 * SECOND),
    "detach by force": (
        mount(DETACH, AttachmentStatus.DETACHING, allocation=Status.RELEASING, force=True),
        NEVER,
        5 * SECOND,
    ),
    "runtime": (runtime, IDLE, NONE),
    "staging": (staging, IDLE, NONE),
    "volume": (volume(VOLUME_ENSURE), IDLE, NONE),
    "snapshot": (volume(VOLUME_SNAPSHOT), IDLE, NONE),
    "conformance": (policy(conformance.TARGET, conformance.ONCE), IDLE, NONE),
    "unknown environment": (policy(unknown_environments.TARGET, unknown_environments.UNTIL_PROVEN), NEVER, 30 * SECOND),
    "unknown volume": (policy(unknown_volumes.TARGET, unknown_volumes.UNTIL_PROVEN), NEVER, 30 * SECOND),
}
CASES = [(name, answer) for name in ROWS for answer in ANSWERS]


@pytest.mark.parametrize(("name", "answer"), CASES)
def test_each_worker_follows_its_row(name: str, answer: str) -> None:
    judge, expected, pause = ROWS[name]
    status, reason = ANSWERS[answer]
    assert judge(status, reason, pause) == expected[answer]
    if pause and expected[answer] == AGAIN:
        assert judge(status, reason, pause - SECOND) == WAITS, "before its pause is over"


@pytest.mark.parametrize("name", ROWS)
def test_each_worker_accepts_what_was_done_and_waits_for_what_is_open(name: str) -> None:
    judge, _, _ = ROWS[name]
    assert judge("sent", "", NONE) == WAITS
    if name not in NEED_MORE_THAN_DONE:
        assert judge("done", "", NONE) == SUCCEEDS


NEED_MORE_THAN_DONE = {
    "release",  # a proof
    "release, the third time",
    "cleanup of a failed allocation",
    "cleanup, the eighth time and later",
    "keys",  # a report of the key set
    "staging",  # a proof
    "unknown environment",
    "unknown volume",
}


def test_a_node_that_never_makes_it_again_is_not_asked_until_the_limit() -> None:
    assert create("superseded", ENVIRONMENT_REMOVED, NONE) == FAILS
    assert end_of_a_connection("superseded", ENVIRONMENT_REMOVED, NONE) == SUCCEEDS


def test_a_create_that_was_superseded_is_asked_again_within_its_limit() -> None:
    later = allocations.PROVISION_LIMIT + SECOND
    assert (create(*ANSWERS["superseded"], 2 * SECOND), create(*ANSWERS["superseded"], later)) == (AGAIN, FAILS)
