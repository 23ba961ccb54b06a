"""Watches child and adopted processes by pidfd, never by pid alone."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from gpuaas.gateway import kernel

TRIES, PAUSE_SECONDS = 25, 0.01


class WatchedProcess:
    """`on_end` is called once with the exit code: negative for a signal, None if the kernel does not report it."""

    def __init__(self, pid: int, pidfd: int, born: str, on_end: Callable[[int | None], None]) -> None:
        self.pid, self.pidfd, self.born = pid, pidfd, born
        self._on_end, self._tries = on_end, TRIES
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(pidfd, self._end)

    def signal(self, number: int) -> None:
        if not self.ended.done():
            kernel.signal_process(self.pidfd, number)

    def signal_group(self, number: int) -> None:
        """Kill its process group. The process is not reaped yet, so its pid is not reused."""
        if not self.ended.done() and kernel.birth_of(self.pid) == self.born:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def forget(self) -> None:
        """Stop watching; another gateway takes over."""
        if not self.ended.done():
            asyncio.get_running_loop().remove_reader(self.pidfd)
            self.ended.set_result(None)
            os.close(self.pidfd)

    def _end(self) -> None:
        """Wait until the parent of an adopted process has reaped it, because the exit code is unknown before."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.pidfd)
        code = kernel.exit_code_of(self.pid, self.pidfd)
        if code is None and self._tries and not self.ended.done():
            self._tries -= 1
            loop.call_later(PAUSE_SECONDS, self._end)
            return
        if self.ended.done():
            return  # unwatched meanwhile
        os.close(self.pidfd)
        self.ended.set_result(code)
        self._on_end(code)
