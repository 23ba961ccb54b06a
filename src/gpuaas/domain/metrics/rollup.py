"""Rolls samples up into minutes, and deletes the history of ended allocations."""

from datetime import timedelta

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.domain.metrics import store

KEPT_AFTER_CLEANUP = timedelta(days=1)


class RollUp:
    name = "metrics"
    topics = ()
    due = "select 'minutes' as id"
    pause = 20.0

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for every minute that is over
        now = self._clock.now()
        async with self._db.write() as tx:
            await store.roll_up(tx, now)
        async with self._db.write() as tx:
            await store.forget(tx, now - KEPT_AFTER_CLEANUP)
