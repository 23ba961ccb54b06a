"""Passes the state of a gateway to a new process: listeners, terminals and queued login events.

The new process finds connections by their records, as after a crash. The old process stays alive only
as the parent of sessions whose exit codes it has to report.
"""

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from gpuaas.engines.oci import gateway_protocol as protocol
from gpuaas.engines.oci.gateway_protocol import Channel, Envelope
from gpuaas.gateway.service import Gateway
from gpuaas.gateway.terminals import TerminalRecord
from gpuaas.wire.environments import LoginEvent

if TYPE_CHECKING:
    from gpuaas.gateway.environments import Inherited

encode = msgspec.msgpack.encode


class GivenControl(Struct, tag=True, frozen=True):
    """Sent with the control listener."""


class GivenEnvironment(Struct, tag=True, frozen=True):
    """Sent with the listeners of its port and of its session socket."""

    allocation_id: str


class GivenTerminal(Struct, tag=True, frozen=True):
    """Sent with its master and its memory."""

    record: TerminalRecord


class GivenAll(Struct, tag=True, frozen=True):
    events: list[LoginEvent]


Given = GivenControl | GivenEnvironment | GivenTerminal | GivenAll
decoder: msgspec.msgpack.Decoder[Given] = msgspec.msgpack.Decoder(Given)


class Inheritance:
    """The state received from the old gateway."""

    def __init__(self) -> None:
        self.control: socket.socket | None = None
        self.environments: dict[str, Inherited] = {}
        self.terminals: list[tuple[TerminalRecord, tuple[int, int]]] = []
        self.events: list[LoginEvent] = []


async def give(channel: Channel, gateway: Gateway, control: socket.socket) -> None:
    """In the old process: hand over everything. It serves nothing afterwards, even if the new process died."""
    environments = gateway.hand_over()
    try:
        await channel.send(encode(GivenControl()), (control.fileno(),))
        for id, (port, waiters) in environments.items():
            await channel.send(encode(GivenEnvironment(id)), (port.fileno(), waiters.fileno()))
        for terminal in gateway.terminals.here.values():
            if terminal.master >= 0 and not terminal.ended.done():
                await channel.send(encode(GivenTerminal(terminal.record)), terminal.descriptors())
        await channel.send(encode(GivenAll(gateway.node.logins.waiting())))
    finally:
        control.close()
        for listeners in environments.values():
            for listener in listeners:
                listener.close()
        for terminal in gateway.terminals.here.values():
            terminal.let_go()
        channel.close()


async def take(root: Path) -> Inheritance:
    """In the new process: receive everything. Raises OSError if no gateway answers."""
    channel = Channel(protocol.connect(root))
    found = Inheritance()
    try:
        await channel.send(encode(Envelope(0, protocol.HandOver())))
        while True:
            message, descriptors = await channel.receive()
            match decoder.decode(message):
                case GivenControl():
                    found.control = socket.socket(fileno=descriptors[0])
                case GivenEnvironment(id):
                    port, waiters = (socket.socket(fileno=descriptor) for descriptor in descriptors)
                    found.environments[id] = port, waiters
                case GivenTerminal(record):
                    master, *memory = descriptors  # a gateway of an earlier release sends no memory
                    found.terminals.append((record, (master, memory[0] if memory else os.memfd_create("terminal"))))
                case GivenAll(events):
                    found.events = events
                    return found
    finally:
        channel.close()
