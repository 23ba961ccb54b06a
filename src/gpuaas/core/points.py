"""Crash points: every commit and every external call passes one, before and after its effect.

In production, a point costs one call of an empty method. The crash harness sets a folder instead. An order in this
folder makes the process record every point that it passes, or end itself at one of them, identified by its name and
the number of passes since the order. So the list of points comes from running the code, and concurrent activity does
not change the numbers. Audit events of the interpreter report calls that change files, processes or sockets.
"""

import asyncio
import inspect
import os
import signal
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Protocol

CALLS = {
    *("os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.chmod", "os.chown", "os.symlink", "os.link", "os.kill"),
    *("open", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.bind", "socket.connect", "socket.sendmsg"),
}
SPAWNS = {"os.posix_spawn", "subprocess.Popen"}
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
NAMED_CALLERS = 3
UNNAMED = ("gpuaas.core.points", "gpuaas.core.db", "gpuaas.agent.journal", "gpuaas.main.")


class Points(Protocol):
    def reach(self, name: str) -> None:
        """Called directly before and after an effect that outlives this process. The words after the first name the
        place; without them, the recorder adds the calling functions."""


class NoPoints:
    def reach(self, name: str) -> None:
        pass


class FollowOrders:
    """Follows the file `order` in its folder: `<serial> note` or `<serial> die <nth> <point>`."""

    def __init__(self, folder: Path) -> None:
        self._order, self._passed, self._died = folder / "order", folder / "passed", folder / "died"
        self._current, self._counts = "", Counter[str]()
        self._lock, self._inside = threading.RLock(), 0  # the thread that executes an order
        self._pid = os.getpid()  # orders do not apply to forked processes
        sys.addaudithook(self._heard)

    def reach(self, name: str) -> None:
        with self._lock:
            if self._inside:  # audit events of this class are ignored
                return
            self._inside = threading.get_ident()
            try:
                if order := self._read():
                    kind, _, what = name.partition(" ")
                    self._follow(order, f"{kind} {what or callers()}")
            finally:
                self._inside = 0

    def _read(self) -> str:
        try:
            order = self._order.read_text()
        except FileNotFoundError:
            return ""
        if order != self._current:
            self._current = order
            self._counts.clear()
        return order

    def _follow(self, order: str, point: str) -> None:
        match order.split(" ", 3):
            case [_, "note"]:
                with self._passed.open("a") as out:
                    out.write(point + "\n")
            case [_, "die", nth, wanted] if point == wanted:
                self._counts[point] += 1
                if self._counts[point] == int(nth):
                    self._order.rename(self._died)
                    os.kill(os.getpid(), signal.SIGKILL)

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if event not in CALLS or self._inside == threading.get_ident() or os.getpid() != self._pid:
            return
        if event == "open" and not changes(arguments):
            return
        where = callers()
        if not where:  # audit events at the start of the interpreter
            return
        self.reach(f"{event} {where}")
        if event in SPAWNS:  # reported before the start: the next iteration of the loop finds it running
            with suppress(RuntimeError):
                asyncio.get_running_loop().call_soon(self.reach, f"{event}:running {where}")


def changes(arguments: tuple[object, ...]) -> bool:
    """Whether the audit event of an `open` can write to persistent storage."""
    path, _, flags = arguments
    return isinstance(flags, int) and bool(flags & CHANGES) and path != os.devnull


def callers() -> str:
    """The innermost running functions of this package, nearest first."""
    found: list[str] = []
    frame = inspect.currentframe()
    while frame is not None and len(found) < NAMED_CALLERS:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("gpuaas.") and not module.startswith(UNNAMED):
            found.append(f"{module.rpartition('.')[2]}.{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(found)


def points_from(text: str) -> Points:
    """Parse `orders:FOLDER`, as set by the harness; empty in production."""
    match text.split(":", 1):
        case ["orders", folder]:
            return FollowOrders(Path(folder))
        case _:
            return NoPoints()
