"""The fleet in memory, from which this replica proposes placements.

It reads the whole fleet at start, single nodes after hints, and periodically the whole fleet again, so a lost hint
costs at most one refused proposal.
"""

import asyncio
from contextlib import suppress

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.hints import Hints
from gpuaas.domain.capacity import store
from gpuaas.domain.capacity.fleet.store import node_views
from gpuaas.domain.capacity.placement import Ask, Fleet, NodeView, Proposal

REFRESH_SECONDS = 30.0


class Index:
    def __init__(self, db: Database, hints: Hints, clock: Clock) -> None:
        self._db, self._clock = db, clock
        self._fleet = Fleet()
        self._stale: set[str] = set()
        self._doubtful: set[str] = set()
        self._whole_at, self._losses = 0.0, 0
        self._reading = asyncio.Lock()  # of two concurrent reads, the older result might be stored last
        self._wake = asyncio.Event()
        hints.on(store.CAPACITY, self._changed)
        hints.on(store.CLAIMED, self._claimed)

    def _changed(self, node_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._stale.add(node_id)
        self._wake.set()

    def _claimed(self, node_id: str, remote: bool) -> None:  # noqa: FBT001 - as above
        """Claims of this replica are taken here before they are written; only those of other replicas are new."""
        if remote:
            self._changed(node_id, remote)

    def propose(self, ask: Ask) -> Proposal | None:
        """Propose and take in one step, so that two requests of this replica never get the same slots."""
        proposal = self._fleet.propose(ask)
        if proposal:
            self._fleet.take(proposal)
        return proposal

    def settle(self, proposal: Proposal, *, claimed: bool) -> None:
        """A claim may have failed because another replica was first, so the node is read again."""
        self._fleet.settle(proposal, claimed=claimed)
        if not claimed:
            self._doubtful.add(proposal.node_id)

    def lose(self) -> None:
        """Another replica had sold the proposed slots. A second loss in a row makes the whole fleet doubtful."""
        self._losses += 1

    async def clear_doubts(self) -> None:
        if self._doubtful:
            await self.refresh(None if self._losses > 1 else set(self._doubtful))

    @property
    def fleet(self) -> Fleet:
        """Read only: use `propose` to take slots."""
        return self._fleet

    async def read(self) -> list[NodeView]:
        """The whole fleet, read from the database."""
        async with self._db.read() as tx:
            return await node_views(tx)

    async def read_node(self, node_id: str) -> NodeView | None:
        """One node, read from the database, with the claims of all tenants."""
        async with self._db.read() as tx:
            return next(iter(await node_views(tx, [node_id])), None)

    async def refresh(self, node_ids: set[str] | None = None) -> None:
        async with self._reading:
            now = self._clock.monotonic()
            async with self._db.read() as tx:
                views = await node_views(tx, node_ids)
            known = {view.id for view in views}
            for node_id in (self._fleet.node_ids() if node_ids is None else node_ids) - known:
                self._fleet.drop(node_id)
            for view in views:
                self._fleet.put(view)
            self._doubtful -= known if node_ids is None else node_ids
            if node_ids is None:
                self._whole_at, self._losses = now, 0

    async def run(self) -> None:
        """Follow changes until cancelled."""
        await self._db.health.repeat("placement index", self._follow)

    async def _follow(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(REFRESH_SECONDS):
                await self._wake.wait()
        self._wake.clear()
        stale, self._stale = self._stale, set()
        is_old = self._clock.monotonic() - self._whole_at >= REFRESH_SECONDS
        try:
            await self.refresh(None if is_old else stale)
        except BaseException:
            self._stale |= stale
            self._wake.set()
            raise
