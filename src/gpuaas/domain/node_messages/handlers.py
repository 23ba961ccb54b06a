"""The registry that routes a node's messages: for each message type, the handler of the package that owns it.

The link server writes many messages in one transaction. It groups them by type and calls each handler once, so that a
handler can write them in one statement.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Generic, Protocol, TypeGuard, TypeVar

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.ids import Ids
from gpuaas.core.traces import Traces
from gpuaas.domain.node_messages.cleaning import clamped
from gpuaas.wire.link import Down

M = TypeVar("M", bound=Struct)
M_co = TypeVar("M_co", bound=Struct, covariant=True)


@dataclass(frozen=True, slots=True)
class Received(Generic[M_co]):
    """A message, and what is known of the link that brought it."""

    node_id: str
    message: M_co
    epoch: int
    task_key_generation: int  # the newest that the node trusts


@dataclass(frozen=True)
class Context:
    """Values that handlers need in addition to the transaction."""

    ids: Ids
    now: datetime
    traces: Traces


class Delivery(Enum):
    """The messages of a node, of one type, that one call of a handler receives."""

    ALL = "all"
    NEWEST = "newest"  # a message is the complete state, so older ones are dropped
    IN_TURN = "in turn"  # one message of each node; called again for the next


class AnyHandler(Protocol):
    """A handler without its type parameter, as the registry holds it."""

    @property
    def type(self) -> type[Struct]: ...
    @property
    def delivery(self) -> Delivery: ...
    @property
    def current_link_only(self) -> bool: ...
    @property
    def keeps_place(self) -> bool: ...
    @property
    def weight(self) -> int: ...

    def cleaned(self, message: Struct, now: datetime) -> Struct: ...
    async def write_all(self, tx: Tx, received: Sequence[Received[Struct]], context: Context) -> None: ...
    def answer_to(self, node_id: str, messages: Sequence[Struct]) -> Down | None: ...


@dataclass(frozen=True, kw_only=True)
class Handler(Generic[M]):
    """The handling of messages of one type."""

    type: type[M]
    write: Sequence[Callable[[Tx, Sequence[Received[M]], Context], Awaitable[None]]]  # called in this order
    clean: Callable[[M], M] | None = None  # bounds what `clamped` does not
    answer: Callable[[str, Sequence[M]], Down] | None = None  # after the commit: the message for the node
    delivery: Delivery = Delivery.ALL
    current_link_only: bool = True  # a replaced link's view of its node is outdated
    keeps_place: bool = False  # keeps its order relative to the other messages of its node
    weight: int = 0  # a transaction is named after its heaviest message; crash tests use the name

    def _is_mine(self, received: Received[Struct]) -> TypeGuard[Received[M]]:
        return isinstance(received.message, self.type)

    def cleaned(self, message: Struct, now: datetime) -> Struct:
        """A thief of a node's key must not write values that win every later comparison."""
        bounded = self.clean(message) if self.clean and isinstance(message, self.type) else message
        return clamped(bounded, now)

    async def write_all(self, tx: Tx, received: Sequence[Received[Struct]], context: Context) -> None:
        mine = [each for each in received if self._is_mine(each)]
        for write in self.write:
            await write(tx, mine, context)

    def answer_to(self, node_id: str, messages: Sequence[Struct]) -> Down | None:
        if self.answer is None:
            return None
        return self.answer(node_id, [each for each in messages if isinstance(each, self.type)])


class HandlerExistsError(Exception):
    """Two packages registered a handler for one message type."""


class Handlers:
    """In the order in which the types of one batch are written."""

    def __init__(self, handlers: Iterable[AnyHandler]) -> None:
        self._by_type: dict[type[Struct], AnyHandler] = {}
        for handler in handlers:
            if handler.type in self._by_type:
                raise HandlerExistsError(f"{handler.type.__name__} already has a handler")
            self._by_type[handler.type] = handler

    def __iter__(self) -> Iterator[AnyHandler]:
        return iter(self._by_type.values())

    def of(self, message: Struct) -> AnyHandler | None:
        return self._by_type.get(type(message))


class Buffer(Protocol):
    """Accepts messages of one type immediately, without a transaction or an answer, and writes them in its own loop."""

    @property
    def type(self) -> type[Struct]: ...

    def put(self, node_id: str, message: Struct) -> None: ...
    async def write(self) -> None: ...
    def forget(self) -> None: ...


@dataclass(frozen=True)
class Announcement:
    """A state that is sent to a linked node: when its link opens, and again after a hint on `topic` if it changed."""

    name: str
    topic: str  # its row ids are node ids
    read: Callable[[Tx, Sequence[str]], Awaitable[Mapping[str, Down]]]  # by node; every node gets one
