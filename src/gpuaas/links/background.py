"""Background work for single links, as asyncio tasks, so that a link that does not read delays no other."""

import asyncio
from collections.abc import Coroutine

import structlog

log = structlog.get_logger()


class BackgroundTasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("link.background_task_failed", exc_info=error)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()
