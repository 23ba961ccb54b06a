"""Counts the open streams of each person on this replica: events, logs, terminals, recordings and exports.

Counted in memory only: terminals of the link server and streamed responses of the API share the limit.
"""

from collections import Counter

from gpuaas.core.db import Tx
from gpuaas.domain.quotas.commands import QuotaExceeded, Refusal
from gpuaas.domain.quotas.store import limit_of_person
from gpuaas.wire.quotas import Dimension, QuotaScope


class OpenStream:
    """Counts until it is closed or garbage-collected, because a response may be dropped before it begins."""

    def __init__(self, streams: "OpenStreams", user_id: str) -> None:
        self._streams, self._user_id = streams, user_id
        self._is_open = True

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._streams.closed(self._user_id)

    def __del__(self) -> None:
        self.close()


class OpenStreams:
    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    async def open(self, tx: Tx, user_id: str) -> OpenStream:
        """Count one more stream for this person, or raise `QuotaExceeded`. No await between check and count, so they
        are atomic.
        """
        limit = await limit_of_person(tx, user_id, Dimension.STREAMS)
        used = self._open[user_id]
        if limit is not None and used >= limit:
            raise QuotaExceeded(
                Refusal(
                    scope=QuotaScope.USER,
                    scope_id=user_id,
                    dimension=Dimension.STREAMS,
                    limit=limit,
                    used=used,
                    requested=1,
                )
            )
        self._open[user_id] += 1
        return OpenStream(self, user_id)

    def closed(self, user_id: str) -> None:
        self._open[user_id] -= 1
        if self._open[user_id] <= 0:
            del self._open[user_id]

    def count(self, user_id: str) -> int:
        return self._open.get(user_id, 0)
