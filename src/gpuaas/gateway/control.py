"""The control socket: the gateway answers requests of the agent, each in a separate task, so that one may wait."""

import asyncio
import logging
import os
import socket

import msgspec

from gpuaas.core.points import Points
from gpuaas.engines.base import EngineError
from gpuaas.engines.oci import gateway_protocol as protocol
from gpuaas.engines.oci.gateway_protocol import Answer, Channel, Envelope
from gpuaas.gateway.listeners import Acceptor
from gpuaas.gateway.service import Gateway

log = logging.getLogger("gpuaas.gateway")
decoder = msgspec.msgpack.Decoder(Envelope)
encode = msgspec.msgpack.encode
Reply = tuple[object, tuple[int, ...]]


class Control:
    """`over` is set when this process may end: it was stopped, or it has handed over."""

    def __init__(self, gateway: Gateway, listener: socket.socket, points: Points) -> None:
        self._gateway, self._points = gateway, points
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
        """Close the clients; they reconnect to the process that then serves the socket."""
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
        except Exception as error:  # house: broad-except because the client would wait forever
            log.exception("%s failed", name)
            answer = Answer(envelope.number, reason="the SSH gateway of the node failed", detail=str(error))
        finally:
            for descriptor in descriptors:  # descriptors that no request took
                os.close(descriptor)
        self._points.reach(f"request:done {name}")
        try:
            await channel.send(encode(answer), given)
        except OSError:
            channel.close()  # the client has disconnected
            self._gateway.terminals.release(channel)
        self._points.reach(f"request:answered {name}")
        if isinstance(envelope.request, protocol.Stop):
            self.over.set()

    async def _do(  # noqa: C901 (one case a request)
        self, channel: Channel, request: protocol.Request, descriptors: list[int]
    ) -> Reply:
        """The body of the response and its descriptors."""
        gateway = self._gateway
        body: object = None
        match request:
            case protocol.Sync(allocation_id):
                body = await gateway.sync(allocation_id)
            case protocol.CloseEnvironment(allocation_id, reason):
                await gateway.close_environment(allocation_id, reason)
            case protocol.RenewLease():
                body = await gateway.renew_lease()
            case protocol.Enforce():
                body = await gateway.enforce()
            case protocol.ListConnections(allocation_id):
                body = gateway.connections(allocation_id)
            case protocol.EndConnection(allocation_id, id, reason):
                body = await gateway.end_connection(allocation_id, id, reason)
            case protocol.EndConnections(allocation_id, fingerprints, reason):
                body = await gateway.end_connections(allocation_id, fingerprints, reason)
            case protocol.TakeEvents(kept):
                body = await gateway.events(kept)
            case protocol.AskStatus():
                body = gateway.status()
            case protocol.Stop(reason):
                await gateway.stop(reason)
            case _:
                return await self._do_with_terminals(channel, request, descriptors)
        return body, ()

    async def _do_with_terminals(self, channel: Channel, request: protocol.Request, descriptors: list[int]) -> Reply:
        terminals = self._gateway.terminals
        match request:
            case protocol.OpenTerminal(allocation_id, boot, name):
                terminal = await terminals.open(self._gateway.environments.get(allocation_id), boot, name)
                return terminal.record.id, terminals.claim(terminal.record.id, channel).descriptors()
            case protocol.AttachTerminal(terminal_id):
                return terminal_id, terminals.claim(terminal_id, channel).descriptors()
            case protocol.AdoptTerminal(terminal_id):
                terminals.claim(terminal_id, channel).adopt_descriptors(descriptors)
                return None, ()
            case protocol.ListTerminals():
                return terminals.states(None), ()
            case protocol.WaitTerminal(terminal_id):
                return await terminals.wait(terminal_id), ()
            case protocol.CloseTerminal(terminal_id):
                terminals.close(terminal_id)
                return None, ()
        raise EngineError("unknown request to the SSH gateway", type(request).__name__)
