"""Processes that end with the process that started them."""

import asyncio
import ctypes
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import typer

PR_SET_PDEATHSIG = 1
RESTART_SECONDS = 1.0
STOP_SECONDS = 20.0
LOOK_SECONDS = 60.0
LOG_BYTES = 10 << 20  # and as much of an old log
QUICK_SECONDS, MOST_QUICK_ENDS = 10.0, 3
LAST_WORDS = 5


def die_with_parent(parent: int | None) -> None:
    """From now on the kernel ends this process when its parent ends, for whatever reason."""
    if parent is None:
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent had already ended
        sys.exit(1)


class Child:
    """A child process that is started again when it ends without a request, until it is stopped."""

    def __init__(self, name: str, command: Sequence[str], log: Path, environ: Mapping[str, str]) -> None:
        self.name, self.log = name, log
        self._command, self._environ = command, environ
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._quick_ends = 0

    @property
    def is_crash_looping(self) -> bool:
        """It ended right after its start several times, or could not be started."""
        return self._quick_ends >= MOST_QUICK_ENDS or (self._task is not None and self._task.done())

    def last_words(self) -> tuple[str, ...]:
        return read_last_words(self.log)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Also stops a process that is being started."""
        self._stopping.set()
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while not self._stopping.is_set():
            keep_small(self.log)
            with self.log.open("ab") as out:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env={**os.environ, **self._environ},
                    start_new_session=True,  # Ctrl-C is for this process, which stops the children in order
                )
            began = time.monotonic()
            code = await self._until_end(process)
            if not self._stopping.is_set():
                self._quick_ends = self._quick_ends + 1 if time.monotonic() - began < QUICK_SECONDS else 0
                typer.echo(f"{self.name} ended with {code}; starting it again (see {self.log})", err=True)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), RESTART_SECONDS)

    async def _until_end(self, process: asyncio.subprocess.Process) -> int:
        ended, stopping = asyncio.create_task(process.wait()), asyncio.create_task(self._stopping.wait())
        while not ended.done() and not stopping.done():
            await asyncio.wait({ended, stopping}, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            keep_small(self.log)
        stopping.cancel()
        with suppress(ProcessLookupError):  # it has already ended
            if not ended.done():
                process.terminate()
            await asyncio.wait({ended}, timeout=STOP_SECONDS)
            if not ended.done():
                process.kill()
        return await ended


def read_last_words(log: Path) -> tuple[str, ...]:
    text = log.read_text(errors="replace") if log.exists() else ""
    return tuple(line for line in text.splitlines() if line.strip())[-LAST_WORDS:]


def keep_small(log: Path) -> None:
    """Move a log that grew too long to the old one. Its writer appends, so it continues in the emptied file."""
    if log.exists() and log.stat().st_size > LOG_BYTES:
        shutil.copyfile(log, log.with_suffix(".log.old"))
        os.truncate(log, 0)
