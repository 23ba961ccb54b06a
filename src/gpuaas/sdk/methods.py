"""How a described request becomes a method of both clients.

A method of a resource returns a description of its request, and the decorators below run it. On `Client` the result is
the answer; on `AsyncClient` it is something to await or to iterate with `async for`. Type checkers see which.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from gpuaas.sdk.requests import Request, Wait, Watch
from gpuaas.sdk.runners import AsyncRunner, Runner, SyncRunner
from gpuaas.wire.common import Page

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")
R_co = TypeVar("R_co", bound=Runner, covariant=True)


class Resource(Generic[R_co]):
    """One group of routes, bound to the runner of its client."""

    def __init__(self, runner: R_co) -> None:
        self._runner = runner


class Method(Generic[P, D]):
    """A description, and the name of what a runner does with it."""

    verb: str

    def __init__(self, describe: Callable[Concatenate[Any, P], D]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    def bind(self, resource: Resource[Runner]) -> Callable[P, Any]:
        act = getattr(resource._runner, self.verb)  # noqa: SLF001 - a resource and its methods belong together

        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return act(self._describe(resource, *args, **kwargs))

        return update_wrapper(method, self._describe)


class Call(Method[P, Request[T]]):
    """One request, one answer."""

    verb = "run"

    @overload
    def __get__(self, resource: Resource[SyncRunner], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, resource: Resource[AsyncRunner], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Resource[Runner], owner: type) -> Callable[P, Any]:
        return self.bind(resource)


class Listing(Method[P, Request[Page[T]]]):
    """Every item, page after page; `limit` is the size of a page."""

    verb = "walk"

    @overload
    def __get__(self, resource: Resource[SyncRunner], owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, resource: Resource[AsyncRunner], owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, resource: Resource[Runner], owner: type) -> Callable[P, Any]:
        return self.bind(resource)


class Following(Method[P, Request[T]]):
    """Timeline entries as they happen, or lines of a log."""

    verb = "follow"

    @overload
    def __get__(self, resource: Resource[SyncRunner], owner: type) -> Callable[P, Generator[T, None, None]]: ...
    @overload
    def __get__(self, resource: Resource[AsyncRunner], owner: type) -> Callable[P, AsyncGenerator[T, None]]: ...
    def __get__(self, resource: Resource[Runner], owner: type) -> Callable[P, Any]:
        return self.bind(resource)


class Watching(Method[P, Watch[T]]):
    """A thing, again and again, until it is settled."""

    verb = "watch"

    @overload
    def __get__(self, resource: Resource[SyncRunner], owner: type) -> Callable[P, Generator[T, None, None]]: ...
    @overload
    def __get__(self, resource: Resource[AsyncRunner], owner: type) -> Callable[P, AsyncGenerator[T, None]]: ...
    def __get__(self, resource: Resource[Runner], owner: type) -> Callable[P, Any]:
        return self.bind(resource)


class Waiting(Method[P, Wait[T]]):
    """A thing, once it is settled; `WaitFailed` when it settled elsewhere."""

    verb = "wait"

    @overload
    def __get__(self, resource: Resource[SyncRunner], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, resource: Resource[AsyncRunner], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Resource[Runner], owner: type) -> Callable[P, Any]:
        return self.bind(resource)
