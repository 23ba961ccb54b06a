"""The server's time on the node: the time of a welcome plus what the monotonic clock counted since.

The node's wall clock may be wrong by minutes, so it is used for nothing.
"""

from datetime import datetime, timedelta
from pathlib import Path

from gpuaas.agent.journal import Anchor
from gpuaas.core.clock import Clock

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class ServerTime:
    """Known after the first welcome, or at once if the journal has one from the current boot of the node."""

    def __init__(self, clock: Clock, boot_id: str, remembered: Anchor | None) -> None:
        self._clock, self.boot_id = clock, boot_id
        self._anchor = remembered if remembered is not None and remembered.boot_id == boot_id else None

    @property
    def is_known(self) -> bool:
        return self._anchor is not None

    def learn(self, server_time: datetime) -> Anchor:
        self._anchor = Anchor(server_time, self.boot_id, self._clock.monotonic())
        return self._anchor

    def now(self) -> datetime:
        if self._anchor is None:
            raise RuntimeError("the server's time is unknown before the first welcome")
        return self._anchor.server_time + timedelta(seconds=self._clock.monotonic() - self._anchor.monotonic)


def machine_boot_id() -> str:
    """Changes when the node boots, which invalidates every earlier monotonic reading."""
    return BOOT_ID.read_text().strip()
