"""The end of a wait: reached, failed, or timed out."""

import time
from typing import TypeVar

from gpuaas.sdk.errors import WaitFailed
from gpuaas.sdk.requests import Wait

T = TypeVar("T")


class Deadline:
    """A time limit, checked after every event and whenever a stream is silent."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise WaitFailed(f"It did not settle within {self._seconds:g} seconds; it may yet.")


def end_of(wait: Wait[T], thing: T) -> T:
    failure = wait.failure(thing)
    if failure is not None:
        raise WaitFailed(failure)
    return thing
