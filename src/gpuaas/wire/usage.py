"""Usage of a resource, and its cost so far."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.common import Money


class Cost(Struct, frozen=True, kw_only=True):
    """The sum of all usage intervals at one moment, rounded down to minor units. It rises only while usage runs."""

    amount: Money
    seconds: float  # for which usage ran
    runs: bool
    at: datetime


class UsageInterval(Struct, frozen=True, kw_only=True):
    """A time with one quantity and one rate. A closed interval never changes, and no two of a resource overlap."""

    id: int
    source: str  # what was used: `allocation`
    unit: str  # what is counted: `gpu`
    quantity: int
    rate_minor: int  # minor units of the currency for one unit and hour
    currency: str
    started: datetime
    ended: datetime | None  # null while it runs
    amount_minor: int  # rounded down; the cost of the allocation is rounded once, over all intervals
    evidence: str  # `transition`; of allocations older than usage intervals, `timeline` or `row`: what proves it


class AllocationUsage(Struct, frozen=True, kw_only=True):
    """The intervals of a resource, newest first, and what all of them cost."""

    items: list[UsageInterval]
    next_cursor: str | None
    cost: Cost
