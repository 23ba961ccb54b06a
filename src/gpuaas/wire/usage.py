"""Usage of a resource, and its cost so far."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Money


class Cost(Struct, frozen=True, kw_only=True):
    """The sum of all usage intervals at one time, rounded down to minor units. It rises only while usage runs."""

    amount: Money
    seconds: float  # total duration of the usage
    runs: bool
    at: datetime


class UsageInterval(Struct, frozen=True, kw_only=True):
    """A time with one quantity and one rate. A closed interval never changes, and intervals of a resource never
    overlap.
    """

    id: int
    source: str  # what was used: `allocation`
    unit: str  # what is counted: `gpu`
    quantity: int
    rate_minor: int  # minor units of the currency for one unit and hour
    currency: str
    started: datetime
    ended: datetime | None  # `transition`; for allocations older than intervals: `timeline` or `row`, its source
    amount_minor: int  # rounded down; the cost of the allocation is rounded once, over all intervals
    evidence: (
        str  # `transition`; for allocations older than usage intervals, `timeline` or `row`: the source of the interval
    )


class AllocationUsage(Struct, frozen=True, kw_only=True):
    """The intervals of a resource, newest first, and their total cost."""

    items: list[UsageInterval]
    next_cursor: str | None
    cost: Cost
