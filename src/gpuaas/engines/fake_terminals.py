"""Terminals of the fake engine: a shell that echoes its input and ends on `exit N`."""

import asyncio
import os
import re
import socket
from collections import defaultdict
from collections.abc import Callable

from gpuaas.engines.base import EngineError, EngineTerminal, TerminalEnd

EXIT = re.compile(rb"exit (\d+)")
LONGEST_LINE = 200
PROMPT = b"$ "


class FakeTerminal:
    """Echoes its input. `flood N` returns that many bytes, `stty size` the size."""

    memory = -1

    def __init__(self) -> None:
        ours, self._theirs = socket.socketpair()
        self.descriptor = ours.detach()
        os.set_blocking(self.descriptor, False)
        self._theirs.setblocking(False)
        self._size = (24, 80)
        self._end: asyncio.Future[TerminalEnd] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live())

    def resize(self, rows: int, cols: int) -> None:
        self._size = (rows, cols)

    async def ended(self) -> TerminalEnd:
        return await asyncio.shield(self._end)

    def end(self, reason: str) -> None:
        if not self._end.done():
            self._end.set_result(TerminalEnd(None, reason))

    def close(self) -> None:
        self._task.cancel()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def leave(self) -> None:
        """Terminals end with their process."""
        self.close()

    async def _live(self) -> None:
        loop, line = asyncio.get_running_loop(), b""
        try:
            await loop.sock_sendall(self._theirs, PROMPT)
            while data := await loop.sock_recv(self._theirs, 65_536):
                await loop.sock_sendall(self._theirs, data)
                *whole, line = (line + data).replace(b"\r", b"\n").split(b"\n")
                for each in whole:
                    if found := EXIT.fullmatch(each):
                        self._end.set_result(TerminalEnd(int(found[1])))
                        return
                    await self._answer(each)
                line = line[-LONGEST_LINE:]
        except OSError:
            return  # hung up
        finally:
            self._theirs.close()

    async def _answer(self, line: bytes) -> None:
        loop, words = asyncio.get_running_loop(), line.split()
        if words == [b"stty", b"size"]:
            await loop.sock_sendall(self._theirs, b"%d %d\n" % self._size)
        elif words[:1] == [b"flood"]:
            await loop.sock_sendall(self._theirs, bytes(range(256)) * (int(words[1]) // 256))


class FakeTerminals:
    def __init__(self, boot_of: Callable[[str], int | None]) -> None:
        self._boot_of = boot_of
        self._open: defaultdict[str, set[FakeTerminal]] = defaultdict(set)

    async def take_over(self) -> list[tuple[str, str, EngineTerminal]]:
        return []

    async def open(self, allocation_id: str, boot: int, name: str) -> FakeTerminal:  # noqa: ARG002 - none is kept
        if self._boot_of(allocation_id) != boot:
            raise EngineError("the environment is not running, or has restarted", f"{allocation_id} at boot {boot}")
        terminal = FakeTerminal()
        self._open[allocation_id].add(terminal)
        return terminal

    def end(self, allocation_id: str, reason: str) -> None:
        for terminal in self._open.pop(allocation_id, ()):
            terminal.end(reason)

    @property
    def count(self) -> int:
        return sum(terminal.descriptor >= 0 for open in self._open.values() for terminal in open)

    def end_all(self, reason: str) -> None:
        for id in list(self._open):
            self.end(id, reason)
