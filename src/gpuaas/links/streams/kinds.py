"""The interface of the server's file of a stream kind, and the registry of kinds."""

from collections.abc import Iterator
from typing import Protocol

from gpuaas.wire.streams import StreamKind, T, refusal_of


class UnknownStreamKindError(Exception):
    """No file of this server serves streams of the kind."""


class NamedKind(Protocol):
    """A kind without its target's type, as the registry needs it."""

    @property
    def name(self) -> str: ...


class ServerStreams(Protocol):
    """The streams of one kind on this replica: who may open one, and what they are joined to here."""

    @property
    def kind(self) -> NamedKind: ...

    async def run(self) -> None:
        """The background loop of the kind, until cancelled."""


class ServerStreamKinds:
    def __init__(self) -> None:
        self._by_name: dict[str, ServerStreams] = {}

    def register(self, streams: ServerStreams) -> None:
        name = streams.kind.name
        if name in self._by_name:
            raise ValueError(f"the stream kind {name!r} is already registered")
        self._by_name[name] = streams

    def check(self, kind: StreamKind[T]) -> None:
        if kind.name not in self._by_name:
            raise UnknownStreamKindError(refusal_of(kind.name, self._by_name))

    def __iter__(self) -> Iterator[ServerStreams]:
        return iter(self._by_name.values())
