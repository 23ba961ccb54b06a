"""The outcome of the newest task of a lane: one pure evaluation for all workers.

`expired`, `superseded` and a stale boot mean that the node did nothing. Such an answer alone is never a failure: the
task is queued again, unless the policy has a deadline or counts such answers.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from msgspec import Struct

from gpuaas.domain.tasks.store import TaskRow
from gpuaas.wire.link import Result, TaskStatus
from gpuaas.wire.tasks import Removed, TaskContract

Found = TypeVar("Found", bound=Struct)
STALE_BOOT = "stale_boot"  # the reason of a node whose environment has another boot than the task
NO_PAUSE = timedelta(0)


class Target(Struct, Generic[Found], frozen=True, kw_only=True):
    """The desired end state. Fields without a value are not compared with the task."""

    task: TaskContract[Struct, Found]
    boot: int | None = None
    operation_id: str | None = None
    wants: Mapping[str, object] = {}
    """Parameters that have to be the same, by their path in the task's `wants`: `keys.generation`."""
    shares_lane: bool = False  # wait for an open task for another target instead of superseding it
    is_proof_needed: bool = False  # a result without proof of every removal is a failed attempt

    def is_of(self, task: TaskRow) -> bool:
        return (
            task.kind is self.task.kind
            and self.boot in (None, task.boot)
            and self.operation_id in (None, task.operation_id)
            and all(_at(task.wants, path) == value for path, value in self.wants.items())
        )

    def found_by(self, result: Result | None) -> Found | None:
        """The result if it reaches this target."""
        found = self.task.unpack(result)
        return None if self.is_proof_needed and not (isinstance(found, Removed) and found.is_proven) else found


class Retry(Struct, frozen=True, kw_only=True):
    """When a task that did not reach its target is queued again, and when no longer."""

    first: timedelta = NO_PAUSE  # pause after the first attempt
    doublings: int = 0  # how often the pause doubles, from one attempt to the next
    tries: int | None = 1  # how often a node may fail; None means without limit
    counts_idle: bool = False  # a task about which the node did nothing also counts as a try
    deadline: timedelta | None = None  # from when the target was set; a later result still counts
    late: str = "The node did not answer in time."  # the reason after the deadline

    def pause(self, attempts: int) -> timedelta:
        doublings: int = 2 ** max(0, min(attempts - 1, self.doublings))
        return self.first * doublings


class Missing(Struct, frozen=True):
    """No task for this target, or the next attempt is due: queue it."""


class Open(Struct, frozen=True):
    """Queued or sent, and not answered."""


class Waiting(Struct, frozen=True):
    """It did not reach its target; the next attempt is due at `until`."""

    reason: str
    until: datetime


class Done(Struct, Generic[Found], frozen=True):
    result: Found


class Failed(Struct, frozen=True):
    """The policy permits no further attempt. The reason comes from the node, and is empty if it gave none."""

    reason: str
    attempts: int


Outcome = Missing | Open | Waiting | Done[Found] | Failed


def evaluate(
    task: TaskRow | None,
    target: Target[Found],
    retry: Retry,
    now: datetime,
    *,
    attempts: int = 1,
    since: datetime | None = None,
    is_believed: bool = True,
) -> Outcome[Found]:
    """Pure. `task` is the newest of its lane, `attempts` counts the tasks for this target including it, `since` is
    when the target was set. With `is_believed` false, a `done` counts as a failed attempt.
    """
    if task is None or not target.is_of(task):
        return Open() if task and task.is_open and target.shares_lane else Missing()
    if task.status == TaskStatus.DONE and is_believed and (found := target.found_by(task.result)) is not None:
        return Done(found)
    is_late = retry.deadline is not None and since is not None and now - since > retry.deadline
    if is_late and (task.is_open or is_idle(task)):
        return Failed(retry.late, attempts)
    if task.is_open:
        return Open()
    is_counted = retry.counts_idle or not is_idle(task)
    if is_counted and retry.tries is not None and attempts >= retry.tries:
        return Failed(task.reason, attempts)
    pause = retry.pause(attempts)
    until = (task.ended_at or now) + pause  # node's clock; must not add a pause to a policy without one
    return Missing() if pause == NO_PAUSE or now >= until else Waiting(task.reason, until)


def is_idle(task: TaskRow) -> bool:
    """Whether the task ended although the node did nothing about it."""
    return task.status in (TaskStatus.EXPIRED, TaskStatus.SUPERSEDED) or task.reason == STALE_BOOT


def _at(wants: object, path: str) -> object:
    for name in path.split("."):
        wants = wants.get(name) if isinstance(wants, dict) else None
    return wants
