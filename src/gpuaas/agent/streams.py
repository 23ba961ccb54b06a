"""Streams that this node dials out when it is asked to: to the replica that asked, with the secret it was given."""

import asyncio
from datetime import datetime  # noqa: TC003 (the same as everywhere)

import msgspec
import structlog
from websockets.exceptions import WebSocketException

from gpuaas.agent.identity import Identity, IdentityError, checked_url
from gpuaas.agent.link import CLOSING_SECONDS, LARGEST_MESSAGE, OPENING_SECONDS, Dial
from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.server_time import ServerTime
from gpuaas.agent.terminals import Terminals
from gpuaas.agent.verifiers import Verifiers
from gpuaas.engines.base import EngineError, EngineTerminals
from gpuaas.wire.link import EndTerminals, OpenStream, StreamBody, TerminalReport
from gpuaas.wire.terminals import STREAM_SUBPROTOCOL, Error, TerminalTarget

PING_SECONDS = 10.0
TELL_AGAIN_SECONDS = 5.0
AT_ONCE = 2_000
log = structlog.get_logger()


class Streams:
    def __init__(
        self,
        identity: Identity,
        verifiers: Verifiers,
        shells: EngineTerminals,
        outgoing: Outgoing,
        server_time: ServerTime,
    ) -> None:
        self._identity, self._verifiers, self._outgoing, self._time = identity, verifiers, outgoing, server_time
        self._terminals = Terminals(shells, self._tell)
        self._known: dict[str, datetime] = {}  # asked for, until it expires: none is dialled twice
        self._open: set[asyncio.Task[None]] = set()

    async def take_over(self) -> None:
        await self._terminals.take_over()

    def asked(self, asked: OpenStream) -> None:
        """Believed by its signature, as a task is: it opens a shell. Anything wrong with it and nothing is done."""
        if objection := self._verifiers.objection(asked) or self._objection(asked):
            log.warning("stream.refused", why=objection)
            return
        body = msgspec.msgpack.decode(asked.body, type=StreamBody)
        self._known[body.id] = body.expires_at
        task = asyncio.create_task(self._serve(body))
        self._open.add(task)
        task.add_done_callback(self._over)

    def _objection(self, asked: OpenStream) -> str | None:
        now = self._time.now()
        self._known = {id: until for id, until in self._known.items() if until > now}
        try:
            body = msgspec.msgpack.decode(asked.body, type=StreamBody)
            checked_url(body.url, allow_plain_http=self._identity.node.allow_plain_http)
        except (msgspec.DecodeError, IdentityError) as error:
            return str(error)
        if body.node_id != self._identity.node_id:
            return "not for this node"
        if body.expires_at <= now or body.id in self._known:
            return "asked before, or too late"
        return "too many streams" if len(self._open) >= AT_ONCE else None

    def _over(self, task: asyncio.Task[None]) -> None:
        self._open.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("stream.crashed", error=repr(error))

    async def _serve(self, body: StreamBody) -> None:
        url = f"ws{body.url.rstrip('/').removeprefix('http')}/internal/v1/streams/{body.id}"
        try:
            async with Dial(
                url,
                subprotocols=[STREAM_SUBPROTOCOL, body.secret],
                compression=None,
                proxy=None,
                max_size=LARGEST_MESSAGE,
                open_timeout=OPENING_SECONDS,
                ping_interval=PING_SECONDS,
                ping_timeout=PING_SECONDS,
                close_timeout=CLOSING_SECONDS,
            ) as socket:
                try:
                    target = msgspec.msgpack.decode(body.target, type=TerminalTarget)
                    await self._terminals.join(socket, body.allocation_id, target)
                except EngineError as error:
                    log.warning("stream.no_terminal", allocation=body.allocation_id, detail=error.detail)
                    await socket.send(msgspec.json.encode(Error(reason=error.reason)).decode())
        except (OSError, TimeoutError, WebSocketException) as broken:
            log.info("stream.broken", stream=body.id, why=repr(broken))

    def ended(self, terminals: EndTerminals) -> None:
        self._terminals.end(terminals.terminal_ids, terminals.reason)

    def welcomed(self) -> None:
        """Told now, and once more when it has settled: a server may find the first telling too fresh to judge."""
        self._tell()
        asyncio.get_running_loop().call_later(TELL_AGAIN_SECONDS, self._tell)

    def _tell(self) -> None:
        """Whole, like a report, whenever it changed."""
        if self._time.is_known:
            ended = self._terminals.take_ended()
            told = TerminalReport(live=self._terminals.live(), ended=ended, at=self._time.now())
            if not self._outgoing.put(told):
                self._terminals.give_back(ended)

    async def close(self) -> None:
        """Readers lose their streams and ask for new ones; terminals go on where the engine keeps them."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._terminals.leave()
