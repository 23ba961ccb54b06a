"""The end of a wait: reached, missed, or not in time."""

import time
from typing import TypeVar

from gpuaas.sdk.errors import WaitFailed
from gpuaas.sdk.requests import Wait

T = TypeVar("T")


class Patience:
    """A time limit, looked at whenever there is news or a stream falls silent."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def check(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise WaitFailed(f"It did not settle within {self._seconds:g} seconds; it may yet.")


def end_of(wait: Wait[T], thing: T) -> T:
    disappointment = wait.disappointment(thing)
    if disappointment is not None:
        raise WaitFailed(disappointment)
    return thing
