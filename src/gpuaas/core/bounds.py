"""Bounds on values from outside, so that columns can hold them."""

from datetime import UTC, datetime

EPOCH = datetime.fromtimestamp(0, UTC)


def text(value: str, longest: int) -> str:
    """Text for a column: without NUL, and without half of a character."""
    return value[:longest].replace("\0", "").encode(errors="replace").decode()


def within(number: int, highest: int) -> int:
    return max(0, min(number, highest))


def clamped_moment(value: datetime, now: datetime) -> datetime:
    """In UTC, between the epoch and now."""
    return min(max(value, EPOCH), now).astimezone(UTC)
