"""The server's end of the node links: who is connected here, what goes down, what comes up.

Beats stay in memory. What comes up is written by one writer, many messages in one transaction, in the order it came;
results are acknowledged after the commit.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

import asyncpg
import msgspec
import structlog
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.errors import NotFound, Raced
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.points import Points
from gpuaas.core.secrets import TaskSigner
from gpuaas.domain.allocations import drift
from gpuaas.domain.allocations.store import ALLOCATIONS
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.links import store as link_rows
from gpuaas.domain.tasks import store as tasks
from gpuaas.wire.capacity import Intent
from gpuaas.wire.link import (
    DEAD_AFTER_SECONDS,
    Ack,
    Beat,
    Challenge,
    Down,
    Hello,
    LogLines,
    Progress,
    Report,
    Result,
    TaskBody,
    Up,
    Welcome,
    link_proof,
)

HELLO_SECONDS = 10.0
SEND_SECONDS = 5.0
SWEEP_SECONDS = 0.5
REPLICA_SECONDS = 2.0
SEEN_SECONDS = 30.0
TASK_LIFE = timedelta(minutes=10)
BATCH = 1_000  # messages written together
TAKEN = 4_000  # tasks claimed together: a claim looks at all that is queued, so few large ones are cheap
SENT = 50  # tasks sent down one link before others get their turn
UNWRITTEN = 20_000  # messages waiting for the writer; beyond it the links are not read, and agents wait
log = structlog.get_logger()
decoder: msgspec.msgpack.Decoder[Up] = msgspec.msgpack.Decoder(Up)
WEIGHTS = (LogLines, Progress, Report, Result)  # a batch is named after the weightiest of its messages
AWAY = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


class Socket(Protocol):
    async def send(self, data: bytes) -> None: ...
    async def receive(self) -> bytes: ...
    async def close(self, code: int, reason: str) -> None: ...


class LinkRefused(Exception):
    """The other end is not the node it says it is."""


class Link:
    """One node's link, here."""

    __slots__ = ("epoch", "heard_at", "node_id", "socket")

    def __init__(self, node_id: str, socket: Socket, epoch: int, heard_at: float) -> None:
        self.node_id, self.socket, self.epoch, self.heard_at = node_id, socket, epoch, heard_at

    async def send(self, message: Down) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self.socket.send(msgspec.msgpack.encode(message))


Written = tuple[Link, Progress | LogLines | Result | Report]


