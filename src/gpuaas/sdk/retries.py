"""When to try again, and after how long."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import httpx

BUSY_STATUSES = frozenset({429, 502, 503, 504})
IN_PROGRESS = b'"request_in_progress"'  # the twin of this request is still being worked on


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Back-off that doubles, with full jitter, so that clients cut off together do not come back together."""

    attempts: int = 5
    first_delay: float = 0.25
    longest_delay: float = 8.0
    longest_retry_after: float = 60.0  # a server that asks for more patience than this gets to speak to the caller
    chance: Callable[[], float] = random.random

    def delay(self, failures: int) -> float:
        ceiling = self.first_delay * 2.0 ** min(failures - 1, 32)
        return min(ceiling, self.longest_delay) * self.chance()

    def after_silence(self, failures: int) -> float | None:
        """Seconds to wait after the `failures`-th lost exchange; None when it was the last."""
        return self.delay(failures) if failures < self.attempts else None

    def after_answer(self, response: httpx.Response, failures: int) -> float | None:
        """Seconds to wait if this answer only means "not now"; None when it is the answer."""
        if not is_busy(response) or failures >= self.attempts:
            return None
        asked = retry_after(response)
        if asked is None:
            return self.delay(failures)
        return asked + self.delay(failures) if asked <= self.longest_retry_after else None


def is_busy(response: httpx.Response) -> bool:
    if response.status_code == httpx.codes.CONFLICT:
        return IN_PROGRESS in response.content
    return response.status_code in BUSY_STATUSES


def retry_after(response: httpx.Response) -> float | None:
    """The seconds form only; a date needs a clock that agrees with the server's."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None
