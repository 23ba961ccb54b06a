"""Detects the end of lxcfs, restarts it, and mounts its files in running environments.

An environment whose files could not be replaced has broken resource views until it restarts: reading them fails. Stale
files are detected in the kernel's mount tables, not by accessing lxcfs, so that a hanging lxcfs does not block.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime

import structlog

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands, processes
from gpuaas.engines.oci import view_process
from gpuaas.engines.oci.views import Lxcfs, stale_views
from gpuaas.engines.storage.mount_lines import TableTooLargeError, read_table
from gpuaas.wire.environments import Fact

LOOK_SECONDS, AGAIN_SECONDS = 10.0, 0.5
SOURCE = "the process of lxcfs and the mount tables of environments"
log = structlog.get_logger()


class ViewKeeper:
    """One per engine. `pids` has the running pid 1 of each environment."""

    def __init__(self, lxcfs: Lxcfs, clock: Callable[[], datetime]) -> None:
        self._lxcfs, self._clock = lxcfs, clock
        self._pids: Callable[[], Mapping[str, int]] = dict
        self._keeping: asyncio.Task[None] | None = None
        self._deaths, self._last, self._renewed, self._problem = 0, "", 0, ""
        self._is_down = False

    def begin(self, pids: Callable[[], Mapping[str, int]]) -> None:
        self._pids = pids
        self._keeping = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Called before lxcfs is stopped on purpose."""
        keeping, self._keeping = self._keeping, None
        if keeping is not None:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping

    async def _keep(self) -> None:
        """Run until cancelled: immediately when lxcfs ends, and periodically for environments that were booting."""
        while True:
            try:
                await self.look()
            except (EngineError, OSError) as error:
                self._problem = error.detail if isinstance(error, EngineError) else repr(error)
                log.warning("views.look_failed", error=repr(error))
                await asyncio.sleep(LOOK_SECONDS)
            pid = self._lxcfs.pid()
            if pid is None:
                await asyncio.sleep(AGAIN_SECONDS)  # it ended during the check
            else:
                await processes.gone(pid, LOOK_SECONDS)

    async def look(self) -> None:
        """One pass: ensure that lxcfs runs and every environment has its files."""
        await self.revive()
        self._problem = ""
        for id, pid in self._pids().items():
            if names := await asyncio.to_thread(self.broken, pid):
                await self._renew(id, pid, names)

    async def revive(self) -> None:
        """Ensure that lxcfs runs for the next boot. A death is counted once, even after failed restarts."""
        if self._lxcfs.pid() is None:
            if not self._is_down:
                self._deaths, self._last = self._deaths + 1, f"{self._clock():%Y-%m-%d %H:%M:%S} UTC"
                log.warning("lxcfs.ended", times=self._deaths)
            self._is_down = True
            await self._lxcfs.ensure()
        self._is_down = False

    def broken(self, pid: int) -> list[str]:
        """Stale files of an environment, whose lxcfs has ended. An environment with a too large mount table is observed
        as unknown and must not block others."""
        try:
            table = read_table(f"/proc/{pid}/mountinfo")
        except (FileNotFoundError, ProcessLookupError, TableTooLargeError):
            return []
        return stale_views(table, self._lxcfs.device())

    async def _renew(self, id: str, pid: int, names: list[str]) -> None:
        words = (str(pid), processes.born(pid), str(self._lxcfs.mount), *names)
        renewing = commands.ours(view_process.__file__, *words)
        code, said = await commands.attempt(*renewing, environment=commands.FOR_OURS)
        if code == 0:
            self._renewed += 1
            log.info("views.renewed", environment=id)
        else:
            log.warning("views.not_renewed", environment=id, said=said[-500:])

    @property
    def has_changed(self) -> bool:
        """Counts since the agent started."""
        return bool(self._deaths or self._problem)

    def fact(self) -> Fact:
        """A description for operators."""
        if not self._deaths:
            why = f": {self._problem}" if self._problem else ""
            return Fact(value=f"lxcfs does not run{why}" if self._lxcfs.pid() is None else "lxcfs", source=SOURCE)
        left = sum(bool(self.broken(pid)) for pid in self._pids().values())
        times = f"{self._deaths} time{'s' * (self._deaths > 1)}"
        value = (
            f"lxcfs ended unexpectedly {times} since the agent started, noticed last at {self._last}; "
            f"environments with renewed views: {self._renewed}, with broken views: {left}"
        )
        return Fact(value=f"{value}; it does not start: {self._problem}" if self._problem else value, source=SOURCE)
