"""The agent's side of the SSH gateway: starts it, asks it, and takes its login events.

The gateway is a process of its own that outlives the agent. A gateway that does not answer is an error, and never
taken for one that serves nobody.
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
    """One per engine. `start` before anything else; `logins` and `terminals` are what the agent gets."""

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
        """Of the gateway that this program starts."""
        if self._version is None:
            self._version = version_of("gpuaas")
        return self._version

    async def start(self) -> None:
        """There is a gateway of this version, and it answers. One of another version hands over to a new one."""
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
        """Put a new process in place of the gateway; connections and terminals go on."""
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
        """Let go of the gateway, which serves on; `stop` ends it, and every connection and terminal."""
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
        """Waits until the process is gone, so that nothing of it is left when the engine goes on."""
        pid = (await self.status()).pid
        await self.ask(protocol.Stop("the node is going away"), None)
        if not await processes.gone(pid, ANSWER_SECONDS):
            raise EngineError("the SSH gateway of the node does not end", f"process {pid}")

    # What an engine asks

    async def status(self) -> GatewayStatus:
        return await self.ask(protocol.AskStatus(), GatewayStatus)

    async def sync(self, allocation_id: str) -> AccessState:
        """Make what the environment's access.json says true; the answer is what is in force."""
        return await self.ask(protocol.Sync(allocation_id), AccessState)

    async def close_environment(self, allocation_id: str, reason: str) -> None:
        """Afterwards the environment has no listener, no connection and no terminal."""
        await self.ask(protocol.CloseEnvironment(allocation_id, reason), None)

    async def renew_lease(self) -> int:
        """lease.json was written. How many connections it ended."""
        return await self.ask(protocol.RenewLease(), int)

    async def enforce(self) -> int:
        return await self.ask(protocol.Enforce(), int)

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        return await self.ask(protocol.ListConnections(allocation_id), list[Connection])

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        return await self.ask(protocol.EndConnection(allocation_id, id, reason), bool)

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        return await self.ask(protocol.EndConnections(allocation_id, fingerprints, reason), int)

    # How it is asked

    async def ask(
        self,
        request: protocol.Request,
        kind: type[T] | None,
        *,
        descriptors: tuple[int, ...] = (),
        received: Callable[[list[int]], None] | None = None,
        seconds: float | None = ANSWER_SECONDS,
    ) -> T:
        """Raises EngineError when it failed or nobody answered. Asked again once if the gateway was replaced meanwhile,
        except where that would do it twice."""
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
        """Connects, and starts a gateway where none listens."""
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
        """In a session of its own: what ends the agent does not end it."""
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
                future.exception()  # looked at, whether or not anybody waits for it

    async def _keep_alive(self) -> None:
        """There is a gateway also while nobody asks for anything: people connect at any time."""
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
    """None: nobody listens there."""
    try:
        return Channel(protocol.connect(root))
    except (FileNotFoundError, ConnectionRefusedError):
        return None


def _has_ended(child: int) -> bool:
    """Collects it, too."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True
