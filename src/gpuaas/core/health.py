"""Health of this process: background loops, database errors and notices for operators.

Every background loop runs as a step that `repeat` calls again and again. An error of a step does not end the process:
it is counted, shown by /readyz and /metrics, and the step is retried with back-off.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from gpuaas.core.trouble import HARD, Reason, reason_of

BACKOFF_SECONDS = (0.25, 5.0)  # first and longest pause after a failed step
log = structlog.get_logger()


@dataclass(frozen=True)
class Failure:
    """A loop whose last step failed."""

    loop: str
    reason: Reason | None  # None: a defect of this program
    error: str
    failures: int

    @property
    def is_unready(self) -> bool:
        """Whether requests should go to another replica in the meantime."""
        return self.reason in HARD


class Health:
    """The health of one process, shared by its connection pools and loops."""

    def __init__(self) -> None:
        self.errors: Counter[Reason] = Counter()  # in requests and loops
        self.failed_steps: Counter[tuple[str, str]] = Counter()  # by loop and reason
        self.failing: dict[str, Failure] = {}
        self.notices: dict[str, str] = {}  # by code: information for operators that does not affect readiness

    def met(self, error: BaseException | None) -> Reason | None:
        """Count a database error and return its reason."""
        reason = reason_of(error)
        if reason is not None:
            self.errors[reason] += 1
        return reason

    def failed(self, loop: str, error: Exception) -> float:
        """Record a failed step and return the seconds to wait before the next."""
        reason, before = reason_of(error), self.failing.get(loop)
        failures = before.failures + 1 if before else 1
        self.failing[loop] = Failure(loop, reason, repr(error), failures)
        self.failed_steps[loop, str(reason or "bug")] += 1
        if reason is None:
            log.error("loop.failed", loop=loop, exc_info=error)
        elif failures & (failures - 1) == 0:  # the first failure, then with decreasing frequency
            log.warning("loop.database_trouble", loop=loop, reason=reason, error=repr(error), failures=failures)
        first, longest = BACKOFF_SECONDS
        return min(longest, first * 2.0 ** min(failures - 1, 10)) * (0.75 + random.random() / 2)  # noqa: S311 - no secret

    def worked(self, loop: str) -> None:
        if (failure := self.failing.pop(loop, None)) is not None:
            log.info("loop.recovered", loop=loop, failures=failure.failures)

    async def repeat(self, loop: str, step: Callable[[], Awaitable[object]]) -> None:
        """Repeat the step until cancelled. The step waits until there is work."""
        while True:
            try:
                await step()
            except Exception as error:  # noqa: BLE001 # house: broad-except because no error of a loop may end a replica
                await asyncio.sleep(self.failed(loop, error))
            else:
                self.worked(loop)
