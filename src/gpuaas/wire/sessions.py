"""Connections to an allocation, as its node last reported them."""

from datetime import datetime

from msgspec import Struct


class LiveSession(Struct, frozen=True, kw_only=True):
    id: str
    kind: str  # ssh or terminal
    user_id: str
    email: str
    key_fingerprint: str
    source: str
    opened_at: datetime
    bytes_in: int
    bytes_out: int
    is_ending: bool  # its end was requested
    break_glass_reason: str = ""  # why an operator, who is not a project member, is connected
    is_unknown_key: bool = False  # a key of the environment's own file, of an unknown person


class LiveSessions(Struct, frozen=True, kw_only=True):
    """`is_current` while the node is online, as it reports every change. Otherwise this is the last known state."""

    allocation_id: str
    items: list[LiveSession]
    observed_at: datetime | None
    age_seconds: float | None
    is_current: bool


class EndedSession(Struct, frozen=True, kw_only=True):
    """Accepted; the operation shows when it has ended."""

    id: str
    allocation_id: str
    operation_id: str
