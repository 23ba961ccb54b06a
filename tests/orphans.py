"""Orphans of programs that a test killed are its children, because the test run is their subreaper."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

PAUSE_SECONDS = 0.1


def collect_orphans() -> None:
    """Collect sessions of gateways that were killed. On a node that is the work of pid 1; here the test run is their
    subreaper. Only processes of nested pid namespaces: others are waited for by whoever started them."""
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            fields = dict(line.split(":\t", 1) for line in (path / "status").read_text().splitlines() if ":\t" in line)
            is_mine = int(fields["PPid"]) == os.getpid() and fields["State"].startswith("Z")
            if is_mine and len(fields["NSpid"].split()) > 1:
                os.waitpid(int(path.name), os.WNOHANG)


@contextlib.asynccontextmanager
async def collecting() -> AsyncIterator[None]:
    """All the while: pid 1 of an environment ends only once everything in its pid namespace was collected."""

    async def collect() -> None:
        while True:
            await asyncio.to_thread(collect_orphans)
            await asyncio.sleep(PAUSE_SECONDS)

    task = asyncio.create_task(collect())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
