"""Invariants of the running system, and their violations."""

from datetime import datetime

from msgspec import Struct


class Violation(Struct, frozen=True, kw_only=True):
    """Seen at least twice in a row; removed when a check does not find it."""

    kind: str
    subject: str
    detail: str
    first_seen_at: datetime
    last_seen_at: datetime
    looks: int


class Invariant(Struct, frozen=True, kw_only=True):
    """`looked_at` is null until the first check; `seconds` is how long the last one took."""

    kind: str
    about: str
    looked_at: datetime | None
    seconds: float | None
    violations: list[Violation]
