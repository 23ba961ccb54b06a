"""The agent's side of the SSH gateway: starts it, sends requests, and receives login events.

The gateway is a separate process that outlives the agent. A gateway that does not answer is an error; it is not
treated as a gateway without connections.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gpuaas.engines.base import EngineError
from gpuaas.engines.logins import Logins
from gpuaas.engines.node import processes
from gpuaas.engines.oci import gateway_protocol as protocol
from gpuaas.engines.oci.gateway_protocol import Answer, Channel, Envelope, GatewayStatus
from gpuaas.engines.oci.gateway_terminals import GatewayTerminals
from gpuaas.wire.environments import Connection, LoginEvent
from gpuaas.wire.gateway import AccessState

START_SECONDS = 20.0
ANSWER_SECONDS = 30.0
PAUSE_SECONDS = 0.02
AWAY = "the SSH gateway of the node does not answer"
NOT_REPLACED = "the SSH gateway of the node could not be replaced"
LOG = "gateway.log"
T = TypeVar("T")
answers = msgspec.msgpack.Decoder(Answer)


class GatewayClient:
    """One per engine. Call `start` first; the agent uses `logins` and `terminals`."""

    def __init__(self, root: Path, *, version: str | None = None) -> None:
        self._root, self._version = root, version
        self.logins = Logins()
        self.terminals = GatewayTerminals(self.ask)
        self._channel: Channel | None = None
        self._waiting: dict[int, asyncio.Future[tuple[Answer, list[int]]]] = {}
        self._count = 0
        self._connecting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._children: set[int] = set()
        self._lost = asyncio.Event()
        self._is_closed = True

    @property
    def version(self) -> str:
        """Version of the gateway that this program starts."""
        if self._version is None:
            self._version = version_of("gpuaas")
        return self._version

    async def start(self) -> None:
        """Ensure that a gateway of this version answers. A gateway of another version hands over to a new one."""
        self._is_closed = False
        await self._connected()
        if (await self.status()).version != self.version:
            await self.upgrade()
        self._begin(self._keep_alive())
        self._begin(self._take_events())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def upgrade(self) -> None:
        """Replace the gateway process; connections and terminals continue."""
        before = await self.status()
        child = self._spawn()
        try:
            async with asyncio.timeout(START_SECONDS):
                while (await self.status()).pid == before.pid:
                    self._collect_children()
                    if child not in self._children:
                        raise EngineError(NOT_REPLACED, f"see {self._root / LOG}")
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError as error:
            raise EngineError(NOT_REPLACED, f"process {before.pid} does not hand over") from error

    async def close(self, *, stop: bool) -> None:
        """Disconnect; the gateway continues. With `stop`, end it with all connections and terminals."""
        await self.terminals.settle()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if stop:
            await self._stop()
        self._is_closed = True
        self._disconnect()
        self._collect_children()

    async def _stop(self) -> None:
        """Wait until the process has ended."""
        pid = (await self.status()).pid
        await self.ask(protocol.Stop("the node is going away"), None)
        if not await processes.gone(pid, ANSWER_SECONDS):
            raise EngineError("the SSH gateway of the node does not end", f"process {pid}")

    # Requests of the engine

    async def status(self) -> GatewayStatus:
        return await self.ask(protocol.AskStatus(), GatewayStatus)

    async def sync(self, allocation_id: str) -> AccessState:
        """Apply the environment's access.json; the answer is the state in force."""
        return await self.ask(protocol.Sync(allocation_id), AccessState)

    async def close_environment(self, allocation_id: str, reason: str) -> None:
        """Close the listener, connections and terminals of the environment."""
        await self.ask(protocol.CloseEnvironment(allocation_id, reason), None)

    async def renew_lease(self) -> int:
        """Apply a new lease.json; return the number of closed connections."""
        return await self.ask(protocol.RenewLease(), int)

    async def enforce(self) -> int:
        return await self.ask(protocol.Enforce(), int)

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        return await self.ask(protocol.ListConnections(allocation_id), list[Connection])

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        return await self.ask(protocol.EndConnection(allocation_id, id, reason), bool)

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        return await self.ask(protocol.EndConnections(allocation_id, fingerprints, reason), int)

    # Transport of requests

    async def ask(
        self,
        request: protocol.Request,
        kind: type[T] | None,
        *,
        descriptors: tuple[int, ...] = (),
        received: Callable[[list[int]], None] | None = None,
        seconds: float | None = ANSWER_SECONDS,
    ) -> T:
        """Send a request; EngineError if it failed or got no answer. Repeated once after a replacement of the gateway,
        unless the request is not idempotent."""
        is_repeatable = not isinstance(request, protocol.OpenTerminal)
        try:
            async with asyncio.timeout(seconds):
                try:
                    answer, given = await self._round_trip(request, descriptors)
                except ConnectionError:
                    if not is_repeatable:
                        raise
                    answer, given = await self._round_trip(request, descriptors)
        except (OSError, TimeoutError) as error:
            raise EngineError(AWAY, f"{type(request).__name__}: {error!r}") from error
        if received is not None and not answer.reason:
            received(given)
        else:
            for descriptor in given:
                os.close(descriptor)
        if answer.reason:
            raise EngineError(answer.reason, answer.detail)
        return msgspec.msgpack.decode(answer.body, type=kind)

    async def _round_trip(self, request: protocol.Request, descriptors: tuple[int, ...]) -> tuple[Answer, list[int]]:
        channel = await self._connected()
        self._count += 1
        number = self._count
        waiting: asyncio.Future[tuple[Answer, list[int]]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            await channel.send(msgspec.msgpack.encode(Envelope(number, request)), descriptors)
            return await waiting
        finally:
            self._waiting.pop(number, None)

    async def _connected(self) -> Channel:
        """Connect; start a gateway if none listens."""
        async with self._connecting:
            if self._channel is not None:
                return self._channel
            if self._is_closed:
                raise ConnectionError("the engine is closed")
            child = 0
            async with asyncio.timeout(START_SECONDS):
                while (channel := _try_connect(self._root)) is None:
                    self._collect_children()
                    if child not in self._children:
                        child = self._spawn()
                    await asyncio.sleep(PAUSE_SECONDS)
            self._channel = channel
            self._reading = asyncio.create_task(self._read(channel))
            self._lost.clear()
            self._begin(self.terminals.reconnected())
            return channel

    def _spawn(self) -> int:
        """Start it in a separate session, so that signals to the agent do not reach it."""
        words = [sys.executable, "-P", "-m", "gpuaas.gateway", "--folder", str(self._root), "--release", self.version]
        log = os.open(self._root / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ]
            child = os.posix_spawn(sys.executable, words, os.environ, file_actions=actions, setsid=True)
        finally:
            os.close(log)
        self._children.add(child)
        return child

    def _collect_children(self) -> None:
        self._children = {child for child in self._children if not _has_ended(child)}

    async def _read(self, channel: Channel) -> None:
        try:
            while True:
                message, descriptors = await channel.receive()
                answer = answers.decode(message)
                waiting = self._waiting.pop(answer.number, None)
                if waiting is None or waiting.done():
                    for descriptor in descriptors:
                        os.close(descriptor)
                else:
                    waiting.set_result((answer, descriptors))
        except (ConnectionError, msgspec.DecodeError):
            if self._channel is channel:
                self._disconnect()

    def _disconnect(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            self._reading.cancel()
            channel.close()
        self._lost.set()
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(ConnectionResetError("the SSH gateway went away"))
                future.exception()  # retrieves the exception even if no task waits

    async def _keep_alive(self) -> None:
        """Keep a gateway running without requests, because people connect at any time."""
        while True:
            await self._lost.wait()
            with suppress(OSError, TimeoutError):
                await self._connected()

    async def _take_events(self) -> None:
        kept: tuple[str, ...] = ()
        while True:
            try:
                events: list[LoginEvent] = await self.ask(protocol.TakeEvents(kept), list[LoginEvent], seconds=None)
            except EngineError:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            for event in events:
                protocol.record_event(self.logins, event)
            kept = tuple(event.id for event in events)


def _try_connect(root: Path) -> Channel | None:
    """Connect; None if no gateway listens."""
    try:
        return Channel(protocol.connect(root))
    except (FileNotFoundError, ConnectionRefusedError):
        return None


def _has_ended(child: int) -> bool:
    """Wait for the end of the process and reap it."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True
