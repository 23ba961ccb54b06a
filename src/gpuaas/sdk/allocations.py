"""Allocations: submitting a prepared request, watching and waiting."""

from collections.abc import Sequence
from dataclasses import replace

from gpuaas.sdk.methods import Call, R_co, Waiting, Watching
from gpuaas.sdk.requests import Request, Wait, Watch, get, path, post
from gpuaas.sdk.routes.allocations import AllocationsRoutes
from gpuaas.wire.allocations import Allocation, CreateAllocation, Status, SubmittedAllocations
from gpuaas.wire.timeline import Entry

STATUSES = frozenset(Status)
AT_REST = frozenset({Status.RELEASED, Status.FAILED, Status.RELEASE_FAILED, Status.RESTART_FAILED})
"""Where an allocation stays until somebody acts; `active` is not among them: a wait ends there only if asked to."""


class Allocations(AllocationsRoutes[R_co]):
    @Call
    def submit(self, request: CreateAllocation, *, idempotency_key: str | None = None) -> Request[SubmittedAllocations]:
        """Submit a prepared request: `allocation.retry` of a failed one repeats all that was asked for."""
        return post(path("allocations"), SubmittedAllocations, request, key=idempotency_key)

    @Watching
    def watch(self, id: str, *, until: Status | Sequence[Status] = ()) -> Watch[Allocation]:
        """The allocation now and after each change, until `until` or a status that only a request changes."""
        return watch_of(id, wanted_of(until))

    @Waiting
    def wait(
        self, id: str, *, until: Status | Sequence[Status] = Status.ACTIVE, timeout: float | None = None
    ) -> Wait[Allocation]:
        """The allocation once it is `until`. Raises `WaitFailed` when it comes to rest elsewhere or time runs out."""
        wanted = wanted_of(until)
        return Wait(
            watch=replace(watch_of(id, wanted), concerns=is_move),
            failure=lambda seen: None if seen.status in wanted else failure_of(seen),
            timeout=timeout,
        )


def wanted_of(until: Status | Sequence[Status]) -> frozenset[Status]:
    return frozenset({until}) if isinstance(until, Status) else frozenset(until)


def watch_of(id: str, wanted: frozenset[Status]) -> Watch[Allocation]:
    return Watch(
        look=get(path("allocations", id), Allocation),
        events=get(path("allocations", id, "events"), Entry),
        is_settled=lambda seen: seen.status in wanted | AT_REST,
    )


def is_move(entry: Entry) -> bool:
    """Whether an entry reports a new status: only then can a wait have ended."""
    return entry.phase in STATUSES


def failure_of(seen: Allocation) -> str:
    reason = f": {seen.status_reason}" if seen.status_reason else "."
    return f"The allocation {seen.name} is {seen.status.replace('_', ' ')}{reason}"
