"""What comes up the node links, written down by one writer: many messages in one transaction, in the order they came.

Results are acknowledged after the commit. What one node says never stops what the others say.
"""

import asyncio
from collections.abc import Callable, Coroutine

import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import RERUN, Database, Tx, is_away
from gpuaas.core.errors import Raced
from gpuaas.core.ids import Ids
from gpuaas.core.points import Points
from gpuaas.core.trouble import Reason, reason_of
from gpuaas.domain import registry
from gpuaas.domain.allocations.observations import drift
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.capacity.images import store as images
from gpuaas.domain.capacity.spares import store as spares
from gpuaas.domain.capacity.store import CAPACITY
from gpuaas.domain.sessions import store as sessions
from gpuaas.domain.storage.unknown import reconcile as volumes
from gpuaas.domain.task_keys import store as task_keys
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.terminals import commands as terminals
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.cleaning import Message, cleaned
from gpuaas.links.link import BROKEN, Link
from gpuaas.wire.environments import DiskReport
from gpuaas.wire.images import ImageReport
from gpuaas.wire.link import (
    Ack,
    Logins,
    LoginsKept,
    LogLines,
    Progress,
    Report,
    Result,
    Sessions,
    TerminalReport,
)
from gpuaas.wire.spares import SpareReport
from gpuaas.wire.storage import VolumeReport
from gpuaas.wire.task_keys import TrustedKeys

BATCH = 1_000  # messages written together
UNWRITTEN = 20_000  # messages waiting for the writer; beyond it the links are not read, and agents wait
LOOP = "messages of nodes"
RACE_SECONDS = 0.02  # the pause after a first lost race; it grows with each
MOST_RACES = 10
SLOW_TRIES = 2  # of a batch that the database did not write in time
# A batch is named after the weightiest of its messages.
WEIGHTS = (
    DiskReport,
    TrustedKeys,
    SpareReport,
    ImageReport,
    LogLines,
    Sessions,
    Logins,
    Progress,
    TerminalReport,
    VolumeReport,
    Report,
    Result,
)
Written = tuple[Link, Message]
log = structlog.get_logger()


