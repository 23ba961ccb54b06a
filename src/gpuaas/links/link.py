"""One node's link in this process: its socket and its state."""

import asyncio
from contextlib import suppress
from typing import Protocol

import msgspec

from gpuaas.wire.link import Down, Up
from gpuaas.wire.protocol import UNDECLARED

SEND_SECONDS = 5.0
CLOSE_SECONDS = 1.0
BROKEN = (TimeoutError, OSError, RuntimeError)  # errors of sending on a socket that is stuck or closed
decoder: msgspec.msgpack.Decoder[Up] = msgspec.msgpack.Decoder(Up)


class Socket(Protocol):
    async def send(self, data: bytes) -> None: ...
    async def receive(self) -> bytes: ...
    async def close(self, code: int, reason: str) -> None: ...
    def admit(self) -> None: ...


class UnreadableError(Exception):
    """The bytes are not a message of the protocol."""


class Link:
    """One node's link on this replica."""

    __slots__ = (
        "epoch",
        "generations",
        "has_more",
        "heard_at",
        "is_over",
        "is_sending",
        "is_waiting",
        "node_id",
        "protocol",
        "socket",
        "stated",
    )

    def __init__(
        self,
        node_id: str,
        socket: Socket,
        epoch: int,
        heard_at: float,
        generations: tuple[int, ...] = (1,),
        *,
        protocol: int = UNDECLARED,
    ) -> None:
        self.node_id, self.socket, self.epoch, self.heard_at = node_id, socket, epoch, heard_at
        self.protocol = protocol  # the version that both ends agreed on
        self.generations = generations  # of task keys that the node trusts, oldest first
        self.stated = b""  # the last statement about task keys on this link
        self.is_waiting = False  # a received message waits for the writer, so the link is not silent
        self.is_over = False
        self.is_sending = False  # claimed tasks are being sent
        self.has_more = False  # more tasks may be queued

    async def send(self, message: Down) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self.socket.send(msgspec.msgpack.encode(message))

    async def close(self, code: int, reason: str) -> None:
        with suppress(*BROKEN):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.socket.close(code, reason)


def read(data: bytes) -> Up:
    """Decode a message; raises `UnreadableError` for any other bytes."""
    try:
        return decoder.decode(data)
    except (ValueError, RecursionError) as error:  # invalid text and deep nesting raise these
        raise UnreadableError(str(error)) from error
