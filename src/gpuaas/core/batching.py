"""Batches concurrent requests into one database round trip."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from gpuaas.core.db import is_away

A = TypeVar("A")
R = TypeVar("R")


class Batcher(Generic[A, R]):
    """Requests that arrive during a round trip join the next batch, in order.

    If one request makes a batch fail, the batch is split in halves until that request fails alone. If the database is
    unavailable, the whole batch fails.
    """

    def __init__(self, answer: Callable[[list[A]], Awaitable[list[R]]], *, most: int) -> None:
        self._answer, self._most = answer, most
        self._waiting: list[tuple[A, asyncio.Future[R]]] = []
        self._running: asyncio.Task[None] | None = None

    async def submit(self, request: A) -> R:
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answer))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            await self._answer_batch(batch)

    async def _answer_batch(self, batch: list[tuple[A, asyncio.Future[R]]]) -> None:
        try:
            answers = await self._answer([request for request, _ in batch])
        except Exception as error:  # noqa: BLE001  # house: broad-except because its requester gets it
            if len(batch) > 1 and not is_away(error):
                middle = len(batch) // 2
                await self._answer_batch(batch[:middle])
                await self._answer_batch(batch[middle:])
                return
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():  # the requester was cancelled
                    future.set_result(answer)
