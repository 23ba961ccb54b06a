"""The one WebSocket of a node: the agent connects, proves its identity, and connects again whenever it breaks."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import structlog
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.protocol import OPEN

from gpuaas.agent.identity import Identity
from gpuaas.agent.outgoing import Outgoing
from gpuaas.core import frames
from gpuaas.core.points import NoPoints, Points
from gpuaas.wire.link import (
    BEAT_SECONDS,
    Ack,
    Beat,
    Challenge,
    Down,
    EndTerminals,
    Hello,
    Lease,
    LoginsKept,
    OpenStream,
    Refused,
    Task,
    Welcome,
)
from gpuaas.wire.protocol import SUPPORTED, ProtocolMismatch, ProtocolRange, agree
from gpuaas.wire.spares import WantedSpares
from gpuaas.wire.task_keys import TaskKeyStatement

FIRST_RETRY_SECONDS = 0.5  # a server that only restarts is found quickly
LONGEST_RETRY_SECONDS = 8.0
TRIES_PER_DOUBLING = 2  # an outage of a few seconds never leads to the longest wait
MOST_DOUBLINGS = 8
STEADY_SECONDS = 1.0  # after a link of this duration, the next retry is a first one again
OPENING_SECONDS = 10.0
PING_SECONDS = 5.0  # interval and timeout: without an answer, the server counts as dead
CLOSING_SECONDS = 1.0
LARGEST_MESSAGE = 1 << 20

log = structlog.get_logger()
decoder: msgspec.msgpack.Decoder[Down] = msgspec.msgpack.Decoder(Down)


class Listener(Protocol):
    """Receives the messages of the server. Every call returns at once; `leased` returns once the lease is in force."""

    def welcomed(self, welcome: Welcome) -> None: ...

    def received(self, task: Task) -> None: ...

    def acknowledged(self, task_ids: list[str]) -> None: ...

    def logins_kept(self, ids: list[str]) -> None: ...

    async def leased(self, lease: Lease) -> None: ...

    def asked(self, stream: OpenStream) -> None: ...

    def ended(self, terminals: EndTerminals) -> None: ...

    def stated(self, statement: TaskKeyStatement) -> None: ...

    def wanted_spares(self, wanted: WantedSpares) -> None: ...


class LinkRefusedError(Exception):
    """The other end does not follow the opening of this protocol."""


class Connection(ClientConnection):
    """Faster for the most frequent message: one binary frame (core/frames.py)."""

    async def send(self, message: Any, *, text: bool | None = None) -> None:
        is_plain = type(message) is bytes and self.send_in_progress is None and self.protocol.state is OPEN
        if not is_plain or self.transport.is_closing():
            await super().send(message, text=text)
            return
        self.transport.write(frames.masked(message))
        if self.paused:
            await self.drain()


class Dial(connect):
    """Follows no redirect, because the proof is bound to this origin and must not be sent to another."""

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(url, create_connection=Connection, **options)

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Link:
    def __init__(
        self,
        *,
        identity: Identity,
        introduce: Callable[[bytes], Hello],
        outgoing: Outgoing,
        monotonic: Callable[[], float],
        randomness: Callable[[int], bytes],
        ping_seconds: float = PING_SECONDS,
        points: Points | None = None,
        supported: ProtocolRange = SUPPORTED,
    ) -> None:
        self._identity, self._introduce, self._outgoing = identity, introduce, outgoing
        self._monotonic, self._randomness, self._ping_seconds = monotonic, randomness, ping_seconds
        self._points, self._supported = points or NoPoints(), supported

    async def run(self, listener: Listener) -> None:
        """Connect repeatedly, until cancelled."""
        failures = 0
        while True:
            began = self._monotonic()
            try:
                await self._once(listener)
            except* (OSError, WebSocketException, LinkRefusedError) as broken:
                log.warning("link.broken", node=self._identity.node_id, why=_why(broken))
            failures = 0 if self._monotonic() - began >= STEADY_SECONDS else failures + 1
            await asyncio.sleep(self._delay(failures))

    async def _once(self, listener: Listener) -> None:
        async with Dial(
            self._identity.link_url,
            compression=None,
            proxy=None,
            max_size=LARGEST_MESSAGE,
            open_timeout=OPENING_SECONDS,
            ping_interval=self._ping_seconds,
            ping_timeout=self._ping_seconds,
            close_timeout=CLOSING_SECONDS,
        ) as socket:
            async with asyncio.timeout(OPENING_SECONDS):
                welcome = await self._open(socket)
            log.info("link.open", node=self._identity.node_id, epoch=welcome.epoch, protocol=welcome.protocol)
            self._outgoing.open()
            try:
                listener.welcomed(welcome)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._receive(socket, listener))
                    group.create_task(self._send(socket))
                    group.create_task(self._beat(socket))
            finally:
                self._outgoing.close()

    async def _open(self, socket: ClientConnection) -> Welcome:
        challenge = _read(await socket.recv())
        if not isinstance(challenge, Challenge):
            raise LinkRefusedError("the server did not begin with a challenge")
        self._check(challenge.protocol)
        hello = msgspec.structs.replace(self._introduce(challenge.nonce), protocol=self._supported)
        await socket.send(msgspec.msgpack.encode(hello))
        welcome = _read(await socket.recv())
        if isinstance(welcome, Refused):
            log.error("link.refused", node=self._identity.node_id, reason=welcome.reason)
            raise LinkRefusedError(welcome.reason)
        if not isinstance(welcome, Welcome):
            raise LinkRefusedError("the server did not welcome this node")
        return welcome

    def _check(self, server: ProtocolRange) -> None:
        """An older server would not report why it cannot serve this agent, so the agent checks the versions."""
        try:
            agree(agent=self._supported, server=server)
        except ProtocolMismatch as error:
            log.error("link.refused", node=self._identity.node_id, reason=str(error))  # noqa: TRY400 - the message says all
            raise LinkRefusedError(str(error)) from error

    async def _receive(self, socket: ClientConnection, listener: Listener) -> None:
        while True:
            match _read(await socket.recv()):
                case Task() as task:
                    listener.received(task)
                case Ack(task_ids=task_ids):
                    listener.acknowledged(task_ids)
                case LoginsKept(ids=ids):
                    listener.logins_kept(ids)
                case Lease() as lease:
                    await listener.leased(lease)
                case OpenStream() as stream:
                    listener.asked(stream)
                case EndTerminals() as terminals:
                    listener.ended(terminals)
                case TaskKeyStatement() as statement:
                    listener.stated(statement)
                case WantedSpares() as wanted:
                    listener.wanted_spares(wanted)
                case other:
                    log.warning("link.message_ignored", message=type(other).__name__)

    async def _send(self, socket: ClientConnection) -> None:
        while True:
            message = await self._outgoing.get()
            self._points.reach(f"link:before {type(message).__name__}")
            await socket.send(msgspec.msgpack.encode(message))
            self._points.reach(f"link:after {type(message).__name__}")

    async def _beat(self, socket: ClientConnection) -> None:
        beat = msgspec.msgpack.encode(Beat())
        while True:
            await socket.send(beat)
            await asyncio.sleep(BEAT_SECONDS)

    def _delay(self, failures: int) -> float:
        """Full jitter: a fleet that lost its server reconnects spread out, and no agent waits long."""
        doublings = min(max(failures - 1, 0) // TRIES_PER_DOUBLING, MOST_DOUBLINGS)
        ceiling = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * (1 << doublings))
        return ceiling * int.from_bytes(self._randomness(4), "big") / (1 << 32)


def _read(message: str | bytes) -> Down | None:
    """None for messages of a newer server that this agent does not know."""
    try:
        return decoder.decode(message if isinstance(message, bytes) else b"")
    except msgspec.DecodeError as error:
        log.warning("link.message_unreadable", why=str(error))
        return None


def _why(broken: BaseExceptionGroup[BaseException]) -> str:
    """The first cause, in one line."""
    first = broken.exceptions[0]
    return _why(first) if isinstance(first, BaseExceptionGroup) else f"{type(first).__name__}: {first}"