class Links:
    def __init__(
        self,
        *,
        db: Database,
        hints: Hints,
        ids: Ids,
        clock: Clock,
        signer: TaskSigner,
        points: Points,
        replica_id: str,
        origins: frozenset[str],
    ) -> None:
        self._db, self._ids, self._clock, self._signer, self._points = db, ids, clock, signer, points
        self._replica_id, self._origins = replica_id, origins
        self._links: dict[str, Link] = {}
        self._waiting: set[str] = set()
        self._wake = asyncio.Event()
        self._up: asyncio.Queue[Written] = asyncio.Queue(UNWRITTEN)
        hints.on(tasks.TASKS, self._hint)

    def _hint(self, node_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        if node_id in self._links:
            self._waiting.add(node_id)
            self._wake.set()

    @property
    def count(self) -> int:
        return len(self._links)

    async def serve(self, socket: Socket, node_id: str) -> None:
        """One link from its opening to its end."""
        try:
            link = await self._open(socket, node_id)
        except LinkRefused as refused:
            log.warning("link.refused", node=node_id, why=str(refused))
            await socket.close(4401, "refused")
            return
        try:
            await self._read(link)
        finally:
            await self._lose(link)

    async def _open(self, socket: Socket, node_id: str) -> Link:
        nonce = os.urandom(32)
        await socket.send(msgspec.msgpack.encode(Challenge(nonce=nonce, server_time=self._clock.now())))
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                hello = decoder.decode(await socket.receive())
        except (TimeoutError, msgspec.DecodeError) as error:
            raise LinkRefused("no hello") from error
        if not isinstance(hello, Hello) or hello.node_id != node_id:
            raise LinkRefused("the first message is not this node's hello")
        await self._check(hello, nonce)
        now = self._clock.now()
        async with self._db.write() as tx:
            epoch = await link_rows.open_link(tx, node_id, self._replica_id, now)
            await capacity.link_opened(
                tx, node_id, hello.facts, agent_version=hello.agent_version, boot_id=hello.boot_id, now=now
            )
        # Not silent before we listen: until then the time we take to open it is ours, and there may be thousands.
        link = Link(node_id, socket, epoch, self._clock.monotonic() + HELLO_SECONDS)
        await link.send(Welcome(epoch=epoch, server_time=self._clock.now()))
        older = self._links.get(node_id)
        self._links[node_id] = link  # only now may a task be sent: an agent expects the welcome first
        if older:
            with suppress(*AWAY):
                await older.socket.close(4409, "replaced by a newer link")
        await self._send_unfinished(link)
        log.info("link.opened", node=node_id, epoch=epoch)
        return link

    async def _check(self, hello: Hello, nonce: bytes) -> None:
        async with self._db.read() as tx:
            try:
                node = await capacity.node(tx, hello.node_id)
            except (NotFound, asyncpg.DataError) as error:  # an id that no text column could hold
                raise LinkRefused("unknown node") from error
        if node.public_key is None or node.intent is Intent.RETIRED:
            raise LinkRefused("not enrolled, or retired")
        key = Ed25519PublicKey.from_public_bytes(node.public_key)
        for origin in self._origins:
            with suppress(InvalidSignature):
                key.verify(hello.proof, link_proof(nonce, hello.node_id, origin))
                return
        raise LinkRefused("the proof does not hold")

    async def _read(self, link: Link) -> None:
        while True:
            try:
                message = decoder.decode(await link.socket.receive())
            except msgspec.DecodeError as error:
                log.warning("link.message_unreadable", node=link.node_id, error=str(error))
                continue
            link.heard_at = self._clock.monotonic()
            if not isinstance(message, Beat | Hello):
                await self._up.put((link, message))

    async def _lose(self, link: Link) -> None:
        if self._links.get(link.node_id) is not link:
            return
        del self._links[link.node_id]
        silent = max(0.0, self._clock.monotonic() - link.heard_at)
        last_seen = self._clock.now() - timedelta(seconds=silent)
        with suppress(*AWAY):  # the sweep of another replica, or of this one after a restart, will see it too
            async with self._db.write() as tx:
                if await link_rows.close_link(tx, link.node_id, link.epoch):
                    await capacity.link_lost(tx, link.node_id, last_seen)
        log.warning("link.lost", node=link.node_id, epoch=link.epoch, silent_seconds=round(silent, 1))

    # down ---------------------------------------------------------------------------------------------------------

    async def dispatch(self) -> None:
        """Send queued tasks down, as hinted and every so often unasked, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(REPLICA_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            waiting, self._waiting = self._waiting or set(self._links), set()
            try:
                while waiting and await self._dispatch(waiting):
                    pass
            except AWAY as error:
                log.warning("link.dispatch_failed", error=repr(error))
                await asyncio.sleep(1)

    async def _dispatch(self, node_ids: set[str]) -> bool:
        async with self._db.read() as tx:  # one statement, and so a transaction by itself
            rows = await tasks.take_queued(tx, node_ids, TAKEN)
        by_node: dict[str, list[tasks.TaskRow]] = {}
        for row in rows:
            by_node.setdefault(row.node_id, []).append(row)
        await asyncio.gather(*(self._send(node_id, rows) for node_id, rows in by_node.items()))
        return len(rows) == TAKEN

    async def _send_unfinished(self, link: Link) -> None:
        async with self._db.read() as tx:
            rows = await tasks.take_unfinished(tx, link.node_id)
        await self._send(link.node_id, rows)

    async def _send(self, node_id: str, rows: list[tasks.TaskRow]) -> None:
        link = self._links.get(node_id)
        if link is None:
            return
        try:
            for start in range(0, len(rows), SENT):
                async with asyncio.timeout(SEND_SECONDS):
                    for row in rows[start : start + SENT]:
                        self._points.reach(f"link:before {row.kind}")
                        await link.socket.send(msgspec.msgpack.encode(self._signer.sign(self._body(row))))
                        self._points.reach(f"link:after {row.kind}")
                await asyncio.sleep(0)
        except (TimeoutError, OSError, RuntimeError) as error:  # after the next hello they are sent again
            log.warning("link.send_failed", node=node_id, error=repr(error))

    def _body(self, row: tasks.TaskRow) -> bytes:
        now = self._clock.now()
        body = TaskBody(
            id=row.id,
            node_id=row.node_id,
            allocation_id=row.allocation_id,
            seq=row.seq,
            boot=row.boot,
            kind=row.kind,
            wants=msgspec.Raw(msgspec.msgpack.encode(row.wants)),
            issued_at=now,
            expires_at=now + TASK_LIFE,
        )
        return msgspec.msgpack.encode(body)

    # up -----------------------------------------------------------------------------------------------------------

    async def write(self) -> None:
        """Write down what comes up, until cancelled."""
        while True:
            batch = [await self._up.get()]
            while len(batch) < BATCH and not self._up.empty():
                batch.append(self._up.get_nowait())
            await self._write(batch)

    async def _write(self, batch: list[Written]) -> None:
        """All in one transaction; if that fails for what one message holds, each in its own."""
        while True:
            try:
                await self._write_together(batch)
            except (Raced, asyncpg.DataError, asyncpg.IntegrityConstraintViolationError) as error:
                if len(batch) == 1:
                    log.exception("link.message_dropped", node=batch[0][0].node_id, error=repr(error))
                    if not isinstance(error, Raced):
                        return
                for one in batch if len(batch) > 1 else []:
                    await self._write([one])
                if len(batch) > 1:
                    return
            except AWAY as error:
                log.warning("link.write_failed", error=repr(error))
                await asyncio.sleep(0.5)
            else:
                return

    async def _write_together(self, batch: list[Written]) -> None:
        acks: dict[Link, list[str]] = {}
        heaviest = max(WEIGHTS.index(type(message)) for _, message in batch)
        async with self._db.write(f"{WEIGHTS[heaviest].__name__} of the node") as tx:
            for wave in waves(batch):
                await self._write_wave(tx, wave)
            for link, message in batch:
                if isinstance(message, Result):
                    acks.setdefault(link, []).append(message.task_id)
        for link, task_ids in acks.items():
            with suppress(TimeoutError, OSError, RuntimeError):  # not acknowledged, it is told again: no harm
                await link.send(Ack(task_ids=task_ids))
                self._points.reach("link:after acknowledgement")

    async def _write_wave(self, tx: Tx, wave: list[Written]) -> None:
        """One statement for all the progress and one for all the results: trips to the database are what costs."""
        await tasks.tell_all(tx, [(link.node_id, told) for link, told in wave if isinstance(told, Progress)])
        for link, message in wave:
            if isinstance(message, LogLines):
                await tasks.add_logs(tx, link.node_id, message)
        results = [(link.node_id, result) for link, result in wave if isinstance(result, Result)]
        for ended in await tasks.end_all(tx, results):
            if ended.allocation_id:
                tx.hint(ALLOCATIONS, ended.allocation_id)
        for link, message in wave:
            if isinstance(message, Report) and self._links.get(link.node_id) is link:  # an older link's view is over
                findings = await drift.apply(tx, link.node_id, message, ids=self._ids, now=self._clock.now())
                for finding in findings:
                    log.warning("node.drift", node=link.node_id, finding=type(finding).__name__)

    # life ---------------------------------------------------------------------------------------------------------

    async def sweep(self) -> None:
        """Cut links that fell silent, until cancelled."""
        looked = self._clock.monotonic()
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = self._clock.monotonic()
            late = now - looked - SWEEP_SECONDS
            if late > SWEEP_SECONDS:  # it is we who stood still; what came up meanwhile has not been read
                for link in self._links.values():
                    link.heard_at = max(link.heard_at, min(now, link.heard_at + late))
            deadline = now - DEAD_AFTER_SECONDS
            await asyncio.gather(*(self._cut(link) for link in self._links.values() if link.heard_at < deadline))
            looked = self._clock.monotonic()

    async def _cut(self, link: Link) -> None:
        await self._lose(link)
        with suppress(TimeoutError, OSError, RuntimeError):
            async with asyncio.timeout(1):
                await link.socket.close(4408, "silent")

    async def keep_alive(self, url: str) -> None:
        """Say that this replica lives, notice those that do not, and keep nodes' proof of life, until cancelled."""
        seen_at = self._clock.monotonic()
        while True:
            with suppress(*AWAY):
                async with self._db.write() as tx:
                    await link_rows.replica_lives(tx, self._replica_id, url)
                    for lost in await link_rows.take_links_of_dead_replicas(tx):
                        await capacity.link_lost(tx, lost.node_id, lost.last_seen)
                    if self._clock.monotonic() - seen_at > SEEN_SECONDS:
                        seen_at = self._clock.monotonic()
                        await capacity.seen(tx, self._last_seen())
            await asyncio.sleep(REPLICA_SECONDS)

    def _last_seen(self) -> dict[str, datetime]:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        return {id: now - timedelta(seconds=max(0.0, monotonic - link.heard_at)) for id, link in self._links.items()}

    def loops(self, url: str) -> list[Callable[[], Coroutine[None, None, None]]]:
        return [self.dispatch, self.write, self.sweep, lambda: self.keep_alive(url)]


def waves(batch: list[Written]) -> list[list[Written]]:
    """What may be written together: a node's reports keep their place before and after what else it said."""
    found: list[list[Written]] = []
    places: dict[str, tuple[int, bool]] = {}
    for link, message in batch:
        is_report = isinstance(message, Report)
        number, was_report = places.get(link.node_id, (0, is_report))
        number += is_report is not was_report
        places[link.node_id] = number, is_report
        if number == len(found):
            found.append([])
        found[number].append((link, message))
    return found
