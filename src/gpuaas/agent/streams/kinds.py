"""The interface of the agent's file of a stream kind, and the registry of kinds."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol

import msgspec

from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.server_time import ServerTime
from gpuaas.engines.base import Engine
from gpuaas.wire.streams import StreamKind, T, refusal_of


class StreamSocket(Protocol):
    """The agent's end of a stream: a socket to the replica that requested it."""

    async def send(self, message: bytes | str) -> None: ...
    async def recv(self) -> bytes | str: ...
    async def close(self, code: int = 1000, reason: str = "") -> None: ...


class StreamRefusedError(Exception):
    """The agent does not join this stream; the reason is sent to the replica that requested it."""


@dataclass(frozen=True)
class Node:
    """Parts of the agent that stream kinds may use."""

    engine: Engine
    outgoing: Outgoing
    server_time: ServerTime


class StreamsOfKind(Protocol):
    """The streams of one kind on this node, without the type of their target."""

    @property
    def name(self) -> str: ...

    async def serve_target(self, socket: StreamSocket, allocation_id: str, target: msgspec.Raw) -> None: ...

    async def take_over(self) -> None: ...

    def welcomed(self) -> None: ...

    def leave(self) -> None: ...


class AgentStreams(ABC, Generic[T]):
    """Base of the streams of one kind. The hooks other than `serve` do nothing unless a kind needs them."""

    def __init__(self, kind: StreamKind[T]) -> None:
        self._kind = kind

    @property
    def name(self) -> str:
        return self._kind.name

    async def serve_target(self, socket: StreamSocket, allocation_id: str, target: msgspec.Raw) -> None:
        try:
            decoded = self._kind.decode(target)
        except msgspec.MsgspecError as error:
            raise StreamRefusedError(f"the target of this {self.name} stream cannot be read: {error}") from error
        await self.serve(socket, allocation_id, decoded)

    @abstractmethod
    async def serve(self, socket: StreamSocket, allocation_id: str, target: T) -> None:
        """Serve until the stream ends. StreamRefusedError or EngineError: it cannot be joined."""

    async def take_over(self) -> None:
        """At the start of the agent, before its link opens: find what an earlier agent left."""

    def welcomed(self) -> None:
        """The link opened: report what the server needs."""

    def leave(self) -> None:
        """At the end of the agent, after its sockets: release what an engine keeps."""


class StreamKinds:
    def __init__(self, registered: Iterable[StreamsOfKind]) -> None:
        self._by_name: dict[str, StreamsOfKind] = {}
        for streams in registered:
            if streams.name in self._by_name:
                raise ValueError(f"the stream kind {streams.name!r} is already registered")
            self._by_name[streams.name] = streams

    def of(self, name: str) -> StreamsOfKind:
        if name not in self._by_name:
            raise StreamRefusedError(refusal_of(name, self._by_name))
        return self._by_name[name]

    def __iter__(self) -> Iterator[StreamsOfKind]:
        return iter(self._by_name.values())
