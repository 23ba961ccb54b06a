"""Decides whether a key is accepted while the node has no link to the server.

All keys except those of the current holder expire with the lease, including those of the own key file. The holder's
keys expire with the longer holder lease. No key is valid after its end time. Each lease contains the server's time,
which the monotonic clock extrapolates. A starting engine has no lease, and other keys wait for the first one. The
holder's keys do not wait, but the end of the holder lease is on disk, so that an agent restart does not extend it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from gpuaas.wire.environments import AuthorizedKey
from gpuaas.wire.link import HOLDER_LEASE_SECONDS

WITHDRAWN = "this key is no longer accepted by this allocation"
CUT_OFF = "this node has no link to the platform; shared access waits until the link is back"
CUT_OFF_HOLDER = "this node has had no link to the platform for too long; access waits until the link is back"
OVER = "this access has expired"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The last lease on disk: the server's time, the node's time at that moment, the end for the holder, and the end
    for all other keys, which only the SSH gateway reads, because it outlives the agent."""

    server_time: datetime
    node_time: datetime
    holder_until: datetime
    until: datetime | None = None


class Leases:
    """`file` and `clock` (the node's clock) are for engines whose environments outlive the agent."""

    def __init__(
        self,
        monotonic: Callable[[], float],
        *,
        file: Path | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._monotonic, self._file, self._clock = monotonic, file, clock
        self._told: tuple[datetime, float] | None = None
        self._until: datetime | None = None
        self._holder_until: datetime | None = None

    def restore(self) -> None:
        """Read the lease of the previous agent; an unreadable file counts as no lease."""
        if self._file is None or self._clock is None:
            return
        try:
            kept = msgspec.json.decode(self._file.read_bytes(), type=Kept)
        except (OSError, msgspec.DecodeError):
            return
        passed = max(self._clock() - kept.node_time, timedelta())
        self._told = kept.server_time + passed, self._monotonic()
        self._holder_until = kept.holder_until

    def renew(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        """The newest lease applies, even if it is shorter."""
        self._told = server_time, self._monotonic()
        self._until = server_time + timedelta(seconds=seconds)
        self._holder_until = server_time + timedelta(seconds=holder_seconds)
        if self._file is not None and self._clock is not None:
            kept = Kept(
                server_time=server_time,
                node_time=self._clock(),
                holder_until=self._holder_until,
                until=self._until,
            )
            fresh = self._file.with_suffix(".new")
            fresh.write_bytes(msgspec.json.encode(kept))
            fresh.replace(self._file)

    def objection(self, key: AuthorizedKey, *, is_own_file: bool = False) -> str:
        """Why this key of the current set or of the own key file is refused now; empty if it is accepted."""
        now = self._now()
        if now is not None and key.ends_at is not None and now >= key.ends_at:
            return OVER
        if key.granted or is_own_file:
            return "" if now is not None and self._until is not None and now < self._until else CUT_OFF
        is_over = now is not None and self._holder_until is not None and now >= self._holder_until
        return CUT_OFF_HOLDER if is_over else ""

    def _now(self) -> datetime | None:
        if self._told is None:
            return None
        server_time, at = self._told
        return server_time + timedelta(seconds=self._monotonic() - at)
