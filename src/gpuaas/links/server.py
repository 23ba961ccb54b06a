"""The server's end of the node links on this replica. Heartbeats stay in memory; other messages go to messages.py,
and tasks come from dispatch.py.

The row of a link decides: a node has one across all replicas. Rows and sockets can disagree after the database or a
replica paused; `check_in` corrects both sides.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta

import msgspec
import structlog

from gpuaas.core.batching import Batcher
from gpuaas.core.clock import Clock
from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.points import Points
from gpuaas.core.secrets import TaskKeyring
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.links import store as link_rows
from gpuaas.domain.node_messages.handlers import Announcement, Buffer, Handlers
from gpuaas.domain.task_keys import store as task_keys
from gpuaas.domain.tasks import store as tasks
from gpuaas.links.announcements import Announcer
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.dispatch import Dispatch
from gpuaas.links.handshakes import Handshakes, LinkRefused
from gpuaas.links.link import BROKEN, Link, Socket, UnreadableError, read
from gpuaas.links.messages import MessageWriter
from gpuaas.links.task_keys import LinkTaskKeys
from gpuaas.wire.link import (
    DEAD_AFTER_SECONDS,
    HOLDER_LEASE_SECONDS,
    LEASE_SECONDS,
    Beat,
    Down,
    Hello,
    Lease,
    Welcome,
)
from gpuaas.wire.task_keys import TrustedKeys

SWEEP_SECONDS = 0.5
REPLICA_SECONDS = 2.0
CHECK_IN = "check-in"
SEEN_SECONDS = 30.0
RENEW_SECONDS = 60.0
OPENING_LIMIT = timedelta(seconds=30)  # a row that is older, without a link here, will not get one
RETURNED = 500  # links whose unfinished tasks are sent, or that are closed, in one transaction
BEAT = msgspec.msgpack.encode(Beat())  # most messages are beats: recognised by their bytes
log = structlog.get_logger()


class LinkServer:
    def __init__(
        self,
        *,
        db: Database,
        hints: Hints,
        ids: Ids,
        clock: Clock,
        keyring: TaskKeyring,
        points: Points,
        origins: frozenset[str],
        handlers: Handlers,
        buffers: Sequence[Buffer] = (),
        announcements: Sequence[Announcement] = (),
    ) -> None:
        self.holder_lease_seconds = HOLDER_LEASE_SECONDS  # how long a holder's keys admit on an offline node
        self._db, self._clock, self._replica_id = db, clock, hints.replica_id
        self._links: dict[str, Link] = {}
        self._background = BackgroundTasks()
        self.keys = LinkTaskKeys(self._links, keyring, db=db, hints=hints, background=self._background, cut=self._cut)
        self._announcers = [
            Announcer(each, self._links, db=db, hints=hints, background=self._background, cut=self._cut_broken)
            for each in announcements
        ]
        self.dispatch = Dispatch(
            self._links,
            db=db,
            hints=hints,
            clock=clock,
            signer_of=self.keys.signer,
            points=points,
            background=self._background,
            cut=self._cut_broken,
        )
        self._seen_at = self._renewed_at = self._looked_at = self._checked_in_at = clock.monotonic()
        self._judges_from = self._checked_in_at
        self.messages = MessageWriter(
            handlers,
            db=db,
            ids=ids,
            clock=clock,
            points=points,
            background=self._background,
            is_current=self._is_current,
            cut=self._cut_broken,
        )
        self._buffers = {buffer.type: buffer for buffer in buffers}
        self.beats = 0
        self._handshakes = Handshakes(db=db, clock=clock, replica_id=hints.replica_id, origins=origins, keys=self.keys)
        self._unfinished = Batcher(self._take_unfinished, most=RETURNED)
        self._closings = Batcher(self._close, most=RETURNED)

    @property
    def count(self) -> int:
        return len(self._links)

    async def serve(self, socket: Socket, node_id: str) -> None:
        """Open a link and serve it until it ends."""
        try:
            link = await self._handshakes.open(socket, node_id)
        except LinkRefused as refused:
            log.warning("link.refused", node=node_id, why=str(refused))
            await socket.close(4401, "refused")
            return
        socket.admit()
        try:
            await self._welcome(link)
            await self._read(link)
        finally:
            await self._lose(link)

    async def _welcome(self, link: Link) -> None:
        await link.send(Welcome(epoch=link.epoch, server_time=self._clock.now(), protocol=link.protocol))
        await link.send(self._lease())
        other = self._links.get(link.node_id)
        if other and other.epoch > link.epoch:
            await link.close(4409, "replaced by a newer link")
            raise ConnectionResetError("replaced by a newer link")
        self._links[link.node_id] = link  # tasks may be sent from now on: an agent expects the welcome first
        if other:
            self._background.start(other.close(4409, "replaced by a newer link"))
        await self.keys.announce(link)
        await self.dispatch.send(link, await self._unfinished.submit(link.node_id))
        for announcer in self._announcers:
            await announcer.announce(link)
        log.info("link.opened", node=link.node_id, epoch=link.epoch, protocol=link.protocol)

    async def _read(self, link: Link) -> None:
        while True:
            data = await link.socket.receive()
            if data == BEAT:
                self.beats += 1
            elif not await self._take(link, data):
                continue
            link.heard_at = self._clock.monotonic()

    async def _take(self, link: Link, data: bytes) -> bool:
        """Returns whether the message could be read."""
        try:
            message = read(data)
        except UnreadableError as error:
            log.warning("link.message_unreadable", node=link.node_id, error=str(error))
            return False
        if buffer := self._buffers.get(type(message)):
            buffer.put(link.node_id, message)
        elif not isinstance(message, Beat | Hello):
            if isinstance(message, TrustedKeys):
                self.keys.heard(link, message)
            await self.messages.put(link, message)
        return True

    async def _lose(self, link: Link) -> None:
        """Close the row of the link, once; a newer link of the same node has already closed it."""
        current = self._links.get(link.node_id)
        if link.is_over or (current and current.epoch > link.epoch):
            return
        link.is_over = True
        if current is link:
            del self._links[link.node_id]
        silent = max(0.0, self._clock.monotonic() - link.heard_at)
        last_seen = self._clock.now() - timedelta(seconds=silent)
        try:
            await self._closings.submit((link, last_seen))
        except (*AWAY, *RERUN) as error:  # the next check-in finds the row without its link
            log.warning("link.close_failed", node=link.node_id, error=repr(error))
        log.warning("link.lost", node=link.node_id, epoch=link.epoch, silent_seconds=round(silent, 1))

    async def _close(self, lost: list[tuple[Link, datetime]]) -> list[None]:
        last_seen = {link.node_id: at for link, at in lost}
        async with self._db.write() as tx:
            closed = await link_rows.close_links(tx, [(link.node_id, link.epoch) for link, _ in lost])
            await capacity.links_lost(tx, {node_id: last_seen[node_id] for node_id in closed})
        return [None] * len(lost)

    def _is_current(self, link: Link) -> bool:
        return self._links.get(link.node_id) is link

    async def _cut(self, link: Link, code: int, reason: str) -> None:
        await self._lose(link)
        self._background.start(link.close(code, reason))

    async def cut(self, node_id: str, reason: str) -> None:
        """End the link: the node must connect and prove its identity again."""
        if link := self._links.get(node_id):
            await self._cut(link, 4410, reason)

    async def _cut_broken(self, link: Link) -> None:
        """Unsent tasks are sent again after the next hello, so the link must end."""
        await self._cut(link, 4408, "does not accept messages")

    def node_ids(self) -> list[str]:
        """The nodes whose links are on this replica."""
        return list(self._links)

    def send(self, node_id: str, message: Down) -> None:
        """Best effort, if the node's link is here: the caller repeats what is lost with a link."""
        link = self._links.get(node_id)
        if link is not None:
            self._background.start(self._send(link, message))

    def request_stream(self, node_id: str, body: bytes) -> None:
        """Best effort, like `send`, and signed like a task."""
        link = self._links.get(node_id)
        if link is not None:
            self._background.start(self._send(link, self.keys.signer(link).sign_stream(body)))

    async def _send(self, link: Link, message: Down) -> None:
        try:
            await link.send(message)
        except BROKEN as error:
            log.warning("link.send_failed", node=link.node_id, error=repr(error))
            await self._cut_broken(link)

    async def _take_unfinished(self, node_ids: list[str]) -> list[list[tasks.SentTask]]:
        async with self._db.read() as tx:
            rows = await tasks.take_unfinished(tx, node_ids)
        by_node: dict[str, list[tasks.SentTask]] = {node_id: [] for node_id in node_ids}
        for row in rows:
            by_node[row.node_id].append(row)
        return [by_node[node_id] for node_id in node_ids]

    # Liveness of links and replicas

    async def sweep(self) -> None:
        """Close silent links, until cancelled."""
        self._looked_at = self._clock.monotonic()
        await self._db.health.repeat("silent links", self._sweep)

    async def _sweep(self) -> None:
        await asyncio.sleep(SWEEP_SECONDS)
        now = self._clock.monotonic()
        late = now - self._looked_at - SWEEP_SECONDS
        if late > SWEEP_SECONDS:  # this process was paused: what arrived in the meantime has not been read
            for link in self._links.values():
                link.heard_at = max(link.heard_at, min(now, link.heard_at + late))
        deadline = now - DEAD_AFTER_SECONDS
        silent = [link for link in self._links.values() if link.heard_at < deadline and not link.is_waiting]
        await asyncio.gather(*(self._cut(link, 4408, "silent") for link in silent))
        self._looked_at = self._clock.monotonic()

    async def keep_alive(self, url: str) -> None:
        """Check in periodically, until cancelled."""

        async def step() -> None:
            await self.check_in(url)
            self.renew_leases()
            self.announce_changes()
            self._db.health.worked(CHECK_IN)
            await asyncio.sleep(REPLICA_SECONDS)

        await self._db.health.repeat(CHECK_IN, step)

    def announce_changes(self) -> None:
        for announcer in self._announcers:
            announcer.announce_changes()

    async def check_in(self, url: str) -> None:
        """Record that this replica and its nodes are alive, close links of dead replicas, and match rows with links."""
        may_judge = self._may_judge_others()
        here = dict(self._links)  # a link gets its row before it is listed here, so a link without a row has ended
        epochs = {id: link.epoch for id, link in here.items()}
        async with self._db.write() as tx:
            await link_rows.replica_lives(tx, self._replica_id, url)
            lost = await link_rows.take_links_of_dead_replicas(tx) if may_judge else []
            lost += await link_rows.take_forgotten_links(
                tx, self._replica_id, epochs, self._clock.now() - OPENING_LIMIT
            )
            await capacity.links_lost(tx, {each.node_id: each.last_seen for each in lost})
            strays = await link_rows.strays(tx, self._replica_id, epochs)
            generations = await task_keys.generations(tx)
            if is_time := self._clock.monotonic() - self._seen_at > SEEN_SECONDS:
                await capacity.seen(tx, self._last_seen())
        self._checked_in_at = self._clock.monotonic()
        self.keys.apply(generations)
        if is_time:
            self._seen_at = self._clock.monotonic()
        for each in lost:
            log.warning("link.row_closed", node=each.node_id, last_seen=each.last_seen.isoformat())
        await asyncio.gather(*(self._cut(here[id], 4410, "replaced by another link") for id in strays))

    def _may_judge_others(self) -> bool:
        """Not after a pause of this replica's own check-ins: after an outage of the database all replicas look dead,
        so wait until each had time to check in again.
        """
        now = self._clock.monotonic()
        if now - self._checked_in_at > link_rows.DEAD_REPLICA_SECONDS / 2:
            self._judges_from = now + link_rows.DEAD_REPLICA_SECONDS
        return now >= self._judges_from

    async def reopen_all(self) -> None:
        """The database has another history, so epochs and reports may be lost, and every node must open a new link."""
        for buffer in self._buffers.values():
            buffer.forget()
        await asyncio.gather(*(self._cut(link, 4410, "the database changed") for link in list(self._links.values())))

    def renew_leases(self) -> None:
        """Called after a check-in, because only a replica that can read the database would notice a revoke."""
        if self._clock.monotonic() - self._renewed_at < RENEW_SECONDS:
            return
        self._renewed_at = self._clock.monotonic()
        for link in list(self._links.values()):
            self._background.start(self._send(link, self._lease()))

    def _lease(self) -> Lease:
        return Lease(server_time=self._clock.now(), seconds=LEASE_SECONDS, holder_seconds=self.holder_lease_seconds)

    def _last_seen(self) -> dict[str, datetime]:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        return {id: now - timedelta(seconds=max(0.0, monotonic - link.heard_at)) for id, link in self._links.items()}

    def loops(self, url: str) -> list[Callable[[], Coroutine[None, None, None]]]:
        buffers = [buffer.write for buffer in self._buffers.values()]
        return [self.dispatch.run, self.messages.write, *buffers, self.sweep, lambda: self.keep_alive(url)]
