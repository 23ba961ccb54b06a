"""Time, passed in: a whole fleet can be run from one clock."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

DRIFT = 200e-6  # seconds that a monotonic clock may drift in a second
SKEW_SECONDS = 1.0  # by how much a system clock may differ before it is reported


class ClockUnknown(ConnectionError):
    """The time of the database was never measured, so nothing may be decided yet."""


class Clock(Protocol):
    def now(self) -> datetime:
        """Wall time, aware, UTC."""

    def monotonic(self) -> float:
        """Seconds that never step back."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class Measurement:
    """The database's time at a moment of the monotonic clock, known to within `uncertainty` seconds."""

    monotonic: float
    at: datetime
    uncertainty: float

    def now(self, monotonic: float) -> datetime:
        return self.at + timedelta(seconds=monotonic - self.monotonic)

    def uncertainty_at(self, monotonic: float) -> float:
        return self.uncertainty + max(0.0, monotonic - self.monotonic) * DRIFT


class DatabaseClock:
    """The database's time, which all replicas share, carried on by a monotonic clock between two measurements.

    The system clock decides nothing; it is only compared. Until the first measurement nothing may be decided, and
    `now` raises. While the database is away the last measurement goes on counting.
    """

    def __init__(self, system: Clock) -> None:
        self._system = system
        self._best: Measurement | None = None

    def now(self) -> datetime:
        if self._best is None:
            raise ClockUnknown("the time of the database was not measured yet")
        return self._best.now(self._system.monotonic())

    def monotonic(self) -> float:
        return self._system.monotonic()

    def measured(self, asked: float, at: datetime, answered: float) -> None:
        """The database said `at` between two moments of the monotonic clock: most likely in the middle of them.

        A slow answer does not replace a better measurement, unless the two contradict each other.
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
        """Seconds; None while unknown."""
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
