"""Streams on this replica: requests them from nodes, and accepts those that agents open.

The client of a stream may be on another replica than the node's link. So a stream is requested by a row and a hint.
The replica with the link signs the request and sends it, and the agent connects to the replica that requested the
stream.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import structlog

from gpuaas.core.clock import Clock
from gpuaas.core.db import Database, Tx
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.secrets import MasterKey
from gpuaas.core.websockets import MessageSocket
from gpuaas.domain.capacity.streams import store
from gpuaas.domain.capacity.streams.store import StreamRequest
from gpuaas.links.server import LinkServer
from gpuaas.links.streams.kinds import ServerStreamKinds
from gpuaas.wire.link import StreamBody
from gpuaas.wire.streams import UNAUTHORIZED, StreamKind, T

STREAM_SECONDS = 10.0  # from the request to the agent's first message
LOOK_SECONDS = 2.0  # how often without a hint
log = structlog.get_logger()


@dataclass(eq=False)
class ExpectedStream:
    """A requested stream; `arrived` is the agent's socket."""

    id: str
    node_id: str
    arrived: "asyncio.Future[MessageSocket]"
    over: asyncio.Event


class StreamServer:
    """Independent of kinds. A kind is one file next to this one, registered in main/node_links.py."""

    def __init__(
        self, master: MasterKey, links: LinkServer, *, db: Database, hints: Hints, ids: Ids, clock: Clock, url: str
    ) -> None:
        self._db, self._ids, self._clock, self._links, self._url = db, ids, clock, links, url
        self._key = master.derive("streams")
        self._expected: dict[str, ExpectedStream] = {}
        self._wake = asyncio.Event()
        self.kinds = ServerStreamKinds()
        hints.on(store.STREAMS, self._hint)

    def _hint(self, row_id: str, remote: bool) -> None:  # noqa: ARG002, FBT001 - the shape of a listener
        self._wake.set()

    async def request(
        self, tx: Tx, kind: StreamKind[T], target: T, *, node_id: str, allocation_id: str
    ) -> ExpectedStream:
        """Request a stream from the node, in this transaction. The caller awaits `arrived` and calls `forget` at the
        end.
        """
        self.kinds.check(kind)
        request = StreamRequest(
            id=self._ids.new("stream"),
            node_id=node_id,
            allocation_id=allocation_id,
            kind=kind.name,
            target=kind.fields_of(target),
            url=self._url,
            expires_at=self._clock.now() + timedelta(seconds=STREAM_SECONDS),
        )
        expected = ExpectedStream(request.id, node_id, asyncio.get_running_loop().create_future(), asyncio.Event())
        self._expected[expected.id] = expected
        tx.on_end.append(lambda committed: None if committed else self.forget(expected))
        await store.add(tx, request)
        return expected

    def forget(self, expected: ExpectedStream) -> None:
        """Close the agent's socket; an agent that connects later is refused."""
        self._expected.pop(expected.id, None)
        expected.over.set()

    def secret(self, stream_id: str, node_id: str) -> str:
        """Derived, so that the replica that sends the request needs no secret from a row."""
        return hmac.new(self._key, f"{stream_id} {node_id}".encode(), hashlib.sha256).hexdigest()

    async def serve(self, socket: MessageSocket, stream_id: str, secret: str) -> None:
        """Accept an agent's socket once, by its secret, and hold it open until the stream ends."""
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

    async def run(self) -> None:
        """Send stream requests to the nodes that are linked here, until cancelled."""
        await self._db.health.repeat("streams", self._step)

    def loops(self) -> list[Callable[[], Coroutine[None, None, None]]]:
        return [self.run, *(streams.run for streams in self.kinds)]

    async def _step(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._wake.wait()
        self._wake.clear()
        if not (nodes := self._links.node_ids()):
            return
        async with self._db.read("pass stream requests on") as tx:
            requests = await store.take(tx, nodes, self._clock.now())
        for request in requests:
            self._pass_on(request)

    def _pass_on(self, request: StreamRequest) -> None:
        """Sends every kind: the requesting replica may be newer than this one, and the agent decides about the kind."""
        body = StreamBody(
            id=request.id,
            node_id=request.node_id,
            allocation_id=request.allocation_id,
            kind=request.kind,
            target=msgspec.Raw(msgspec.msgpack.encode(request.target)),
            url=request.url,
            secret=self.secret(request.id, request.node_id),
            expires_at=request.expires_at,
        )
        self._links.request_stream(request.node_id, msgspec.msgpack.encode(body))
