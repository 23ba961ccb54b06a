"""Who is in a machine, as its node last said."""

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
    is_ending: bool  # somebody asked for its end
    break_glass_reason: str = ""  # why an operator is in, who is no member of the project
    is_unknown_key: bool = False  # one of the machine's own file: the platform does not know whose


class LiveSessions(Struct, frozen=True, kw_only=True):
    """`is_current` while the node answers: it tells every change. Otherwise this is how it was then."""

    allocation_id: str
    items: list[LiveSession]
    observed_at: datetime | None
    age_seconds: float | None
    is_current: bool


class EndedSession(Struct, frozen=True, kw_only=True):
    """Accepted; the operation tells when it is over."""

    id: str
    allocation_id: str
    operation_id: str
