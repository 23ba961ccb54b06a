"""What waits to go up the link: bounded, because a server that is slow or away must not fill the node's memory."""

import asyncio
from collections import deque

from gpuaas.wire.link import Result, Up
from gpuaas.wire.task_keys import TrustedKeys

LIMIT = 1000


class Outgoing:
    """Closed while there is no link: then and when full, progress and log lines are dropped, for results carry them.

    A result always gets in. There is at most one per task in the journal, where it stays until it is acknowledged.
    So does the list of trusted task keys, which answers a statement of the server.
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
        """Whether it will be sent if the link lives; False is a message dropped."""
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
