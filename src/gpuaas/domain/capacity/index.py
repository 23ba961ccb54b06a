"""The fleet in memory: what this replica proposes from. Read whole at start, node by node when told, and now and then
whole again, so that a lost hint costs a refused proposal at worst."""

import asyncio
from contextlib import suppress

import asyncpg
import structlog

from gpuaas.core.db import Database
from gpuaas.core.hints import Hints
from gpuaas.domain.capacity import store
from gpuaas.domain.capacity.placement import Ask, Fleet, FreeSlots, Proposal

REFRESH_SECONDS = 30.0
log = structlog.get_logger()


class Index:
    def __init__(self, db: Database, hints: Hints) -> None:
        self._db = db
        self._fleet = Fleet()
        self._stale: set[str] = set()
        self._doubtful: set[str] = set()
        self._wake = asyncio.Event()
        hints.on(store.CAPACITY, self._changed)

    def _changed(self, node_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._stale.add(node_id)
        self._wake.set()

    def propose(self, ask: Ask) -> Proposal | None:
        """And take it, in one step: two requests of this replica never get the same slots."""
        proposal = self._fleet.propose(ask)
        if proposal:
            self._fleet.take(proposal)
        return proposal

    def settle(self, proposal: Proposal, *, claimed: bool) -> None:
        """A claim that failed may have failed because another replica was first: the node is read again."""
        self._fleet.settle(proposal, claimed=claimed)
        if not claimed:
            self._doubtful.add(proposal.node_id)

    async def clear_doubts(self) -> None:
        if self._doubtful:
            doubtful, self._doubtful = self._doubtful, set()
            await self.refresh(doubtful)

    def free(self) -> FreeSlots:
        return self._fleet.free_by_pool()

    async def refresh(self, node_ids: set[str] | None = None) -> None:
        async with self._db.read() as tx:
            views = await store.node_views(tx, node_ids)
        known = {view.id for view in views}
        gone = (node_ids or self._fleet.node_ids()) - known
        for node_id in gone:
            self._fleet.drop(node_id)
        for view in views:
            self._fleet.put(view)

    async def run(self) -> None:
        """Follow changes until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(REFRESH_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            stale, self._stale = self._stale, set()
            try:
                await self.refresh(stale or None)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
                log.warning("capacity.refresh_failed", error=repr(error))
                self._stale |= stale
                await asyncio.sleep(1)
