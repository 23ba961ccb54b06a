"""The queue of messages to the server. It is bounded, because a slow or absent server must not fill the node's
memory.
"""

import asyncio
from collections import deque

from gpuaas.wire.link import Result, Up
from gpuaas.wire.task_keys import TrustedKeys

LIMIT = 1000


class Outgoing:
    """Closed while there is no link. Then, and when full, progress and log lines are dropped, because results repeat
    phases.

    A result is always queued. The journal has at most one per task, and keeps it until it is acknowledged. The list
    of trusted task keys is always queued too, because it answers a statement of the server.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit, self._waiting, self._filled = limit, deque[Up](), asyncio.Event()
        self.is_open = False

    def open(self) -> None:
        self._waiting.clear()
        self.is_open = True

    def close(self) -> None:
        self._waiting.clear()
        self.is_open = False

    def put(self, message: Up) -> bool:
        """Returns whether the message will be sent if the link stays open; False means that it was dropped."""
        if not self.is_open or (len(self._waiting) >= self._limit and not isinstance(message, Result | TrustedKeys)):
            return False
        self._waiting.append(message)
        self._filled.set()
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether anything is still to be sent."""
        return bool(self._waiting)

    async def get(self) -> Up:
        """For one reader at a time."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        return self._waiting.popleft()
