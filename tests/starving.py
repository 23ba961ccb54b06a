"""A process that may open only a few more files."""

import itertools
import os
import resource
from pathlib import Path


def starve(free: int | None, pid: int = 0) -> None:
    """Lower the limit of open files until only `free` more can be opened; None: as many as ever allowed."""
    folder = Path(f"/proc/{pid or os.getpid()}/fd")
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    limit = hard
    if free is not None:
        used = {int(path.name) for path in folder.iterdir()}
        unused = (number for number in itertools.count() if number not in used)
        limit = next(itertools.islice(unused, free, None))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))
