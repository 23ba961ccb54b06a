"""The protocol between agent and SSH gateway: msgpack requests and answers with descriptors over a unix socket."""

import array
import asyncio
import os
import socket
from collections import deque
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from gpuaas.engines.logins import Logins
from gpuaas.wire.environments import Connection, LoginEvent, LoginKind

SOCKET = "gateway.sock"
HEADER = 5  # bytes: length of the message and number of its descriptors
MOST_BYTES = 16 << 20
MOST_DESCRIPTORS = 4
TERMINAL_DESCRIPTORS = 2  # descriptors of a terminal: its master and its memory
CHUNK = 65_536


class Sync(Struct, tag=True, frozen=True):
    allocation_id: str


class CloseEnvironment(Struct, tag=True, frozen=True):
    allocation_id: str
    reason: str


class RenewLease(Struct, tag=True, frozen=True):
    """lease.json was written: read it again."""


class Enforce(Struct, tag=True, frozen=True):
    pass


class ListConnections(Struct, tag=True, frozen=True):
    allocation_id: str | None


class EndConnection(Struct, tag=True, frozen=True):
    allocation_id: str
    id: str
    reason: str


class EndConnections(Struct, tag=True, frozen=True):
    allocation_id: str
    fingerprints: frozenset[str] | None
    reason: str


class TakeEvents(Struct, tag=True, frozen=True):
    """Answered when there are login events; the agent has stored the named ones."""

    kept: tuple[str, ...] = ()


class OpenTerminal(Struct, tag=True, frozen=True):
    """Answered with two descriptors: the terminal and its scrollback memory. A client that opens, attaches or adopts a
    terminal owns it until its connection ends."""

    allocation_id: str
    boot: int
    name: str  # from the server


class ListTerminals(Struct, tag=True, frozen=True):
    pass


class AttachTerminal(Struct, tag=True, frozen=True):
    terminal_id: str


class AdoptTerminal(Struct, tag=True, frozen=True):
    """The agent has a terminal of a previous gateway; the message includes its descriptors."""

    terminal_id: str


class WaitTerminal(Struct, tag=True, frozen=True):
    """Answered when it has ended."""

    terminal_id: str


class CloseTerminal(Struct, tag=True, frozen=True):
    terminal_id: str


class AskStatus(Struct, tag=True, frozen=True):
    pass


class HandOver(Struct, tag=True, frozen=True):
    """Sent by a new gateway: hand over everything."""


class Stop(Struct, tag=True, frozen=True):
    """End all connections and terminals, then the gateway."""

    reason: str


Request = (
    Sync
    | CloseEnvironment
    | RenewLease
    | Enforce
    | ListConnections
    | EndConnection
    | EndConnections
    | TakeEvents
    | OpenTerminal
    | ListTerminals
    | AttachTerminal
    | AdoptTerminal
    | WaitTerminal
    | CloseTerminal
    | AskStatus
    | HandOver
    | Stop
)


class Envelope(Struct, frozen=True):
    number: int
    request: Request


class Answer(Struct, frozen=True):
    """`reason` is set when it failed, and safe to show to a person."""

    number: int
    body: msgspec.Raw = msgspec.Raw(b"\xc0")
    reason: str = ""
    detail: str = ""


class GatewayStatus(Struct, frozen=True, kw_only=True):
    version: str
    pid: int
    environments: int
    connections: int
    terminals: int


class TerminalState(Struct, frozen=True, kw_only=True):
    id: str
    allocation_id: str
    boot: int
    name: str


class TerminalResult(Struct, frozen=True, kw_only=True):
    """Without `exit_code`, `reason` says why the gateway ended it."""

    exit_code: int | None
    reason: str = ""


class Channel:
    """Messages over a unix stream socket. One reader; any number of writers."""

    def __init__(self, stream: socket.socket) -> None:
        stream.setblocking(False)
        self._stream = stream
        self._received = bytearray()
        self._descriptors: deque[int] = deque()
        self._writing = asyncio.Lock()
        self._is_closed = False

    async def send(self, message: bytes, descriptors: tuple[int, ...] = ()) -> None:
        """Send a message. Raises ConnectionError if the peer has disconnected."""
        async with self._writing:
            data = memoryview(len(message).to_bytes(4, "big") + bytes([len(descriptors)]) + message)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
            while data:
                if self._is_closed:
                    raise ConnectionResetError("the channel is closed")
                try:
                    data = data[self._stream.sendmsg([data], rights) :]
                    rights = []
                except (BlockingIOError, InterruptedError):
                    await self._ready(writing=True)

    async def receive(self) -> tuple[bytes, list[int]]:
        """Receive the next message. Raises ConnectionError if the peer has disconnected."""
        while True:
            if len(self._received) >= HEADER:
                length, count = int.from_bytes(self._received[:4], "big"), self._received[4]
                if length > MOST_BYTES:
                    raise ConnectionAbortedError("a message is too long")
                if len(self._received) >= HEADER + length:
                    message = bytes(self._received[HEADER : HEADER + length])
                    del self._received[: HEADER + length]
                    return message, [self._descriptors.popleft() for _ in range(min(count, len(self._descriptors)))]
            self._keep(await self._receive_part())

    async def _receive_part(self) -> tuple[bytes, list[tuple[int, int, bytes]]]:
        while True:
            if self._is_closed:
                raise ConnectionResetError("the channel is closed")
            try:
                data, rights, _, _ = self._stream.recvmsg(
                    CHUNK, socket.CMSG_SPACE(4 * MOST_DESCRIPTORS), socket.MSG_CMSG_CLOEXEC
                )
            except (BlockingIOError, InterruptedError):
                await self._ready(writing=False)
                continue
            return data, rights

    def _keep(self, found: tuple[bytes, list[tuple[int, int, bytes]]]) -> None:
        data, rights = found
        for level, kind, content in rights:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers = array.array("i")
                numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
                self._descriptors.extend(numbers)
        if not data:
            raise ConnectionResetError("the other side closed the channel")
        self._received += data

    async def _ready(self, *, writing: bool) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        add, remove = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
        number = self._stream.fileno()

        def tell() -> None:
            if not ready.done():
                ready.set_result(None)

        add(number, tell)
        try:
            await ready
        finally:
            if not self._is_closed:
                remove(number)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        loop = asyncio.get_running_loop()
        with suppress(OSError, ValueError):
            loop.remove_reader(self._stream.fileno())
            loop.remove_writer(self._stream.fileno())
        self._stream.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())


def connect(root: Path) -> socket.socket:
    """Connect to the gateway of this folder; OSError if none listens. The path may exceed 107 bytes."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.connect(f"/proc/self/fd/{folder}/{SOCKET}")
    except OSError:
        stream.close()
        raise
    finally:
        os.close(folder)
    return stream


def record_event(logins: Logins, event: LoginEvent) -> None:
    """Queue an event of another process under its original id."""
    connection = Connection(
        id=event.connection_id,
        key_fingerprint=event.key_fingerprint,
        source=event.source,
        opened_at=event.at,
        allocation_id=event.allocation_id,
        user_id=event.user_id,
        bytes_in=event.bytes_in,
        bytes_out=event.bytes_out,
    )
    if event.kind is LoginKind.LOGIN:
        logins.opened(connection)
    else:
        logins.closed(connection, event.at)
