"""One real PostgreSQL for a whole test run, shared by all pytest-xdist workers, and cheap databases in it.

A plugin of pytest, named in `tests/conftest.py`. The server starts when the first test asks for it. A small guard
process stops it when pytest is gone, however it went: it waits for the end of a pipe that only pytest holds open.
"""

import asyncio
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from gpuaas.core.embedded import Embedded

FOLDER = "GPUAAS_TESTS_POSTGRES"
# What a crash of the machine would lose does not matter to a test; what a crash of the server would lose is kept.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "max_connections": "300"}
ENOUGH = 4 << 30
STARTED: dict[str, str] = {}
MAINTENANCE: dict[asyncio.AbstractEventLoop, tuple[asyncpg.Connection, asyncio.Lock]] = {}
GUARD = pytest.StashKey["subprocess.Popen[bytes]"]()


def pytest_configure(config: pytest.Config) -> None:
    if FOLDER in os.environ:  # a worker: the controller has told us where
        return
    run = os.environ.get("GPUAAS_TESTS_RUN", "")
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"gpuaas-tests-{run}-", dir=quickest_place())
    config.stash[GUARD] = subprocess.Popen(
        [sys.executable, "-P", __file__, os.environ[FOLDER]], stdin=subprocess.PIPE, start_new_session=True
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    stop(config)


def stop(config: pytest.Config) -> None:
    """Stop the server of this run, if this process started it; asking again does nothing."""
    guard = config.stash.get(GUARD, None)
    if guard is not None and guard.stdin is not None and not guard.stdin.closed:
        guard.stdin.close()
        guard.wait()
        del os.environ[FOLDER]


def quickest_place() -> Path | None:
    """Memory if there is plenty: copying a template there takes 10 ms, on a disk 300."""
    memory = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a private folder in it
    plenty = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ENOUGH
    return memory if plenty else None


def embedded() -> Embedded:
    """The server of this test run, started or not."""
    return Embedded(Path(os.environ[FOLDER]), settings=SETTINGS)


async def postgres() -> str:
    """The DSN of the server of this test run; starts it if nobody has, once: a stopped server means the run is over."""
    if FOLDER not in STARTED:
        if not embedded().folder.exists():
            raise RuntimeError("the test run is over")
        STARTED[FOLDER] = await embedded().start()
    return STARTED[FOLDER]


async def template_database(name: str, build: Callable[[str], Awaitable[object]]) -> str:
    """Build a database once per test run, for `fresh_database` to copy; nobody may stay connected to it."""
    dsn = await postgres()
    with (Path(os.environ[FOLDER]) / f"template-{name}").open("a+") as done:
        await asyncio.to_thread(fcntl.flock, done, fcntl.LOCK_EX)
        if done.seek(0, os.SEEK_END) == 0:
            await maintain(f'drop database if exists "{name}"', f'create database "{name}" template template0')
            await build(database(dsn, name))
            done.write("built")
            done.flush()
    return name


async def fresh_database(name: str = "", *, template: str = "template0") -> str:
    """Create a database as a copy of `template` and return its DSN; without a name it gets one of its own."""
    dsn = await postgres()
    name = name or f"t{uuid4().hex}"
    await maintain(
        f'drop database if exists "{name}" with (force)',
        f'create database "{name}" template "{template}" strategy file_copy',
    )
    return database(dsn, name)


async def drop_database(dsn: str) -> None:
    """Drop what `fresh_database` made, whoever is still connected."""
    name = dsn.partition("?")[0].rpartition("/")[2]
    await maintain(f'drop database if exists "{name}" with (force)')


def database(dsn: str, name: str) -> str:
    """The same server, another database."""
    return dsn.replace("/gpuaas?", f"/{name}?")


async def maintain(*statements: str) -> None:
    """On one connection of this process: opening one costs more than these statements, and every test makes some."""
    dsn, loop = await postgres(), asyncio.get_running_loop()
    if (kept := MAINTENANCE.get(loop)) is None or kept[0].is_closed():
        kept = MAINTENANCE[loop] = (await asyncpg.connect(dsn), asyncio.Lock())
    connection, turn = kept
    async with turn:
        for statement in statements:
            await connection.execute(statement)


@pytest.fixture(scope="session", autouse=True)
async def _close_maintenance() -> AsyncIterator[None]:
    yield
    if kept := MAINTENANCE.pop(asyncio.get_running_loop(), None):
        await kept[0].close()


async def run(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture
async def dsn() -> AsyncIterator[str]:
    """An empty database for one test."""
    made = await fresh_database()
    yield made
    await drop_database(made)


def guard(folder: Path) -> None:
    """Wait until pytest is gone, then leave nothing running and nothing on disk."""
    sys.stdin.buffer.read()
    asyncio.run(Embedded(folder, settings=SETTINGS).stop())
    shutil.rmtree(folder)


if __name__ == "__main__":
    guard(Path(sys.argv[1]))
