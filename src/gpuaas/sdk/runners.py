"""The two ways to run a request: now, or when awaited. Both have the same lines; the decisions are made elsewhere."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, closing
from typing import TypeVar

import httpx

from gpuaas.sdk.errors import Unreachable
from gpuaas.sdk.exchange import Exchange, read
from gpuaas.sdk.following import Following
from gpuaas.sdk.requests import Repeat, Request, Wait, Watch, page_after
from gpuaas.sdk.waiting import Deadline, end_of
from gpuaas.wire.common import Page

T = TypeVar("T")


class SyncRunner:
    """Runs requests on the calling thread."""

    def __init__(self, exchange: Exchange, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._exchange, self._sleep = exchange, sleep
        self._http = httpx.Client(verify=exchange.verify, trust_env=exchange.trust_env)

    def close(self) -> None:
        self._http.close()

    def run(self, request: Request[T]) -> T:
        """Send until there is an answer worth having."""
        sent, retries, failures = self._exchange.prepare(request), self._exchange.options.retries, 0
        while True:
            failures += 1
            try:
                response = self._http.send(sent)
            except httpx.TransportError as error:
                delay = retries.after_silence(failures)
                if delay is None or request.repeat is Repeat.NEVER:
                    raise unreachable(sent, error) from error
            else:
                delay = retries.after_answer(response, failures)
                if delay is None or request.repeat is Repeat.NEVER:
                    return read(request, response)
            self._sleep(delay)

    def walk(self, request: Request[Page[T]]) -> Iterator[T]:
        """Every item of every page; the next page is fetched when it is reached."""
        page = self.run(request)
        yield from page.items
        while page.next_cursor is not None:
            page = self.run(page_after(request, page.next_cursor))
            yield from page.items

    def follow(self, request: Request[T]) -> Generator[T, None, None]:
        """Entries or lines as they come, over broken connections, until there are no more or the caller stops."""
        with closing(self._listen(Following(self._exchange, request))) as batches:
            for batch in batches:
                for entry in batch:
                    if entry is not None:
                        yield entry

    def watch(self, watch: Watch[T]) -> Generator[T, None, None]:
        """The thing now, and again whenever it may have changed; ends when it is settled."""
        with closing(self._listen(Following(self._exchange, watch.events, is_patient=True))) as batches:
            for batch in batches:
                if any(entry is None or watch.concerns(entry) for entry in batch):
                    thing = self.run(watch.look)
                    yield thing
                    if watch.is_settled(thing):
                        return

    def wait(self, wait: Wait[T]) -> T:
        deadline = Deadline(wait.timeout)
        with closing(self.watch(wait.watch)) as things:
            for thing in things:
                if wait.watch.is_settled(thing):
                    return end_of(wait, thing)
                deadline.check()
        raise AssertionError("a watch ends only when it is settled")

    def _listen(self, following: Following[T]) -> Generator[list[T | None], None, None]:
        """Batches of events; None when the stream opened, sent a heartbeat, fell silent or failed."""
        while not following.is_done:
            sent = following.next_request()
            try:
                response = self._http.send(sent, stream=True)
                try:
                    if not response.is_success:
                        response.read()
                    following.opened(response)
                    yield [None]
                    if response.is_success:
                        for chunk in response.iter_bytes():
                            yield following.feed(chunk)
                finally:
                    response.close()
            except httpx.TransportError as error:
                following.broke(unreachable(sent, error))
                yield [None]
            if not following.is_done:
                self._sleep(following.delay())


class AsyncRunner:
    """Runs requests on an event loop."""

    def __init__(self, exchange: Exchange, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._exchange, self._sleep = exchange, sleep
        self._http = httpx.AsyncClient(verify=exchange.verify, trust_env=exchange.trust_env)

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, request: Request[T]) -> T:
        """Send until there is an answer worth having."""
        sent, retries, failures = self._exchange.prepare(request), self._exchange.options.retries, 0
        while True:
            failures += 1
            try:
                response = await self._http.send(sent)
            except httpx.TransportError as error:
                delay = retries.after_silence(failures)
                if delay is None or request.repeat is Repeat.NEVER:
                    raise unreachable(sent, error) from error
            else:
                delay = retries.after_answer(response, failures)
                if delay is None or request.repeat is Repeat.NEVER:
                    return read(request, response)
            await self._sleep(delay)

    async def walk(self, request: Request[Page[T]]) -> AsyncIterator[T]:
        """Every item of every page; the next page is fetched when it is reached."""
        page = await self.run(request)
        for item in page.items:
            yield item
        while page.next_cursor is not None:
            page = await self.run(page_after(request, page.next_cursor))
            for item in page.items:
                yield item

    async def follow(self, request: Request[T]) -> AsyncGenerator[T, None]:
        """Entries or lines as they come, over broken connections, until there are no more or the caller stops."""
        async with aclosing(self._listen(Following(self._exchange, request))) as batches:
            async for batch in batches:
                for entry in batch:
                    if entry is not None:
                        yield entry

    async def watch(self, watch: Watch[T]) -> AsyncGenerator[T, None]:
        """The thing now, and again whenever it may have changed; ends when it is settled."""
        async with aclosing(self._listen(Following(self._exchange, watch.events, is_patient=True))) as batches:
            async for batch in batches:
                if any(entry is None or watch.concerns(entry) for entry in batch):
                    thing = await self.run(watch.look)
                    yield thing
                    if watch.is_settled(thing):
                        return

    async def wait(self, wait: Wait[T]) -> T:
        deadline = Deadline(wait.timeout)
        async with aclosing(self.watch(wait.watch)) as things:
            async for thing in things:
                if wait.watch.is_settled(thing):
                    return end_of(wait, thing)
                deadline.check()
        raise AssertionError("a watch ends only when it is settled")

    async def _listen(self, following: Following[T]) -> AsyncGenerator[list[T | None], None]:
        """Batches of events; None when the stream opened, sent a heartbeat, fell silent or failed."""
        while not following.is_done:
            sent = following.next_request()
            try:
                response = await self._http.send(sent, stream=True)
                try:
                    if not response.is_success:
                        await response.aread()
                    following.opened(response)
                    yield [None]
                    if response.is_success:
                        async for chunk in response.aiter_bytes():
                            yield following.feed(chunk)
                finally:
                    await response.aclose()
            except httpx.TransportError as error:
                following.broke(unreachable(sent, error))
                yield [None]
            if not following.is_done:
                await self._sleep(following.delay())


Runner = SyncRunner | AsyncRunner


def unreachable(sent: httpx.Request, error: httpx.TransportError) -> Unreachable:
    """Only the origin is named: a path may hold names that a log should not."""
    origin = f"{sent.url.scheme}://{sent.url.netloc.decode()}"
    return Unreachable(f"{origin} does not answer: {str(error) or type(error).__name__}")
