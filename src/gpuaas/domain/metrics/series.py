"""Builds metric series from the ring buffers: counters as rates, gauges as values, both in steps. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from msgspec import Struct

from gpuaas.core.errors import ValidationError
from gpuaas.domain.metrics.store import MINUTE_SECONDS, RING_SECONDS, RING_SLOTS, Newest, Row, why_stale
from gpuaas.wire.metrics import COUNTERS, UNITS, Metrics, Point, Reading, Series

SPAN = re.compile(r"([1-9][0-9]{0,4})([smhd])")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST = 86400
POINTS_WANTED = 120


class Window(Struct, frozen=True, kw_only=True):
    range: str
    since: datetime
    step_seconds: int
    is_fine: bool  # from ten-second samples, otherwise from minutes


def window(range: str, step: str | None, now: datetime) -> Window:
    length = span(range, "range")
    is_fine = length <= RING_SECONDS * RING_SLOTS
    finest = RING_SECONDS if is_fine else MINUTE_SECONDS
    wished = span(step, "step") if step else length // POINTS_WANTED
    steps = max(1, -(-wished // finest))
    return Window(range=range, since=now - timedelta(seconds=length), step_seconds=steps * finest, is_fine=is_fine)


def span(text: str, field: str) -> int:
    found = SPAN.fullmatch(text)
    seconds = int(found[1]) * SECONDS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST:
        why = "a length such as 15m, 6h or 1d, at most 1d"
        raise ValidationError(f"The {field} is {why}.", errors={field: why})
    return seconds


def metrics(allocation_id: str, newest: Newest | None, rows: list[Row], window: Window) -> Metrics:
    age = newest.age_seconds if newest else None
    return Metrics(
        allocation_id=allocation_id,
        range=window.range,
        step_seconds=window.step_seconds,
        sampled_at=newest.at if newest else None,
        age_seconds=age,
        unavailable=why_stale(age),
        series=[series(one, newest, rows, window.step_seconds) for one in newest.readings] if newest else [],
    )


def series(reading: Reading, newest: Newest, rows: list[Row], step_seconds: int) -> Series:
    """A value that is too old is reported as unavailable; its history stays."""
    stale = why_stale(newest.age_seconds)
    is_counter = reading.metric in COUNTERS
    fine = list(rates(rows, reading.key) if is_counter else gauges(rows, reading.key))
    latest = (fine[-1].value if fine else None) if is_counter else reading.value
    why = stale or reading.unavailable or ("" if latest is not None else "one sample so far: a rate needs two")
    at = reading.at or newest.at
    return Series(
        metric=reading.metric,
        device=reading.device,
        unit=COUNTERS.get(reading.metric) or UNITS[reading.metric],
        source=reading.source,
        latest=None if why else latest,
        latest_at=at,
        age_seconds=newest.age_seconds + (newest.at - at).total_seconds(),
        unavailable=why,
        points=steps(fine, step_seconds),
    )


def gauges(rows: Iterable[Row], key: str) -> Iterator[Point]:
    for row in rows:
        number = row.numbers.get(key)
        if isinstance(number, list):
            _, mean, low, high = number
            yield Point(at=row.at, value=mean, low=low, high=high)
        elif number is not None:
            yield Point(at=row.at, value=number, low=number, high=number)


def rates(rows: Iterable[Row], key: str) -> Iterator[Point]:
    """Rates between two samples of the same boot. A counter that decreased was reset, so that interval has no rate."""
    seen = [(row, total) for row in rows if (total := last_of(row.numbers.get(key))) is not None]
    for (before, low), (after, high) in pairwise(seen):
        seconds = (after.at - before.at).total_seconds()
        if before.boot == after.boot and high >= low and seconds > 0:
            rate = (high - low) / seconds
            yield Point(at=after.at, value=rate, low=rate, high=rate)


def last_of(number: float | list[float] | None) -> float | None:
    return number[0] if isinstance(number, list) else number


def steps(points: Iterable[Point], seconds: int) -> list[Point]:
    """Each step has the time of its beginning, and the mean and the extremes of its points."""
    grouped: dict[int, list[Point]] = {}
    for point in points:
        grouped.setdefault(int(point.at.timestamp()) // seconds * seconds, []).append(point)
    return [
        Point(
            at=datetime.fromtimestamp(start, UTC),
            value=sum(one.value for one in group) / len(group),
            low=min(one.low for one in group),
            high=max(one.high for one in group),
        )
        for start, group in sorted(grouped.items())
    ]
