"""A server that speaks the node link over a real loopback WebSocket, as small as the protocol allows."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from gpuaas.wire.link import (
    Ack,
    Beat,
    Challenge,
    Down,
    Hello,
    LogLines,
    Progress,
    Report,
    Result,
    Task,
    Up,
    Welcome,
    link_proof,
)
from tests.patience import PATIENCE_SECONDS

NOON = datetime(2031, 5, 1, 12, tzinfo=UTC)
DEADLINE_SECONDS = PATIENCE_SECONDS

Message = TypeVar("Message", Beat, Hello, LogLines, Progress, Report, Result)


async def eventually(claim: Callable[[], bool]) -> None:
    """Waits until the claim holds; a claim that never does fails the test."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not claim():
            await asyncio.sleep(0.002)


class LinkServer:
    """Tasks it was given go down after each welcome until they are answered, as the real one does."""

    def __init__(self, public_key: Ed25519PublicKey) -> None:
        self._public_key, self._links = public_key, set[ServerConnection]()
        self._server: Server | None = None
        self.time = NOON
        self.port = 0
        self.epoch = 0
        self.acknowledges = True
        self.heard: list[Up] = []
        self.hellos: list[Hello] = []
        self.nonces: list[bytes] = []
        self._unanswered: dict[str, Task] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await serve(self._talk, "127.0.0.1", self.port, compression=None, close_timeout=1)
        self.port = next(iter(self._server.sockets)).getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def drop(self) -> None:
        """Every link of the moment ends; the agent may dial again."""
        for link in list(self._links):
            await link.close()

    async def give(self, id: str, task: Task) -> None:
        self._unanswered[id] = task
        await self.say(task)

    async def say(self, message: Down | msgspec.Raw) -> None:
        for link in list(self._links):
            with suppress(ConnectionClosed):  # an agent that died just now
                await link.send(msgspec.msgpack.encode(message))

    @property
    def is_linked(self) -> bool:
        return bool(self._links)

    def all(self, type: type[Message], task_id: str | None = None) -> list[Message]:
        return [
            one
            for one in self.heard
            if isinstance(one, type) and (task_id is None or getattr(one, "task_id", None) == task_id)
        ]

    async def linked_after(self, epoch: int) -> None:
        """Until there is a link newer than that one."""
        await eventually(lambda: self.epoch > epoch and self.is_linked)

    async def result(self, task_id: str, nth: int = 1) -> Result:
        await eventually(lambda: len(self.all(Result, task_id)) >= nth)
        return self.all(Result, task_id)[nth - 1]

    async def _talk(self, socket: ServerConnection) -> None:
        try:
            await self._open(socket)
            async for message in socket:
                assert isinstance(message, bytes)
                await self._hear(socket, msgspec.msgpack.decode(message, type=Up))
        except ConnectionClosed:
            pass
        finally:
            self._links.discard(socket)

    async def _open(self, socket: ServerConnection) -> None:
        nonce = secrets.token_bytes(32)
        self.nonces.append(nonce)
        await socket.send(msgspec.msgpack.encode(Challenge(nonce=nonce, server_time=self.time)))
        hello = msgspec.msgpack.decode(await socket.recv(decode=False), type=Hello)
        self._public_key.verify(hello.proof, link_proof(nonce, hello.node_id, self.url))
        assert socket.request is not None
        assert socket.request.path == f"/internal/v1/nodes/{hello.node_id}/link"
        self.hellos.append(hello)
        self.epoch += 1
        await socket.send(msgspec.msgpack.encode(Welcome(epoch=self.epoch, server_time=self.time)))
        self._links.add(socket)
        for task in list(self._unanswered.values()):
            await socket.send(msgspec.msgpack.encode(task))

    async def _hear(self, socket: ServerConnection, message: Up) -> None:
        self.heard.append(message)
        if isinstance(message, Result) and self.acknowledges:
            self._unanswered.pop(message.task_id, None)
            await socket.send(msgspec.msgpack.encode(Ack(task_ids=[message.task_id])))


@asynccontextmanager
async def serving(public_key: Ed25519PublicKey) -> AsyncIterator[LinkServer]:
    server = LinkServer(public_key)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
