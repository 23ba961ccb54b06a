"""Streams: WebSockets that an agent opens to the replica that requested them.

A stream has a kind, which says to what it is joined on the node. `OpenStream` (wire/link.py) carries the kind's name
and its target to the agent. Each kind defines the messages on its socket; the first message of an agent may be
`StreamError` instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

STREAM_SUBPROTOCOL = "gpuaas.stream.v1"
UNAUTHORIZED = 4401  # close code for a wrong token or secret
T = TypeVar("T", bound=Struct)


@dataclass(frozen=True)
class StreamKind(Generic[T]):
    """Declared once for both ends: the name on the wire, and the struct that describes the target to the agent."""

    name: str
    target: type[T]

    def fields_of(self, target: T) -> Mapping[str, object]:
        """The target as stored in a row."""
        fields: Mapping[str, object] = msgspec.to_builtins(target)
        return fields

    def decode(self, target: msgspec.Raw) -> T:
        return msgspec.msgpack.decode(target, type=self.target)


class StreamError(Struct, frozen=True, kw_only=True, tag="error"):
    """The agent does not join the stream; the reason may be shown to people."""

    reason: str


def refusal_of(kind: str, known: Mapping[str, object]) -> str:
    """Why an unregistered kind cannot be served."""
    return f"streams of the kind {kind!r} are not known here; known kinds: {', '.join(sorted(known)) or 'none'}"
