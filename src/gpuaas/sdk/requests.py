"""A request as a value: what is sent and what comes back. Described once per route, run by either client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum, auto
from typing import Generic, TypeVar
from urllib.parse import quote

from msgspec import UNSET, Struct, UnsetType

from gpuaas.wire.common import Page
from gpuaas.wire.timeline import Entry

T = TypeVar("T")
Value = str | int | float | bool | date | datetime | None
Query = Mapping[str, Value]


class Repeat(Enum):
    """When a request whose answer was lost may be sent again."""

    FREELY = auto()  # it changes nothing
    WITH_KEY = auto()  # the server does it once per idempotency key
    NEVER = auto()  # the server ignores keys here: sign-up, login, logout


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """One exchange. A mutation without `idempotency_key` gets a fresh one when it is run."""

    method: str
    path: str
    answer: type[T]
    body: Struct | None = None
    query: Query = field(default_factory=dict)
    repeat: Repeat = Repeat.FREELY
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch(Generic[T]):
    """Look at a thing, and again whenever its events may concern it, until it is settled."""

    look: Request[T]
    events: Request[Entry]
    is_settled: Callable[[T], bool]
    concerns: Callable[[Entry], bool] = lambda _: True


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Generic[T]):
    """Watch to the end. `failure` says why that end is not the wanted one; None if it is."""

    watch: Watch[T]
    failure: Callable[[T], str | None]
    timeout: float | None = None


def path(*parts: str | int) -> str:
    """Ids and names come from people; none of them may reach into another path."""
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


def get(path: str, answer: type[T], /, **query: Value) -> Request[T]:
    return Request(method="GET", path=path, answer=answer, query=query)


def post(path: str, answer: type[T], body: Struct | None = None, *, key: str | None = None) -> Request[T]:
    return Request(method="POST", path=path, answer=answer, body=body, repeat=Repeat.WITH_KEY, idempotency_key=key)


def put(path: str, answer: type[T], body: Struct | None = None, *, key: str | None = None) -> Request[T]:
    return Request(method="PUT", path=path, answer=answer, body=body, repeat=Repeat.WITH_KEY, idempotency_key=key)


def patch(path: str, answer: type[T], body: Struct | None = None, *, key: str | None = None) -> Request[T]:
    return Request(method="PATCH", path=path, answer=answer, body=body, repeat=Repeat.WITH_KEY, idempotency_key=key)


def delete(path: str, answer: type[T], key: str | None = None, /, **query: Value) -> Request[T]:
    return Request(method="DELETE", path=path, answer=answer, query=query, repeat=Repeat.WITH_KEY, idempotency_key=key)


def once(request: Request[T]) -> Request[T]:
    """The server ignores idempotency keys here, so a lost answer is not asked for again."""
    return replace(request, repeat=Repeat.NEVER)


def only_read(request: Request[T]) -> Request[T]:
    """It changes nothing although it is a POST."""
    return replace(request, repeat=Repeat.FREELY)


def given(value: T | UnsetType | None) -> T | UnsetType:
    """For a field that cannot be null: `None` leaves it out of the body."""
    return UNSET if value is None else value


def page_after(request: Request[Page[T]], cursor: str) -> Request[Page[T]]:
    return replace(request, query={**request.query, "cursor": cursor})
