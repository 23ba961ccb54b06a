"""The places where a process may die: every commit and every call to the outside passes one.

In service a point costs one call of an empty method. The crash harness passes a recorder, which lists the points of a
run, or an executioner, which ends the process at the n-th: so the list is made by running, never by hand.
"""

import os
import signal
from pathlib import Path
from typing import Protocol


class Points(Protocol):
    def reach(self, name: str) -> None:
        """Called right before and right after an effect that outlives this process."""


class NoPoints:
    def reach(self, name: str) -> None:
        pass


class RecordPoints:
    """Appends each point to a file, in the order passed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def reach(self, name: str) -> None:
        with self._file.open("a") as out:
            out.write(name + "\n")


class DieAtPoint:
    """kill -9 of itself at the n-th point; `file` counts over restarts, so that one death is enough."""

    def __init__(self, nth: int, file: Path) -> None:
        self._left, self._file = nth, file

    def reach(self, name: str) -> None:
        if self._file.exists():
            return
        self._left -= 1
        if self._left <= 0:
            self._file.write_text(name)
            os.kill(os.getpid(), signal.SIGKILL)


def points_from(text: str) -> Points:
    """`record:FILE` or `die:N:FILE`, as the harness sets it; nothing in service."""
    match text.split(":", 2):
        case ["record", file]:
            return RecordPoints(Path(file))
        case ["die", nth, file]:
            return DieAtPoint(int(nth), Path(file))
        case _:
            return NoPoints()
