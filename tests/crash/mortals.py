"""Processes of ours that may die: started again at once when they do, as any supervisor would."""

import asyncio
import itertools
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncssh

from tests.patience import PATIENCE_SECONDS

STOP_SECONDS = PATIENCE_SECONDS
MOST_DEATHS_UNASKED = 3
LONGEST_PAUSE = 0.2
UNREACHED = (OSError, TimeoutError, asyncssh.Error)  # what SSH raises while nobody is let in


async def until(check: Callable[[], Awaitable[str]], seconds: float) -> str:
    """Look again and again, ever less often, until nothing is missing; what still is when time is up."""
    began = time.monotonic()
    while missing := await _look(check):
        waited = time.monotonic() - began
        if waited > seconds:
            return missing
        await asyncio.sleep(min(LONGEST_PAUSE, 0.03 + waited / 10))
    return ""


async def _look(check: Callable[[], Awaitable[str]]) -> str:
    """Who dies takes along whoever was let in by them, also those that look."""
    try:
        return await check()
    except UNREACHED as error:
        return repr(error)


class Orders:
    """The folder in which a process finds what to do at its points; see core/points.py."""

    log: Path

    def __init__(self, folder: Path, name: str) -> None:
        self._orders = folder / f"{name}-orders"
        self._orders.mkdir()
        self._serial = itertools.count(1)

    @property
    def variable(self) -> str:
        return f"orders:{self._orders}"

    def note(self) -> None:
        (self._orders / "passed").unlink(missing_ok=True)
        self._give("note")

    def die(self, nth: int, point: str) -> None:
        (self._orders / "died").unlink(missing_ok=True)
        self._give(f"die {nth} {point}")

    def live(self) -> None:
        (self._orders / "order").unlink(missing_ok=True)

    def _give(self, what: str) -> None:
        draft = self._orders / "draft"
        draft.write_text(f"{next(self._serial)} {what}")
        draft.rename(self._orders / "order")

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else "(never started)"

    @property
    def passed(self) -> list[str]:
        try:
            return (self._orders / "passed").read_text().splitlines()
        except FileNotFoundError:
            return []

    @property
    def last_words(self) -> str:
        """The order it died by; empty while it lives."""
        try:
            return (self._orders / "died").read_text()
        except FileNotFoundError:
            return ""


class Mortal(Orders):
    """One `gpuaas` process."""

    def __init__(self, name: str, arguments: list[str], folder: Path, environ: dict[str, str]) -> None:
        super().__init__(folder, name)
        self.name, self._arguments = name, arguments
        self._environ = {**os.environ, **environ, "GPUAAS_POINTS": self.variable}
        self.log = folder / f"{name}.log"
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.deaths, self.started_at = 0, 0.0

    async def start(self) -> None:
        await self._spawn()
        self._keeper = asyncio.create_task(self._keep())

    async def _spawn(self) -> None:
        with self.log.open("ab") as out:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "gpuaas.main", *self._arguments, "--with-parent", str(os.getpid())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self._environ,
                start_new_session=True,
            )
        self.started_at = time.monotonic()

    async def _keep(self) -> None:
        """The supervisor: a death by order is what we are here for; others are few or something is broken."""
        unasked = 0
        while unasked < MOST_DEATHS_UNASKED:
            assert self._process is not None
            code = await self._process.wait()
            unasked += code != -signal.SIGKILL or not self.last_words
            self.deaths += 1
            await self._spawn()

    async def stop(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class Ward(Orders):
    """A process that another one starts, and starts again: the SSH gateway. It leaves a note when it dies by order."""

    def __init__(self, name: str, folder: Path, log: Path) -> None:
        super().__init__(folder, name)
        self.name, self.log, self._before = name, log, 0

    def die(self, nth: int, point: str) -> None:
        self._before = self.deaths
        super().die(nth, point)

    @property
    def deaths(self) -> int:
        return self._before + bool(self.last_words)

    @property
    def started_at(self) -> float:
        """About then: whoever starts it notices the death at once."""
        died = self._orders / "died"
        return time.monotonic() - (time.time() - died.stat().st_ctime) if died.exists() else 0.0
