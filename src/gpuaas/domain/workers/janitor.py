"""Sweeps out what has served its time."""

from gpuaas.core.db import Database
from gpuaas.domain.workers import store


class Janitor:
    """Old keys, windows, events, replicas, credentials, and the tasks of machines long gone: nobody asks for them."""

    name = "janitor"
    topics = ()
    due = "select 'expired' as id"
    pause = 600.0

    def __init__(self, db: Database) -> None:
        self._db = db

    async def __call__(self, row_id: str) -> None:  # noqa: ARG002 - the one row stands for all that expires
        async with self._db.write() as tx:
            await store.sweep(tx)
