"""Sends queued tasks to the nodes that are linked here. Links are independent: one that does not read delays no
other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta

import msgspec
import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database
from gpuaas.core.hints import Hints
from gpuaas.core.points import Points
from gpuaas.core.secrets import TaskSigner
from gpuaas.domain.tasks import store as tasks
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.link import BROKEN, SEND_SECONDS, Link
from gpuaas.wire.link import TaskBody

LOOK_SECONDS = 2.0  # how often without a hint
TASK_LIFE = timedelta(minutes=10)
TAKEN = 4_000  # tasks claimed in one statement, and
TAKEN_OF_EACH = 100  # of one node: the rest follows after the other nodes
SENT = 50  # tasks sent on one link before others get their turn
MOST_UNSENT = 20_000  # claimed tasks that links have not taken; above this, no more are claimed
log = structlog.get_logger()


class Dispatch:
    """`links` are those of this replica; `cut` ends a link that does not accept messages."""

    def __init__(
        self,
        links: Mapping[str, Link],
        *,
        db: Database,
        hints: Hints,
        clock: Clock,
        signer_of: Callable[[Link], TaskSigner],
        points: Points,
        background: BackgroundTasks,
        cut: Callable[[Link], Awaitable[None]],
        send_seconds: float = SEND_SECONDS,
    ) -> None:
        self._links, self._db, self._clock, self._signer_of, self._points = links, db, clock, signer_of, points
        self._replica_id, self._send_seconds = hints.replica_id, send_seconds
        self._background, self._cut = background, cut
        self._waiting: set[str] = set()
        self._wake = asyncio.Event()
        self._unsent = 0
        self._has_room = asyncio.Event()
        self._has_room.set()
        hints.on(tasks.TASKS, self._hint)

    def _hint(self, node_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        link = self._links.get(node_id)
        if link is None:
            return
        if link.is_sending:
            link.has_more = True  # checked again when the current tasks are sent
        else:
            self._look_again(node_id)

    def _look_again(self, node_id: str) -> None:
        self._waiting.add(node_id)
        self._wake.set()

    async def run(self) -> None:
        """Send queued tasks, after hints and periodically, until cancelled."""
        try:
            await self._db.health.repeat("dispatch", self._look)
        finally:
            self._background.cancel()

    async def _look(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._wake.wait()
        self._wake.clear()
        waiting, self._waiting = list(self._waiting or self._links), set()
        while waiting:
            waiting = await self.take(waiting)

    async def take(self, node_ids: list[str]) -> list[str]:
        """Claim queued tasks of these nodes and start sending them. Returns the nodes that had no turn yet.

        A link that is still sending earlier tasks gets no more; it is checked again afterwards.
        """
        await self._has_room.wait()
        linked = [link for id in node_ids if (link := self._links.get(id))]
        for link in linked:
            link.has_more = link.has_more or link.is_sending  # a hint may arrive between claiming and sending
        free = [link.node_id for link in linked if not link.is_sending]
        if not free:
            return []
        async with self._db.read() as tx:  # one statement, so no explicit transaction
            rows = await tasks.take_queued(tx, free, self._replica_id, of_each=TAKEN_OF_EACH, in_all=TAKEN)
        by_node: dict[str, list[tasks.SentTask]] = {}
        for row in rows:
            by_node.setdefault(row.node_id, []).append(row)
        is_cut_short = len(rows) == TAKEN
        for node_id, theirs in by_node.items():
            if link := self._links.get(node_id):  # without a link they are sent after its next hello
                self._start_sending(link, theirs, has_more=is_cut_short or len(theirs) == TAKEN_OF_EACH)
        return [id for id in free if id not in by_node] if is_cut_short else []

    def _start_sending(self, link: Link, rows: list[tasks.SentTask], *, has_more: bool) -> None:
        link.is_sending, link.has_more = True, has_more
        self._unsent += len(rows)
        if self._unsent > MOST_UNSENT:
            self._has_room.clear()
        self._background.start(self._send_in_background(link, rows))

    async def _send_in_background(self, link: Link, rows: list[tasks.SentTask]) -> None:
        try:
            await self.send(link, rows)
        finally:
            link.is_sending = False
            self._unsent -= len(rows)
            if self._unsent <= MOST_UNSENT:
                self._has_room.set()
            if link.has_more and self._links.get(link.node_id) is link:
                self._look_again(link.node_id)

    async def send(self, link: Link, rows: list[tasks.SentTask]) -> None:
        """Send in order; a task that cannot be sent is sent again after the next hello."""
        try:
            for start in range(0, len(rows), SENT):
                async with asyncio.timeout(self._send_seconds):
                    for row in rows[start : start + SENT]:
                        self._points.reach(f"link:before {row.kind}")
                        await link.socket.send(msgspec.msgpack.encode(self._signer_of(link).sign(self._body(row))))
                        self._points.reach(f"link:after {row.kind}")
                await asyncio.sleep(0)
        except BROKEN as error:
            log.warning("link.send_failed", node=link.node_id, error=repr(error))
            await self._cut(link)

    def _body(self, row: tasks.SentTask) -> bytes:
        now = self._clock.now()
        body = TaskBody(
            id=row.id,
            node_id=row.node_id,
            allocation_id=row.allocation_id,
            lane=row.lane,
            seq=row.seq,
            boot=row.boot,
            kind=row.kind,
            wants=msgspec.Raw(msgspec.msgpack.encode(row.wants)),
            issued_at=now,
            expires_at=now + TASK_LIFE,
        )
        return msgspec.msgpack.encode(body)
