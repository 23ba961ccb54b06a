"""Reports all environments of the node: on a new link, after every change, and again when nothing has changed since."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog
from msgspec.structs import replace

from gpuaas.agent.outgoing import Outgoing
from gpuaas.engines.base import Engine, EngineError
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.images import ImageReport
from gpuaas.wire.link import Report

TELL_AGAIN_AFTER = timedelta(seconds=5)
OBSERVE_SECONDS = 30.0
SEEN_ONCE = "it was seen stopped once, and the next check decides"
LOOKS = 3  # how often an observation is repeated because a task ended during it

log = structlog.get_logger()


def unknown(seen: Environment, reason: str) -> Environment:
    """The same environment without any claim about its current state."""
    return replace(seen, state=EnvironmentState.UNKNOWN, detail=reason, isolation=None, mounts=(), own_keys=None)


class Reports:
    """`look` is one pass. On a new link everything is sent again.

    The server restarts an environment that is reported stopped, so `stopped` must be certain: two checks in a row saw
    it. An environment that was seen stopped once, and every environment after a failed check, is reported unknown.
    """

    def __init__(
        self,
        engine: Engine,
        outgoing: Outgoing,
        now: Callable[[], datetime],
        observe_seconds: float = OBSERVE_SECONDS,
    ) -> None:
        self._observe_seconds = observe_seconds
        self._engine, self._outgoing, self._now = engine, outgoing, now
        self._told: Report | None = None
        self._told_image: ImageReport | None = None
        self._is_told_twice = False
        self._seen: list[Environment] | None = None  # by the last check that did not fail
        self._failure = ""  # of the last check, logged once
        self._stopped: set[tuple[str, int]] = set()  # of that check, by allocation and boot
        self.is_unconfirmed = False

    def forget(self) -> None:
        self._told = self._told_image = None

    async def look(self, tasks_ended: Callable[[], int]) -> None:
        """An observation during which a task ended is repeated, so that an older state does not follow a newer
        result. `at` is the time before the observation.
        """
        if not self._outgoing.is_open:
            return
        for _ in range(LOOKS):
            at, ended = self._now(), tasks_ended()
            seen = await self._observe()
            if ended == tasks_ended():
                break
        if seen is not None:
            self._tell(Report(environments=self._confirmed(seen), at=at))
        image = ImageReport(image=await self._engine.images.report())
        if image != self._told_image and self._outgoing.put(image):
            self._told_image = image

    async def _observe(self) -> list[Environment] | None:
        """None if nothing is known."""
        try:
            async with asyncio.timeout(self._observe_seconds):
                found = sorted(await self._engine.observe(), key=lambda one: one.allocation_id)
        except (EngineError, OSError) as error:  # TimeoutError is an OSError
            if repr(error) != self._failure:
                log.warning("observe.failed", error=repr(error))
            self._failure = repr(error)
            reason = error.reason if isinstance(error, EngineError) else f"the check failed: {type(error).__name__}"
            return [unknown(one, reason) for one in self._seen] if self._seen is not None else None
        self._seen, self._failure = found, ""
        return found

    def _confirmed(self, seen: list[Environment]) -> list[Environment]:
        earlier = self._stopped
        self._stopped = {(one.allocation_id, one.boot) for one in seen if one.state is EnvironmentState.STOPPED}
        self.is_unconfirmed = bool(self._stopped - earlier)
        return [
            unknown(one, SEEN_ONCE) if (one.allocation_id, one.boot) in self._stopped - earlier else one for one in seen
        ]

    def _tell(self, report: Report) -> None:
        """Send every change, and once more when nothing has changed since: the first report may be too fresh for the
        server to judge.
        """
        told = self._told
        is_news = told is None or told.environments != report.environments
        is_settled = told is not None and not self._is_told_twice and report.at - told.at >= TELL_AGAIN_AFTER
        if (is_news or is_settled) and self._outgoing.put(report):
            self._told, self._is_told_twice = report, not is_news
