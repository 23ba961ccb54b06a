"""Tells each linked node which spares to keep: when its link opens, and when what may be sold there changes."""

from collections.abc import Awaitable, Callable, Mapping

import structlog

from gpuaas.core.batching import Batcher
from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.hints import Hints
from gpuaas.domain.capacity import store
from gpuaas.domain.capacity.spares import store as spares
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.link import BROKEN, Link
from gpuaas.wire.spares import SpareForm, WantedSpares

AT_ONCE = 500  # nodes in one query

log = structlog.get_logger()


class SpareAnnouncer:
    def __init__(
        self,
        links: Mapping[str, Link],
        *,
        db: Database,
        hints: Hints,
        background: BackgroundTasks,
        cut: Callable[[Link], Awaitable[None]],
    ) -> None:
        self._links, self._db, self._background, self._cut = links, db, background, cut
        self._forms = Batcher(self._read, most=AT_ONCE)
        self._sent: dict[Link, list[SpareForm]] = {}
        self._stale: set[str] = set()
        hints.on(store.CAPACITY, self._changed)

    def _changed(self, node_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._stale.add(node_id)

    async def _read(self, node_ids: list[str]) -> list[list[SpareForm]]:
        async with self._db.read() as tx:
            found = await spares.wanted(tx, node_ids)
        return [found.get(node_id, []) for node_id in node_ids]

    async def announce(self, link: Link) -> None:
        forms = await self._forms.ask(link.node_id)
        if self._sent.get(link) == forms:
            return
        try:
            await link.send(WantedSpares(forms=forms))
        except BROKEN as error:
            log.warning("link.send_failed", node=link.node_id, error=repr(error))
            await self._cut(link)
        else:
            self._sent[link] = forms

    def announce_changes(self) -> None:
        """Now and then; a change that is missed is told by the next link."""
        stale, self._stale = self._stale, set()
        self._sent = {link: forms for link, forms in self._sent.items() if self._links.get(link.node_id) is link}
        for node_id in stale:
            if link := self._links.get(node_id):
                self._background.start(self._announce_again(link))

    async def _announce_again(self, link: Link) -> None:
        try:
            await self.announce(link)
        except (*AWAY, *RERUN) as error:
            self._stale.add(link.node_id)
            log.warning("spares.not_read", node=link.node_id, error=repr(error))