class Messages:
    def __init__(
        self,
        *,
        db: Database,
        ids: Ids,
        clock: Clock,
        points: Points,
        background: BackgroundTasks,
        is_current: Callable[[Link], bool],
        cut: Callable[[Link], Coroutine[None, None, None]],
    ) -> None:
        self._db, self._ids, self._clock, self._points = db, ids, clock, points
        self._background, self._is_current, self._cut = background, is_current, cut
        self.logins_dropped: dict[str, int] = {}  # by node, since its agent started
        self._unwritten: asyncio.Queue[Written] = asyncio.Queue(UNWRITTEN)

    async def put(self, link: Link, message: Message) -> None:
        """Wait for room: the link is not read meanwhile, and so not silent."""
        link.is_waiting = True
        try:
            await self._unwritten.put((link, cleaned(message, self._clock.now())))
        finally:
            link.is_waiting = False

    async def write(self) -> None:
        """Write down what comes up, until cancelled."""
        await self._db.health.repeat(LOOP, self._write_next)

    async def _write_next(self) -> None:
        batch = [await self._unwritten.get()]
        while len(batch) < BATCH and not self._unwritten.empty():
            batch.append(self._unwritten.get_nowait())
        await self._write(batch)

    async def _write(self, batch: list[Written]) -> None:
        """In one transaction; if what one message holds forbids that, in two halves, and so on down to that message.

        A batch that is not written in time is slow because the database is, or because of a message in it.
        """
        races = slow = 0
        while True:
            try:
                await self._write_together(batch)
            except Exception as error:  # house: broad-except because one node's words must not end everybody's links
                slow += reason_of(error) is Reason.SLOW
                if is_away(error) and slow < SLOW_TRIES:
                    await asyncio.sleep(self._db.health.failed(LOOP, error))
                elif len(batch) > 1:
                    middle = len(batch) // 2
                    await self._write(batch[:middle])
                    await self._write(batch[middle:])
                    return
                elif isinstance(error, (Raced, *RERUN)) and races < MOST_RACES:
                    races += 1
                    await asyncio.sleep(RACE_SECONDS * races)
                else:
                    link, message = batch[0]
                    log.exception("link.message_dropped", node=link.node_id, kind=type(message).__name__)
                    if slow:  # it may be the database after all: an agent that links again tells everything again
                        self._background.start(self._cut(link))
                    return
            else:
                self._acknowledge(batch)
                return

    async def _write_together(self, batch: list[Written]) -> None:
        heaviest = max(WEIGHTS.index(type(message)) for _, message in batch)
        async with self._db.write(f"{WEIGHTS[heaviest].__name__} of the node") as tx:
            ended = [task for wave in waves(batch) for task in await self._write_wave(tx, wave)]
        for task in ended:
            facts = {"task": task.id, "node": task.node_id, "kind": task.kind, "status": task.status}
            self._db.traces.record("node task", task.sent_at, task.ended_at, task.correlation_id, **facts)

    async def _write_wave(self, tx: Tx, wave: list[Written]) -> list[tasks.EndedTask]:
        """The tasks that ended. One statement a kind of message: trips to the database are what costs."""
        await tasks.tell_all(tx, [(link.node_id, told) for link, told in wave if isinstance(told, Progress)])
        await sessions.observe(tx, [(link.node_id, seen) for link, seen in wave if isinstance(seen, Sessions)])
        await sessions.keep_logins(tx, [(link.node_id, told) for link, told in wave if isinstance(told, Logins)])
        await self._write_trusted_keys(tx, wave)
        await tasks.add_logs(tx, [(link.node_id, lines) for link, lines in wave if isinstance(lines, LogLines)])
        results = [(link, result) for link, result in wave if isinstance(result, Result)]
        by_node = [(link.node_id, result) for link, result in results]
        ended = await tasks.end_all(tx, by_node, [link.epoch for link, _ in results])
        for task in ended:
            if task.row_id and (topic := registry.topic_of(task.lane)):
                tx.hint(topic, task.row_id)
        reports = [(link, told) for link, told in wave if isinstance(told, Report)]
        while reports:
            reports = await self._write_reports(tx, reports)
        told = [
            (link.node_id, report)
            for link, report in wave
            if isinstance(report, TerminalReport) and self._is_current(link)
        ]
        await terminals.observed_all(tx, told, now=self._clock.now())
        await spares.observed(
            tx, {link.node_id: seen for link, seen in wave if isinstance(seen, SpareReport) and self._is_current(link)}
        )
        current = [(link, told.image) for link, told in wave if isinstance(told, ImageReport)]
        await images.observed(tx, {link.node_id: image for link, image in current if self._is_current(link)})
        await self._write_spaces(tx, wave)
        for link, present in wave:
            if isinstance(present, VolumeReport) and self._is_current(link):
                await volumes.observe(tx, link.node_id, present, ids=self._ids, now=self._clock.now())
        return ended

    async def _write_spaces(self, tx: Tx, wave: list[Written]) -> None:
        spaces = {link.node_id: told for link, told in wave if isinstance(told, DiskReport) and self._is_current(link)}
        changed = await disks.reported(tx, {id: told.disk for id, told in spaces.items()})
        changed += await capacity.facts_changed(tx, {id: told.facts for id, told in spaces.items()})
        for node_id in changed:
            tx.hint(CAPACITY, node_id)

    async def _write_trusted_keys(self, tx: Tx, wave: list[Written]) -> None:
        """What the link is signed with now: keys that are not ours were left out when the message came."""
        told = {link for link, message in wave if isinstance(message, TrustedKeys) and self._is_current(link)}
        await task_keys.accepted(tx, {link.node_id: link.generations[-1] for link in told})

    async def _write_reports(self, tx: Tx, reports: list[tuple[Link, Report]]) -> list[tuple[Link, Report]]:
        """Of each node its first, together; those that are left."""
        first: dict[str, Report] = {}
        left: list[tuple[Link, Report]] = []
        for link, report in reports:
            if not self._is_current(link):  # an older link's view is over
                continue
            if link.node_id in first:
                left.append((link, report))
            else:
                first[link.node_id] = report
        if first:
            for node_id, finding in await drift.apply(tx, first, ids=self._ids, now=self._clock.now()):
                log.warning("node.drift", node=node_id, finding=type(finding).__name__)
            await registry.observe(tx, first, ids=self._ids, now=self._clock.now())
        return left

    def _acknowledge(self, batch: list[Written]) -> None:
        """Beside the writer: a link that takes nothing would hold up everybody's."""
        ended: dict[Link, list[str]] = {}
        for link, message in batch:
            if isinstance(message, Result):
                ended.setdefault(link, []).append(message.task_id)
            elif isinstance(message, Logins):
                self.logins_dropped[link.node_id] = message.dropped
                self._background.start(self._send_ack(link, LoginsKept(ids=[event.id for event in message.events])))
        for link, task_ids in ended.items():
            self._background.start(self._send_ack(link, Ack(task_ids=task_ids)))

    async def _send_ack(self, link: Link, ack: Ack | LoginsKept) -> None:
        try:
            await link.send(ack)
        except BROKEN:  # told again by the next link, what was not acknowledged is no harm
            await self._cut(link)
        else:
            self._points.reach("link:after acknowledgement")


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
