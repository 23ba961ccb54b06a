"""Streams of the kind `terminal`: a browser's socket joined to the stream of a terminal on a node."""

import asyncio
import re
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import NamedTuple

import msgspec
import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import AWAY, RERUN, Database, Tx
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import MasterKey, token_hash
from gpuaas.core.websockets import MessageSocket
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.quotas.open_streams import OpenStream, OpenStreams
from gpuaas.domain.terminals import commands, store
from gpuaas.domain.terminals.commands import Policy
from gpuaas.domain.terminals.store import TakenTicket
from gpuaas.links.server import LinkServer
from gpuaas.links.streams.server import STREAM_SECONDS, ExpectedStream, StreamServer
from gpuaas.links.streams.terminal_recorder import Recorder
from gpuaas.links.streams.terminal_relay import Ending, TerminalRelay
from gpuaas.wire.link import EndTerminals
from gpuaas.wire.streams import UNAUTHORIZED
from gpuaas.wire.terminals import ENDED, TERMINAL, UNREACHABLE, Begin, Error, Session, TerminalTarget, from_agent

TICKET = re.compile(rf"{commands.TICKET_PREFIX}[A-Za-z0-9_-]{{40,50}}")
ALLOCATION = re.compile(r"[a-z]+_[a-z0-9]{1,40}")
LOOK_SECONDS = 2.0  # how often without a hint
USE_SECONDS = 20.0  # how often use is stored; every idle limit is much longer
log = structlog.get_logger()


class Refused(Exception):
    """The client does not learn the reason: a ticket that is unknown, used, late, or of another allocation looks the
    same.
    """


class Admitted(NamedTuple):
    ticket: TakenTicket
    terminal_id: str
    expected: ExpectedStream
    counted: OpenStream


