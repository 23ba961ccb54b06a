"""Streams that this node opens on request: to the replica that asked, with the secret of the request."""

import asyncio
from datetime import datetime  # noqa: TC003 (the same as everywhere)

import msgspec
import structlog
from websockets.exceptions import WebSocketException

from gpuaas.agent.identity import Identity, IdentityError, checked_url
from gpuaas.agent.link import CLOSING_SECONDS, LARGEST_MESSAGE, OPENING_SECONDS, Dial
from gpuaas.agent.server_time import ServerTime
from gpuaas.agent.streams.kinds import StreamKinds, StreamRefusedError
from gpuaas.agent.verifiers import Verifiers
from gpuaas.engines.base import EngineError
from gpuaas.wire.link import OpenStream, StreamBody
from gpuaas.wire.streams import STREAM_SUBPROTOCOL, StreamError

PING_SECONDS = 10.0
AT_ONCE = 2_000
log = structlog.get_logger()


class Streams:
    """Independent of kinds. A kind is one file next to this one, registered in agent/loop.py."""

    def __init__(self, identity: Identity, verifiers: Verifiers, server_time: ServerTime, kinds: StreamKinds) -> None:
        self._identity, self._verifiers, self._time, self._kinds = identity, verifiers, server_time, kinds
        self._known: dict[str, datetime] = {}  # ids of requests until they expire, so that each is served once
        self._open: set[asyncio.Task[None]] = set()

    async def take_over(self) -> None:
        for streams in self._kinds:
            await streams.take_over()

    def asked(self, asked: OpenStream) -> None:
        """Verified by its signature, like a task, because a stream can open a shell. An invalid request is dropped."""
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
                    await self._kinds.of(body.kind).serve_target(socket, body.allocation_id, body.target)
                except (StreamRefusedError, EngineError) as error:
                    reason = error.reason if isinstance(error, EngineError) else str(error)
                    detail = error.detail if isinstance(error, EngineError) else ""
                    log.warning(
                        "stream.not_joined", kind=body.kind, allocation=body.allocation_id, why=reason, detail=detail
                    )
                    await socket.send(msgspec.json.encode(StreamError(reason=reason)).decode())
        except (OSError, TimeoutError, WebSocketException) as broken:
            log.info("stream.broken", stream=body.id, why=repr(broken))

    def welcomed(self) -> None:
        for streams in self._kinds:
            streams.welcomed()

    async def close(self) -> None:
        """Readers lose their streams and request new ones."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        for streams in self._kinds:
            streams.leave()
