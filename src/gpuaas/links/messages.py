"""Writes messages of all nodes to the database: many in one transaction, in the order of arrival.

Messages are routed by type to the handlers of the packages that own them (domain/node_messages). Results are
acknowledged after the commit. Messages of one node never block those of others.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

import structlog
from msgspec import Struct

from gpuaas.core.clock import Clock
from gpuaas.core.db import RERUN, Database, Tx, is_away
from gpuaas.core.errors import Raced
from gpuaas.core.ids import Ids
from gpuaas.core.points import Points
from gpuaas.core.trouble import Reason, reason_of
from gpuaas.domain.node_messages.handlers import AnyHandler, Context, Delivery, Handlers, Received
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.link import BROKEN, Link
from gpuaas.wire.link import Down

BATCH = 1_000  # messages written together
UNWRITTEN = 20_000  # messages waiting for the writer; above this the links are not read, so agents wait
LOOP = "messages of nodes"
RACE_SECONDS = 0.02  # the pause after a first lost race; it grows with each
MOST_RACES = 10
SLOW_TRIES = 2  # of a batch that the database did not write in time
Written = tuple[Link, Struct, AnyHandler]
log = structlog.get_logger()


class MessageWriter:
    def __init__(
        self,
        handlers: Handlers,
        *,
        db: Database,
        ids: Ids,
        clock: Clock,
        points: Points,
        background: BackgroundTasks,
        is_current: Callable[[Link], bool],
        cut: Callable[[Link], Coroutine[None, None, None]],
    ) -> None:
        self._handlers, self._db, self._ids, self._clock, self._points = handlers, db, ids, clock, points
        self._background, self._is_current, self._cut = background, is_current, cut
        self._unwritten: asyncio.Queue[Written] = asyncio.Queue(UNWRITTEN)

    async def put(self, link: Link, message: Struct) -> None:
        """Wait for room. Meanwhile the link is not read, and does not count as silent."""
        handler = self._handlers.of(message)
        if handler is None:
            log.warning("link.message_unhandled", node=link.node_id, kind=type(message).__name__)
            return
        link.is_waiting = True
        try:
            await self._unwritten.put((link, handler.cleaned(message, self._clock.now()), handler))
        finally:
            link.is_waiting = False

    async def write(self) -> None:
        """Write received messages, until cancelled."""
        await self._db.health.repeat(LOOP, self._write_next)

    async def _write_next(self) -> None:
        batch = [await self._unwritten.get()]
        while len(batch) < BATCH and not self._unwritten.empty():
            batch.append(self._unwritten.get_nowait())
        await self._write(batch)

    async def _write(self, batch: list[Written]) -> None:
        """Write in one transaction. If a message makes it fail, write two halves, recursively down to that message.

        A batch may be slow because of the database, or because of a message in it.
        """
        races = slow = 0
        while True:
            try:
                await self._write_together(batch)
            except Exception as error:  # house: broad-except because a message of one node must not end other links
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
                    link, message, _ = batch[0]
                    log.exception("link.message_dropped", node=link.node_id, kind=type(message).__name__)
                    if slow:  # possibly the database after all: after a new link the agent sends everything again
                        self._background.start(self._cut(link))
                    return
            else:
                self._answer(batch)
                return

    async def _write_together(self, batch: list[Written]) -> None:
        heaviest = max((handler for _, _, handler in batch), key=lambda handler: handler.weight)
        async with self._db.write(f"{heaviest.type.__name__} of the node") as tx:
            for wave in waves(batch):
                await self._write_wave(tx, wave)

    async def _write_wave(self, tx: Tx, wave: list[Written]) -> None:
        """One call per type of message, because round trips to the database dominate the cost."""
        by_type: dict[type[Struct], list[Written]] = {}
        for each in wave:
            by_type.setdefault(each[2].type, []).append(each)
        for handler in self._handlers:
            left = by_type.get(handler.type, [])
            while left:
                left = await self._hand_over(tx, handler, left)

    async def _hand_over(self, tx: Tx, handler: AnyHandler, written: list[Written]) -> list[Written]:
        """Call the handler; returns the messages for its next calls."""
        if handler.current_link_only:
            written = [each for each in written if self._is_current(each[0])]
        taken, left = delivered(handler.delivery, written)
        if taken:
            now = self._clock.now()
            received = [Received(link.node_id, message, link.epoch, link.generations[-1]) for link, message, _ in taken]
            await handler.write_all(tx, received, Context(self._ids, now, self._db.traces))
        return left

    def _answer(self, batch: list[Written]) -> None:
        """In the background, because a link that does not read would delay all others."""
        written: dict[tuple[Link, type[Struct]], tuple[AnyHandler, list[Struct]]] = {}
        for link, message, handler in batch:
            written.setdefault((link, handler.type), (handler, []))[1].append(message)
        for (link, _), (handler, messages) in written.items():
            if answer := handler.answer_to(link.node_id, messages):
                self._background.start(self._send(link, answer))

    async def _send(self, link: Link, answer: Down) -> None:
        try:
            await link.send(answer)
        except BROKEN:  # without an answer, the agent sends the messages again on its next link
            await self._cut(link)
        else:
            self._points.reach("link:after acknowledgement")


def delivered(delivery: Delivery, written: list[Written]) -> tuple[Sequence[Written], list[Written]]:
    """The messages for this call of the handler, and those for its next calls."""
    if delivery is Delivery.ALL:
        return written, []
    if delivery is Delivery.NEWEST:
        return list({link.node_id: (link, message, handler) for link, message, handler in written}.values()), []
    first: dict[str, Written] = {}
    left = [each for each in written if first.setdefault(each[0].node_id, each) is not each]
    return list(first.values()), left


def waves(batch: list[Written]) -> list[list[Written]]:
    """Messages that may be written together. A message that keeps its place stays between the earlier and later
    messages of its node.
    """
    found: list[list[Written]] = []
    places: dict[str, tuple[int, bool]] = {}
    for link, message, handler in batch:
        number, kept_place = places.get(link.node_id, (0, handler.keeps_place))
        number += handler.keeps_place is not kept_place
        places[link.node_id] = number, handler.keeps_place
        if number == len(found):
            found.append([])
        found[number].append((link, message, handler))
    return found