class TerminalStreams:
    kind = TERMINAL

    def __init__(
        self,
        streams: StreamServer,
        links: LinkServer,
        master: MasterKey,
        *,
        db: Database,
        hints: Hints,
        ids: Ids,
        clock: Clock,
        policy: Policy,
        open_streams: OpenStreams,
    ) -> None:
        self._streams, self._links, self._master, self.policy = streams, links, master, policy
        self._db, self._ids, self._clock, self._open_streams = db, ids, clock, open_streams
        self._relays: dict[str, set[TerminalRelay]] = {}
        self._used: set[str] = set()  # allocations whose terminals were used since the last write
        self._use_written = float("-inf")
        self._wake = asyncio.Event()
        for topic in (store.TERMINALS, store.ENDS):
            hints.on(topic, self._hint)

    def _hint(self, row_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._wake.set()

    # A browser's socket

    async def serve(self, socket: MessageSocket, allocation_id: str, token: str, source: str) -> None:
        """Serve a terminal from the ticket to the end. The socket is already accepted, so that a browser can read why
        it closes.
        """
        try:
            admitted = await self._admit(allocation_id, token, source)
        except QuotaExceeded as problem:
            await socket.send_json(Error(reason=problem.detail))
            await socket.close(ENDED, "too many open streams")
            return
        except Refused as refused:
            log.info("terminal.refused", why=str(refused))
            await socket.close(UNAUTHORIZED, "refused")
            return
        except (*AWAY, *RERUN) as error:  # the ticket was not used: it can be tried again
            log.warning("terminal.database_away", error=repr(error))
            await socket.send_json(Error(reason="the database does not answer now; try again in a few seconds"))
            await socket.close(UNREACHABLE, "try again")
            return
        socket.admit()
        try:
            await self._join(socket, admitted, source)
        finally:
            admitted.counted.close()
            self._streams.forget(admitted.expected)

    async def _admit(self, allocation_id: str, token: str, source: str) -> Admitted:
        if not (TICKET.fullmatch(token) and ALLOCATION.fullmatch(allocation_id)):
            raise Refused("no ticket at all")
        now = self._clock.now()
        async with self._db.write("open terminal") as tx:
            ticket = await store.take_ticket(tx, token_hash(token), allocation_id, now)
            if ticket is not None and ticket.objection is None:
                counted = await self._open_streams.open(tx, ticket.user_id)
                tx.on_end.append(partial(close_unless, counted))
                id = await commands.open_terminal(tx, ticket, ids=self._ids, source=source, now=now)
                expected = await self._request(tx, id, ticket, now)
        if ticket is None or ticket.objection is not None:
            raise Refused(ticket.objection if ticket and ticket.objection else "no such ticket")
        return Admitted(ticket, id, expected, counted)

    async def _request(self, tx: Tx, terminal_id: str, ticket: TakenTicket, now: datetime) -> ExpectedStream:
        target = TerminalTarget(
            terminal_id=terminal_id,
            boot=ticket.boot,
            is_new=ticket.terminal_id is None,
            seconds_left=(self.policy.ends_at(ticket) - now).total_seconds(),
            detached_seconds=self.policy.detached.total_seconds(),
        )
        return await self._streams.request(
            tx, TERMINAL, target, node_id=ticket.node_id, allocation_id=ticket.allocation_id
        )

    async def _join(self, socket: MessageSocket, admitted: Admitted, source: str) -> None:
        ticket, terminal_id = admitted.ticket, admitted.terminal_id
        try:
            async with asyncio.timeout(STREAM_SECONDS):
                stream = await admitted.expected.arrived
                begin = from_agent.decode((await stream.receive()).get("text") or b"{}")
        except (TimeoutError, OSError, msgspec.DecodeError, RecursionError):
            begin = Error(reason="the node does not answer now", reattach=ticket.terminal_id is not None)
        if not isinstance(begin, Begin):
            await self._fail(socket, terminal_id, begin)
            return
        async with self._db.read("terminal opened") as tx:
            await store.opened(tx, terminal_id, ticket, source=source, now=self._clock.now())
            kept_to = await store.recorded_to(tx, terminal_id) if ticket.recorded else 0
        recorder = self._recorder(terminal_id, kept_to, ticket.created_at) if ticket.recorded else None
        relay = TerminalRelay(
            socket,
            stream,
            offset=begin.offset,
            recorder=recorder,
            most_recorded=self.policy.most_recorded,
            on_use=partial(self._used.add, ticket.allocation_id),
        )
        self._relays.setdefault(terminal_id, set()).add(relay)
        self._wake.set()  # the terminal may have been closed before its relay was listed
        notice = commands.recording_notice(ticket, self.policy)
        said = Session(session_id=terminal_id, resumed=begin.resumed, recorded=ticket.recorded, notice=notice)
        try:
            ending = await relay.run(said)
        finally:
            self._relays[terminal_id].discard(relay)
            if not self._relays[terminal_id]:
                del self._relays[terminal_id]
        await self._settle(terminal_id, ending)
        await relay.part(ending)

    def _recorder(self, terminal_id: str, kept_to: int, began: datetime) -> Recorder:
        return Recorder(
            db=self._db,
            master=self._master,
            terminal_id=terminal_id,
            kept_to=kept_to,
            began=began,
            clock=self._clock,
        )

    async def _fail(self, socket: MessageSocket, terminal_id: str, said: object) -> None:
        """The node could not open the terminal. Close it, unless it may still be open there."""
        error = said if isinstance(said, Error) else Error(reason="the node sent an invalid message")
        if not error.reattach:
            async with self._db.write("close terminal") as tx:
                await commands.close(tx, terminal_id, reason=error.reason, now=self._clock.now())
        await socket.send_json(error)
        await socket.close(UNREACHABLE if error.reattach else ENDED, "no terminal")

    async def _settle(self, terminal_id: str, ending: Ending) -> None:
        if ending.is_final:
            with suppress(*AWAY, *RERUN):  # then the node reports it, or the worker finds it
                async with self._db.write("close terminal") as tx:
                    now, code = self._clock.now(), ending.exit_code
                    await commands.close(tx, terminal_id, reason=ending.reason, exit_code=code, now=now)

    # The background loop

    async def run(self) -> None:
        """Send nodes the terminals to end, and end relays that were closed elsewhere; until cancelled."""
        await self._db.health.repeat("terminals", self._step)

    async def _step(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._wake.wait()
        self._wake.clear()
        await self._look()
        await self._write_use()

    async def _look(self) -> None:
        nodes, here = self._links.node_ids(), list(self._relays)
        async with self._db.read("look after terminals") as tx:
            closed = await store.closed_among(tx, here) if here else []
            ends = await store.to_end(tx, nodes) if nodes else []
        for row in closed:
            for relay in self._relays.get(row.id, ()):
                relay.end(Ending(code=ENDED, reason=row.reason, exit_code=row.exit_code))
        for end in ends:
            self._links.send(end.node_id, EndTerminals(terminal_ids=[end.id], reason=end.reason))

    async def _write_use(self) -> None:
        """An allocation whose terminal has input or output is not idle."""
        if not self._used or self._clock.monotonic() - self._use_written < USE_SECONDS:
            return
        used = sorted(self._used)
        async with self._db.write("terminals used") as tx:
            await commands.used(tx, used, now=self._clock.now())
        self._used.difference_update(used)
        self._use_written = self._clock.monotonic()


def close_unless(counted: OpenStream, committed: bool) -> None:  # noqa: FBT001 - the shape of on_end
    if not committed:
        counted.close()
