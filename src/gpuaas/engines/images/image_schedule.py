"""Rebuilds the base image for security updates while the agent runs, in a separate low-priority process."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from gpuaas.engines.images import images
from gpuaas.engines.node import commands, files

FAILURE = "update-failure"
"""File in the folder of images: why the last scheduled rebuild failed."""
FIRST_LOOK_SECONDS, LOOK_SECONDS = 600.0, 6 * 3600.0
MOST_WORDS = 500
PROGRAM = (sys.executable, "-P", "-m", "gpuaas.main")
log = structlog.get_logger()
Rebuild = Callable[[], Awaitable[tuple[int, str]]]


async def keep_fresh(folder: Path, age: timedelta, *, now: Callable[[], datetime], rebuild: Rebuild) -> None:
    """Run until cancelled. The first check is delayed, because a starting agent has other work."""
    await asyncio.sleep(FIRST_LOOK_SECONDS)
    while True:
        try:
            await look(folder, age, now=now, rebuild=rebuild)
        except OSError as error:
            log.warning("image.update_failed", error=str(error))
        await asyncio.sleep(LOOK_SECONDS)


async def look(folder: Path, age: timedelta, *, now: Callable[[], datetime], rebuild: Rebuild) -> None:
    """Rebuild an old image; the build checks whether the package sources have newer versions."""
    image = images.current(folder)
    if image is None or not images.is_old(image, age, now()):
        return
    try:
        code, said = await rebuild()
    except Exception as error:  # house: broad-except because a failed start of a rebuild is reported and retried
        log.exception("image.rebuild_crashed")
        code, said = 1, repr(error)
    if code == 0:
        forget_failure(folder)
        log.info("image.updated", said=said[-MOST_WORDS:])
    else:
        files.write_whole(folder / FAILURE, said[-MOST_WORDS:].encode())
        log.warning("image.update_failed", code=code, said=said[-MOST_WORDS:])


def failure(folder: Path) -> str:
    try:
        return (folder / FAILURE).read_text(errors="replace")
    except OSError:
        return ""


def forget_failure(folder: Path) -> None:
    """A build that worked, also one that an operator asked for."""
    (folder / FAILURE).unlink(missing_ok=True)


def rebuild_beside(agent_folder: Path, program: tuple[str, ...] = PROGRAM) -> Rebuild:
    """Run `gpuaas node image build` as a low-priority process that ends with the agent."""
    argv = (*program, "node", "image", "build", "--folder", str(agent_folder))

    async def rebuild() -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *commands.mortal("nice", "-n", "19", "ionice", "-c", "3", *argv),
            env={**os.environ},  # proxies and the folder of images; the event loop accepts only a dict
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            raise
        return process.returncode or 0, said.decode(errors="replace").strip()

    return rebuild
