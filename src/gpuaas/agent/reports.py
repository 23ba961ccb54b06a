"""What exists on the node, told whole: on a new link, after every change, and once more when it has settled."""

from collections.abc import Callable
from datetime import datetime, timedelta

from gpuaas.agent.outgoing import Outgoing
from gpuaas.engines.base import Engine
from gpuaas.wire.link import Report

TELL_AGAIN_AFTER = timedelta(seconds=5)
LOOKS = 3  # how often an observation is made again because a task ended meanwhile


class Reports:
    """A look is one pass. What was told is forgotten with the link, so that the next one hears all of it again."""

    def __init__(self, engine: Engine, outgoing: Outgoing, now: Callable[[], datetime]) -> None:
        self._engine, self._outgoing, self._now = engine, outgoing, now
        self._told: Report | None = None
        self._is_told_twice = False

    def forget(self) -> None:
        self._told = None

    async def look(self, tasks_ended: Callable[[], int]) -> None:
        """What was seen while a task ended is looked at again, so that an older sight does not follow a newer result;
        `at` is the moment before looking."""
        if not self._outgoing.is_open:
            return
        for _ in range(LOOKS):
            at, ended = self._now(), tasks_ended()
            seen = sorted(await self._engine.observe(), key=lambda one: one.allocation_id)
            if ended == tasks_ended():
                break
        self._tell(Report(environments=seen, at=at))

    def _tell(self, report: Report) -> None:
        """Every change, and once more when it has settled: a server may find the first telling too fresh to judge."""
        told = self._told
        is_news = told is None or told.environments != report.environments
        is_settled = told is not None and not self._is_told_twice and report.at - told.at >= TELL_AGAIN_AFTER
        if (is_news or is_settled) and self._outgoing.put(report):
            self._told, self._is_told_twice = report, not is_news
