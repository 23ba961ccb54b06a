"""Terminals for the agent: a login shell each, on a terminal of the environment's own devpts that pid 1 opened."""

import asyncio
import fcntl
import os
import struct
import termios
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from gpuaas.engines.base import EngineError, TerminalEnd
from gpuaas.engines.descriptors import Descriptors, Share
from gpuaas.engines.sandbox.inside import Inside, Process
from gpuaas.engines.sandbox.sessions import shell

PER_ENVIRONMENT = 128
TERMINAL_DESCRIPTORS = 4  # the line to pid 1, the terminal, and the stream to the server
FIRST_SIZE = (24, 80, 0, 0)  # rows, columns, pixels; a reader says better at once
VARIABLES = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


class SandboxTerminal:
    def __init__(self, process: Process, share: Share) -> None:
        self._process, self._share = process, share
        share.belongs_to(self)
        self.descriptor = process.descriptors[0]
        os.set_blocking(self.descriptor, False)
        self._end: asyncio.Future[TerminalEnd] = asyncio.get_running_loop().create_future()
        self._watch = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        code = await self._process.wait()
        if not self._end.done():
            self._end.set_result(TerminalEnd(code))

    def resize(self, rows: int, cols: int) -> None:
        if self.descriptor >= 0:
            fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def ended(self) -> TerminalEnd:
        return await asyncio.shield(self._end)

    def end(self, reason: str) -> None:
        if not self._end.done():
            self._end.set_result(TerminalEnd(None, reason))

    def close(self) -> None:
        self._watch.cancel()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
            self._process.close()
            self._share.give_back()


class SandboxTerminals:
    """Of all environments of an engine. `find` tells the way into one that runs, with its boot."""

    def __init__(self, find: Callable[[str], tuple[Inside, int] | None], descriptors: Descriptors) -> None:
        self._find, self._descriptors = find, descriptors
        self._open: defaultdict[str, set[SandboxTerminal]] = defaultdict(set)

    async def open(self, allocation_id: str, boot: int) -> SandboxTerminal:
        found = self._find(allocation_id)
        if found is None or found[1] != boot:
            raise EngineError("the environment is not running, or has restarted", f"{allocation_id} at boot {boot}")
        mine = self._open[allocation_id]
        mine -= {terminal for terminal in mine if terminal.descriptor < 0}
        if len(mine) >= PER_ENVIRONMENT:
            raise EngineError(f"a machine has {PER_ENVIRONMENT} terminals at most: end one first", allocation_id)
        share = self._descriptors.take(TERMINAL_DESCRIPTORS)
        if share is None:
            raise EngineError("the node has too many connections: close some, or try again later", allocation_id)
        path = shell()
        try:
            process = await found[0].run(path, [f"-{Path(path).name}"], VARIABLES, terminal=FIRST_SIZE)
        except BaseException:
            share.give_back()
            raise
        terminal = SandboxTerminal(process, share)
        mine.add(terminal)
        return terminal

    def end(self, allocation_id: str, reason: str) -> None:
        """Each is told why before its environment goes."""
        for terminal in self._open.pop(allocation_id, ()):
            terminal.end(reason)
