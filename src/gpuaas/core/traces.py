"""Tracing of requests, transactions, worker passes and node tasks. Without a collector, spans are no-ops."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

End = Callable[[], None]


class Traces(Protocol):
    def begin(self, name: str, **facts: str) -> End:
        """Start a span; call the result to end it. Spans that start meanwhile in the same task are its children."""

    def record(self, name: str, began: datetime, ended: datetime, correlation: str, **facts: str) -> None:
        """Record a span that has already ended."""


def nothing() -> None:
    """The end of a no-op span."""


class NoTraces:
    def begin(self, name: str, **facts: str) -> End:  # noqa: ARG002 - nobody listens
        return nothing

    def record(self, name: str, began: datetime, ended: datetime, correlation: str, **facts: str) -> None:
        """Tracing is off."""


NO_TRACES = NoTraces()
