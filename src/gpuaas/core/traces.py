"""Where spans go: nowhere, unless a collector was named. Requests, transactions, worker passes, node tasks."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

End = Callable[[], None]


class Traces(Protocol):
    def begin(self, name: str, **facts: str) -> End:
        """A span from now until the answer is called; what begins meanwhile in the same task lies inside it."""

    def record(self, name: str, began: datetime, ended: datetime, correlation: str, **facts: str) -> None:
        """A span of what was over when it was heard of."""


def nothing() -> None:
    """The end of a span that nobody records."""


class NoTraces:
    def begin(self, name: str, **facts: str) -> End:  # noqa: ARG002 - nobody listens
        return nothing

    def record(self, name: str, began: datetime, ended: datetime, correlation: str, **facts: str) -> None:
        """Nobody listens."""


NO_TRACES = NoTraces()
