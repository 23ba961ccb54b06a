"""Announces states to linked nodes: when a link opens, and when the state changes."""

from collections.abc import Awaitable, Callable, Mapping

import structlog

from gpuaas.core.batching import Batcher
from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.hints import Hints
from gpuaas.domain.node_messages.handlers import Announcement
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.link import BROKEN, Link
from gpuaas.wire.link import Down

AT_ONCE = 500  # nodes per query

log = structlog.get_logger()


class Announcer:
    """Announces one state, which a package of the domain reads (domain/node_messages)."""

    def __init__(
        self,
        announcement: Announcement,
        links: Mapping[str, Link],
        *,
        db: Database,
        hints: Hints,
        background: BackgroundTasks,
        cut: Callable[[Link], Awaitable[None]],
    ) -> None:
        self._announcement, self._links, self._db = announcement, links, db
        self._background, self._cut = background, cut
        self._states = Batcher(self._read, most=AT_ONCE)
        self._sent: dict[Link, Down] = {}
        self._stale: set[str] = set()
        hints.on(announcement.topic, self._changed)

    def _changed(self, node_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._stale.add(node_id)

    async def _read(self, node_ids: list[str]) -> list[Down]:
        async with self._db.read() as tx:
            found = await self._announcement.read(tx, node_ids)
        return [found[node_id] for node_id in node_ids]

    async def announce(self, link: Link) -> None:
        state = await self._states.submit(link.node_id)
        if self._sent.get(link) == state:
            return
        try:
            await link.send(state)
        except BROKEN as error:
            log.warning("link.send_failed", node=link.node_id, error=repr(error))
            await self._cut(link)
        else:
            self._sent[link] = state

    def announce_changes(self) -> None:
        """Called periodically; a missed change is announced on the next link."""
        stale, self._stale = self._stale, set()
        self._sent = {link: state for link, state in self._sent.items() if self._links.get(link.node_id) is link}
        for node_id in stale:
            if link := self._links.get(node_id):
                self._background.start(self._announce_again(link))

    async def _announce_again(self, link: Link) -> None:
        try:
            await self.announce(link)
        except (*AWAY, *RERUN) as error:
            self._stale.add(link.node_id)
            log.warning(
                "link.announcement_not_read", node=link.node_id, kind=self._announcement.name, error=repr(error)
            )
