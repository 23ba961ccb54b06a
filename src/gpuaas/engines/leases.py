"""Whether a granted key admits: only while the server has lately said so, and never past the end of its grant.

Time is the server's, told with each lease and carried on by the monotonic clock. An engine that starts has no lease:
granted keys wait for the first one, the holder's own do not.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from gpuaas.wire.environments import AuthorizedKey

WITHDRAWN = "this key no longer admits to this machine"
CUT_OFF = "this node is cut off from the platform; shared access waits until it is back"
OVER = "the time of this access is over"


class Leases:
    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._told: tuple[datetime, float] | None = None
        self._until: datetime | None = None

    def renew(self, server_time: datetime, seconds: float) -> None:
        """The newest word counts: a shorter lease shortens."""
        self._told = server_time, self._monotonic()
        self._until = server_time + timedelta(seconds=seconds)

    def objection(self, key: AuthorizedKey) -> str:
        """Why this key of the set in force does not admit now; empty when it does."""
        if not key.granted:
            return ""
        if self._told is None or self._until is None:
            return CUT_OFF
        server_time, at = self._told
        now = server_time + timedelta(seconds=self._monotonic() - at)
        if key.ends_at is not None and now >= key.ends_at:
            return OVER
        return CUT_OFF if now >= self._until else ""
