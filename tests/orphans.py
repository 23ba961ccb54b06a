"""Reaps orphans: processes whose parent a test killed become children of the test run, their subreaper.

On a node that is the work of pid 1. It has to be prompt: pid 1 of an environment ends only after everything in its pid
namespace was reaped.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

INTERVAL_SECONDS = 0.05


class OrphanReaper:
    """A thread of the process that is the subreaper."""

    def __init__(self, *, has_workers: bool) -> None:
        """With workers, no code in this process waits for a child. Without, tests wait for the programs they start,
        so only processes of nested pid namespaces are reaped: tests never start those directly."""
        self._reap = reap_all if has_workers else reap_nested
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="orphan-reaper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_SECONDS):
            self._reap()


def reap_all() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def reap_nested() -> None:
    for pid in children():
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/status").read_text()
            fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
            if fields["State"].startswith("Z") and len(fields["NSpid"].split()) > 1:
                os.waitpid(pid, os.WNOHANG)


def children() -> Iterator[int]:
    """Of this process. The kernel lists them for the thread that started or inherited them."""
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, path.read_text().split())
