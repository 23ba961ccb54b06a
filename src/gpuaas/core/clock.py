"""Clocks are passed in as arguments, so that tests run a whole fleet on one clock."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

DRIFT = 200e-6  # assumed drift of a monotonic clock, in seconds per second
SKEW_SECONDS = 1.0  # a larger difference of the system clock is reported


class ClockUnknown(ConnectionError):
    """The database time was never measured, so no decision that depends on time is possible yet."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, timezone-aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds of a clock that never runs backwards."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class Measurement:
    """The database time at one reading of the monotonic clock, accurate to `uncertainty` seconds."""

    monotonic: float
    at: datetime
    uncertainty: float

    def now(self, monotonic: float) -> datetime:
        return self.at + timedelta(seconds=monotonic - self.monotonic)

    def uncertainty_at(self, monotonic: float) -> float:
        return self.uncertainty + max(0.0, monotonic - self.monotonic) * DRIFT


class DatabaseClock:
    """The database time, which all replicas share; a monotonic clock extrapolates it between two measurements.

    No decision uses the system clock; it is only compared. `now` raises until the first measurement. While the
    database is unavailable, the last measurement stays in use.
    """

    def __init__(self, system: Clock) -> None:
        self._system = system
        self._best: Measurement | None = None

    def now(self) -> datetime:
        if self._best is None:
            raise ClockUnknown("the database time has not been measured yet")
        return self._best.now(self._system.monotonic())

    def monotonic(self) -> float:
        return self._system.monotonic()

    def measured(self, asked: float, at: datetime, answered: float) -> None:
        """Record that the database time was `at` between two readings of the monotonic clock; assume the midpoint.

        A slow response does not replace a more accurate measurement, unless the two contradict each other.
        """
        half = (answered - asked) / 2
        new = Measurement(asked + half, at, half)
        if self._best is not None:
            known = self._best.uncertainty_at(answered)
            difference = abs((new.now(answered) - self._best.now(answered)).total_seconds())
            if new.uncertainty > known and difference <= known + new.uncertainty:
                return
        self._best = new

    @property
    def uncertainty(self) -> float | None:
        """Uncertainty of the database time in seconds; None while unknown."""
        return None if self._best is None else self._best.uncertainty_at(self._system.monotonic())

    @property
    def skew(self) -> float | None:
        """Seconds by which the system clock is ahead of the database; None while unknown."""
        if self._best is None:
            return None
        return (self._system.now() - self._best.now(self._system.monotonic())).total_seconds()

    @property
    def is_skewed(self) -> bool:
        """Whether the system clock certainly differs by more than it may."""
        skew, uncertainty = self.skew, self.uncertainty
        return skew is not None and uncertainty is not None and abs(skew) > SKEW_SECONDS + uncertainty
