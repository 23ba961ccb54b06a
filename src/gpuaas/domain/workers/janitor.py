"""Deletes expired rows."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.workers import store

BATCH = 5_000  # rows of history deleted in one transaction
BATCHES = 100  # per kind and pass; the next pass continues
KEEP_ALL: Mapping[str, timedelta] = {}


class Janitor:
    """Deletes expired keys, windows, events, replicas and credentials, old history, and the tasks of ended
    allocations.
    """

    name = "janitor"
    topics = ()
    due = "select 'expired' as id"
    pause = 600.0

    def __init__(
        self, db: Database, clock: Clock, retention: Mapping[str, timedelta] = KEEP_ALL, sweeps: Sequence[str] = ()
    ) -> None:
        """`retention` is how long each kind of history is kept; other kinds are kept forever. `sweeps` are the
        statements that packages registered.
        """
        self._db, self._clock, self._retention, self._sweeps = db, clock, retention, sweeps

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for all that expires
        async with self._db.write() as tx:
            await store.sweep(tx, self._sweeps)
        for kind, kept in self._retention.items():
            await self._expire(kind, kept)

    async def _expire(self, kind: str, kept: timedelta) -> None:
        before = self._clock.now() - kept
        for _ in range(BATCHES):
            async with self._db.write(f"expire {kind}") as tx:
                if await store.expire(tx, kind, before, BATCH) < BATCH:
                    return
