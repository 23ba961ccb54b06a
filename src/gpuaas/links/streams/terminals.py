"""Browser terminals on this replica: a browser's socket joined to a stream that the machine's agent dialled out to us.

The browser may be on another replica than the node's link. So a stream is asked for by a row and a hint; whoever holds
the link passes it on, signed, and the agent dials the replica that asked.
"""

import asyncio
import hashlib
import hmac
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

import msgspec
import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import AWAY, RERUN, Database
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import MasterKey, token_hash
from gpuaas.core.websockets import MessageSocket
from gpuaas.domain.quotas.commands import QuotaExceeded
from gpuaas.domain.quotas.open_streams import OpenStream, OpenStreams
from gpuaas.domain.terminals import commands, store
from gpuaas.domain.terminals.commands import Policy
from gpuaas.domain.terminals.store import StreamRequest, TakenTicket
from gpuaas.links.server import LinkServer
from gpuaas.links.streams.recorder import Recorder
from gpuaas.links.streams.relay import Ending, Relay
from gpuaas.wire.link import EndTerminals, StreamBody, StreamKind
from gpuaas.wire.terminals import ENDED, UNAUTHORIZED, UNREACHABLE, Begin, Error, Session, TerminalTarget, from_agent

STREAM_SECONDS = 10.0
TICKET = re.compile(rf"{commands.TICKET_PREFIX}[A-Za-z0-9_-]{{40,50}}")
ALLOCATION = re.compile(r"[a-z]+_[a-z0-9]{1,40}")
LOOK_SECONDS = 2.0  # how often without a hint
USE_SECONDS = 20.0  # how often use is told; no idle limit is near as short
log = structlog.get_logger()


class Refused(Exception):
    """Nobody learns why: a ticket that is unknown, used, late, or another machine's looks the same."""


@dataclass(eq=False)
class Expected:
    """A stream that was asked for and is not here yet."""

    node_id: str
    arrived: "asyncio.Future[MessageSocket]"
    over: asyncio.Event


class Admitted(NamedTuple):
    ticket: TakenTicket
    terminal_id: str
    expected: Expected
    stream_id: str
    held: OpenStream


