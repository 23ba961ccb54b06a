"""The control socket: the agent asks, the gateway answers. Each request has a task of its own, so one may wait."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gpuaas.core.points import Points
from gpuaas.engines.base import EngineError
from gpuaas.engines.oci import gateway_protocol as protocol
from gpuaas.engines.oci.gateway_protocol import Answer, Channel, Envelope
from gpuaas.gateway.listeners import Acceptor
from gpuaas.gateway.service import Gateway

decoder = msgspec.msgpack.Decoder(Envelope)
encode = msgspec.msgpack.encode
Reply = tuple[Any, tuple[int, ...]]


class Control:
    """`over` is set when this process has nothing left to do: it was stopped, or has handed over."""

    def __init__(self, gateway: Gateway, listener: socket.socket, points: Points) -> None:
        self._gateway, self._points = gateway, points
        self._verbs = self._table()
        self._acceptor = Acceptor(listener, self._accept)
        self._tasks: set[asyncio.Task[None]] = set()
        self.over = asyncio.Event()
        self.successor: Channel | None = None

    @property
    def listener(self) -> socket.socket:
        return self._acceptor.listener

    def close(self) -> None:
        self.drop_clients()
        self._acceptor.close()

    def drop_clients(self) -> None:
        """They connect again, to whoever has the socket then."""
        self._acceptor.pause()
        for task in self._tasks:
            task.cancel()

    def _accept(self, stream: socket.socket) -> None:
        self._keep(asyncio.create_task(self._serve(Channel(stream))))

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, channel: Channel) -> None:
        try:
            while True:
                message, descriptors = await channel.receive()
                envelope = decoder.decode(message)
                if isinstance(envelope.request, protocol.HandOver):
                    self.successor = channel
                    self.over.set()
                    return
                self._keep(asyncio.create_task(self._answer(channel, envelope, descriptors)))
        except (ConnectionError, msgspec.DecodeError):
            channel.close()
        except asyncio.CancelledError:
            channel.close()
            raise
        finally:
            self._gateway.terminals.release(channel)

    async def _answer(self, channel: Channel, envelope: Envelope, descriptors: list[int]) -> None:
        given: tuple[int, ...] = ()
        name = type(envelope.request).__name__
        self._points.reach(f"request:received {name}")
        try:
            body, given = await self._do(channel, envelope.request, descriptors)
            answer = Answer(envelope.number, msgspec.Raw(encode(body)))
        except EngineError as error:
            answer = Answer(envelope.number, reason=error.reason, detail=error.detail)
        except OSError as error:
            answer = Answer(envelope.number, reason="the SSH gateway of the node failed", detail=str(error))
        self._points.reach(f"request:done {name}")
        try:
            await channel.send(encode(answer), given)
        except OSError:
            channel.close()  # whoever asked is gone
            self._gateway.terminals.release(channel)
        self._points.reach(f"request:answered {name}")
        if isinstance(envelope.request, protocol.Stop):
            self.over.set()

    async def _do(self, channel: Channel, request: protocol.Request, descriptors: list[int]) -> Reply:
        """What it asks for, and the descriptors that go with the answer."""
        if (verb := self._verbs.get(type(request))) is not None:
            found = verb(request)
            return (await found if isinstance(found, Awaitable) else found), ()
        terminals = self._gateway.terminals
        match request:
            case protocol.OpenTerminal(allocation_id, boot, name):
                terminal = await terminals.open(self._gateway.environments.get(allocation_id), boot, name)
                return terminal.record.id, terminals.claim(terminal.record.id, channel).given()
            case protocol.AttachTerminal(terminal_id):
                return terminal_id, terminals.claim(terminal_id, channel).given()
            case protocol.AdoptTerminal(terminal_id):
                terminals.claim(terminal_id, channel).give(descriptors)
                return None, ()
        raise EngineError("the SSH gateway does not know this request", type(request).__name__)

    def _table(self) -> dict[type, Callable[[Any], Any]]:
        gateway, terminals = self._gateway, self._gateway.terminals
        return {
            protocol.Sync: lambda asked: gateway.sync(asked.allocation_id),
            protocol.CloseEnvironment: lambda asked: gateway.close_environment(asked.allocation_id, asked.reason),
            protocol.RenewLease: lambda _: gateway.renew_lease(),
            protocol.Enforce: lambda _: gateway.enforce(),
            protocol.ListConnections: lambda asked: gateway.connections(asked.allocation_id),
            protocol.EndConnection: lambda asked: gateway.end_connection(asked.allocation_id, asked.id, asked.reason),
            protocol.EndConnections: lambda asked: gateway.end_connections(
                asked.allocation_id, asked.fingerprints, asked.reason
            ),
            protocol.TakeEvents: lambda asked: gateway.events(asked.kept),
            protocol.AskStatus: lambda _: gateway.status(),
            protocol.Stop: lambda asked: gateway.stop(asked.reason),
            protocol.ListTerminals: lambda _: terminals.states(None),
            protocol.WaitTerminal: lambda asked: terminals.wait(asked.terminal_id),
            protocol.CloseTerminal: lambda asked: terminals.close(asked.terminal_id),
        }
