"""A process of the node that gets the number of one that has ended, as after the numbers have been used up."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

LAST = Path("/proc/sys/kernel/ns_last_pid")
TRIES = 1000  # other processes start meanwhile, and take the number


@contextlib.contextmanager
def process_numbered(pid: int) -> Iterator[subprocess.Popen[bytes]]:
    for _ in range(TRIES):
        LAST.write_text(str(pid - 1))
        found = subprocess.Popen(["sleep", "1000000"])
        if found.pid == pid:
            break
        found.kill()
        found.wait()
    else:
        raise AssertionError(f"{pid} could not be had")
    try:
        yield found
    finally:
        found.kill()
        found.wait()
