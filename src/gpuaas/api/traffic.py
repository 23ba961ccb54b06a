"""Counts requests of this replica: one addition and one bisection per request, and nothing about the caller."""

from bisect import bisect_left
from datetime import UTC, datetime

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SERVER_ERROR, REFUSAL = 500, 400


class Histogram:
    __slots__ = ("buckets", "total")

    def __init__(self) -> None:
        self.buckets, self.total = [0] * (len(BUCKETS) + 1), 0.0

    def add(self, seconds: float) -> None:
        self.buckets[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


class Traffic:
    """Keys are names of handlers, so there are only as many as routes."""

    def __init__(self) -> None:
        self.started_at = datetime.now(UTC)  # house: clock because a process began when it began
        self.requests: dict[tuple[str, str, int], int] = {}
        self.latencies: dict[str, Histogram] = {}
        self.raced: dict[str, int] = {}

    def saw(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Without `seconds` the response is a stream, whose duration is not a latency."""
        key = (method, route, status)
        self.requests[key] = self.requests.get(key, 0) + 1
        if seconds is not None:
            histogram = self.latencies.get(route)
            if histogram is None:
                histogram = self.latencies[route] = Histogram()
            histogram.add(seconds)

    def lost_a_race(self, route: str) -> None:
        self.raced[route] = self.raced.get(route, 0) + 1

    def count(self, lowest: int = 0, below: int = 1000) -> int:
        return sum(number for (_, _, status), number in self.requests.items() if lowest <= status < below)

    def quantile(self, share: float) -> float | None:
        """The upper bound of the bucket of this quantile; None without requests, or if it exceeds the highest bound."""
        buckets = [sum(column) for column in zip(*(each.buckets for each in self.latencies.values()), strict=True)]
        wanted, seen = share * sum(buckets), 0
        for bound, number in zip(BUCKETS, buckets, strict=False):
            seen += number
            if number and seen >= wanted:
                return bound
        return None