class Relays:
    def __init__(
        self,
        master: MasterKey,
        links: LinkServer,
        *,
        db: Database,
        hints: Hints,
        ids: Ids,
        clock: Clock,
        policy: Policy,
        url: str,
        open_streams: OpenStreams,
    ) -> None:
        self._db, self._ids, self._clock, self._master = db, ids, clock, master
        self._links, self.policy, self._url = links, policy, url
        self.streams = open_streams
        self._stream_key = master.derive("streams")
        self._expected: dict[str, Expected] = {}
        self._relays: dict[str, set[Relay]] = {}
        self._used: set[str] = set()  # machines in whose terminals something happened since it was told last
        self._use_told = float("-inf")
        self._wake = asyncio.Event()
        for topic in (store.TERMINALS, store.STREAMS, store.ENDS):
            hints.on(topic, self._hint)

    def _hint(self, row_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._wake.set()

    # A browser's socket

    async def serve(self, socket: MessageSocket, allocation_id: str, token: str, source: str) -> None:
        """From the ticket to the end. The socket is accepted already, so that a browser can read why it is closed."""
        try:
            ticket, terminal_id, expected, stream_id, held = await self._admit(allocation_id, token, source)
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
            await self._join(socket, ticket, terminal_id, expected, source)
        finally:
            held.close()
            self._expected.pop(stream_id, None)
            expected.over.set()

    async def _admit(self, allocation_id: str, token: str, source: str) -> Admitted:
        if not (TICKET.fullmatch(token) and ALLOCATION.fullmatch(allocation_id)):
            raise Refused("no ticket at all")
        now, stream_id = self._clock.now(), self._ids.new("stream")
        async with self._db.write("open terminal") as tx:
            ticket = await store.take_ticket(tx, token_hash(token), allocation_id, now)
            if ticket is not None and ticket.objection is None:
                held = await self.streams.open(tx, ticket.user_id)
                tx.on_end.append(partial(self._give_up_unless, stream_id, held))
                id = await commands.open_terminal(tx, ticket, ids=self._ids, source=source, now=now)
                arrived = asyncio.get_running_loop().create_future()
                expected = self._expected[stream_id] = Expected(ticket.node_id, arrived, asyncio.Event())
                await store.ask_for_stream(tx, self._request(stream_id, id, ticket, now))
        if ticket is None or ticket.objection is not None:
            raise Refused(ticket.objection if ticket and ticket.objection else "no such ticket")
        return Admitted(ticket, id, expected, stream_id, held)

    def _give_up_unless(self, stream_id: str, held: OpenStream, committed: bool) -> None:  # noqa: FBT001 - the shape of on_end
        if not committed:
            held.close()
            self._expected.pop(stream_id, None)

    def _request(self, stream_id: str, terminal_id: str, ticket: TakenTicket, now: datetime) -> StreamRequest:
        target = TerminalTarget(
            terminal_id=terminal_id,
            boot=ticket.boot,
            is_new=ticket.terminal_id is None,
            seconds_left=(self.policy.ends_at(ticket) - now).total_seconds(),
            detached_seconds=self.policy.detached.total_seconds(),
        )
        return StreamRequest(
            id=stream_id,
            node_id=ticket.node_id,
            allocation_id=ticket.allocation_id,
            kind=StreamKind.TERMINAL,
            target=msgspec.to_builtins(target),
            url=self._url,
            expires_at=now + timedelta(seconds=STREAM_SECONDS),
        )

    async def _join(
        self, socket: MessageSocket, ticket: TakenTicket, terminal_id: str, expected: Expected, source: str
    ) -> None:
        try:
            async with asyncio.timeout(STREAM_SECONDS):
                stream = await expected.arrived
                begin = from_agent.decode((await stream.receive()).get("text") or b"{}")
        except (TimeoutError, OSError, msgspec.DecodeError, RecursionError):
            begin = Error(
                reason="the node of this machine does not answer now", reattach=ticket.terminal_id is not None
            )
        if not isinstance(begin, Begin):
            await self._fail(socket, terminal_id, begin)
            return
        async with self._db.read("terminal opened") as tx:
            await store.opened(tx, terminal_id, ticket, source=source, now=self._clock.now())
            kept_to = await store.recorded_to(tx, terminal_id) if ticket.recorded else 0
        recorder = self._recorder(terminal_id, kept_to, ticket.created_at) if ticket.recorded else None
        relay = Relay(
            socket,
            stream,
            offset=begin.offset,
            recorder=recorder,
            most_recorded=self.policy.most_recorded,
            on_use=partial(self._used.add, ticket.allocation_id),
        )
        self._relays.setdefault(terminal_id, set()).add(relay)
        self._wake.set()  # it may have been closed before it stood here
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
        """Its node could not show it; whether it may still live there decides what becomes of it."""
        error = said if isinstance(said, Error) else Error(reason="the node does not speak as it should")
        if not error.reattach:
            async with self._db.write("close terminal") as tx:
                await commands.close(tx, terminal_id, reason=error.reason, now=self._clock.now())
        await socket.send_json(error)
        await socket.close(UNREACHABLE if error.reattach else ENDED, "no terminal")

    async def _settle(self, terminal_id: str, ending: Ending) -> None:
        if ending.is_final:
            with suppress(*AWAY, *RERUN):  # then the node tells of it, or the worker finds it
                async with self._db.write("close terminal") as tx:
                    now, code = self._clock.now(), ending.exit_code
                    await commands.close(tx, terminal_id, reason=ending.reason, exit_code=code, now=now)

    # An agent's stream

    def secret(self, stream_id: str, node_id: str) -> str:
        """Derived, so that whoever passes the request on needs no secret from a row."""
        return hmac.new(self._stream_key, f"{stream_id} {node_id}".encode(), hashlib.sha256).hexdigest()

    async def serve_stream(self, socket: MessageSocket, stream_id: str, secret: str) -> None:
        """Taken once, by whoever has the secret; held open until the browser's side is done with it."""
        expected = self._expected.get(stream_id)
        if (
            expected is None
            or expected.arrived.done()
            or not hmac.compare_digest(secret.encode(), self.secret(stream_id, expected.node_id).encode())
        ):
            log.warning("stream.refused", stream=stream_id)
            await socket.close(UNAUTHORIZED, "refused")
            return
        socket.admit()
        expected.arrived.set_result(socket)
        await expected.over.wait()
        await socket.close(1000, "done")

    # Beside the sockets

    async def run(self) -> None:
        """Ask nodes for streams, tell them what to end, cut what was closed elsewhere; until cancelled."""
        await self._db.health.repeat("terminals", self._step)

    async def _step(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._wake.wait()
        self._wake.clear()
        await self._look()
        await self._tell_use()

    async def _look(self) -> None:
        nodes, here = self._links.here(), list(self._relays)
        async with self._db.read("look after terminals") as tx:
            requests = await store.take_stream_requests(tx, nodes, self._clock.now()) if nodes else []
            closed = await store.closed_among(tx, here) if here else []
            ends = await store.to_end(tx, nodes) if nodes else []
        for request in requests:
            self._pass_on(request)
        for row in closed:
            for relay in self._relays.get(row.id, ()):
                relay.end(Ending(code=ENDED, reason=row.reason, exit_code=row.exit_code))
        for end in ends:
            self._links.tell(end.node_id, EndTerminals(terminal_ids=[end.id], reason=end.reason))

    async def _tell_use(self) -> None:
        """A machine whose terminal is typed in, or shows something to somebody, is not idle."""
        if not self._used or self._clock.monotonic() - self._use_told < USE_SECONDS:
            return
        used = sorted(self._used)
        async with self._db.write("terminals used") as tx:
            await commands.used(tx, used, now=self._clock.now())
        self._used.difference_update(used)
        self._use_told = self._clock.monotonic()

    def _pass_on(self, request: StreamRequest) -> None:
        body = StreamBody(
            id=request.id,
            node_id=request.node_id,
            allocation_id=request.allocation_id,
            kind=StreamKind(request.kind),
            target=msgspec.Raw(msgspec.msgpack.encode(request.target)),
            url=request.url,
            secret=self.secret(request.id, request.node_id),
            expires_at=request.expires_at,
        )
        self._links.ask_for_stream(request.node_id, msgspec.msgpack.encode(body))
