"""Where spans go: nowhere, unless a collector was named. Requests, transactions and worker passes begin and end one."""

from collections.abc import Callable
from typing import Protocol

End = Callable[[], None]


class Traces(Protocol):
    def begin(self, name: str, **facts: str) -> End:
        """A span from now until the answer is called; what begins meanwhile in the same task lies inside it."""


def nothing() -> None:
    """The end of a span that nobody records."""


class NoTraces:
    def begin(self, name: str, **facts: str) -> End:  # noqa: ARG002 - nobody listens
        return nothing


NO_TRACES = NoTraces()
