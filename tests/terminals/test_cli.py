"""`gpuaas terminal` as a person runs it: a real terminal on their side, a real process."""

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.patience import PATIENCE_SECONDS
from tests.terminals.conftest import Place


class Screen:
    """The person's end of it."""

    def __init__(self, descriptor: int, process: asyncio.subprocess.Process) -> None:
        self._descriptor, self.process, self.seen = descriptor, process, bytearray()
        os.set_blocking(descriptor, False)

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    async def shows(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while text.encode() not in self.seen:
                try:
                    self.seen += os.read(self._descriptor, 65_536)
                except BlockingIOError:
                    await asyncio.sleep(0.02)
                except OSError:
                    raise AssertionError(f"it ended with {bytes(self.seen)!r}") from None


@asynccontextmanager
async def running(place: Place, folder: Path, *words: str, size: tuple[int, int] = (33, 111)) -> AsyncIterator[Screen]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    environ = {"GPUAAS_URL": place.url, "GPUAAS_TOKEN": place.world.ada.token, "GPUAAS_CONFIG": str(folder / "config")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gpuaas.main", "terminal", *words),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **environ},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Screen(ours, process)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(ours)


async def test_a_person_types_sees_and_gets_the_shells_exit_code(place: Place, tmp_path: Path) -> None:
    async with running(place, tmp_path, place.allocation_id) as screen:
        await screen.shows("$ ")
        screen.type("stty size\n")
        await screen.shows("33 111")
        screen.type("exit 7\n")
    assert screen.process.returncode == 7


async def test_a_terminal_that_does_not_know_its_size_is_an_ordinary_one(place: Place, tmp_path: Path) -> None:
    async with running(place, tmp_path, place.allocation_id, size=(0, 0)) as screen:
        await screen.shows("$ ")
        screen.type("stty size\n")
        await screen.shows("24 80")
        screen.type("exit 7\n")


async def test_a_person_leaves_and_comes_back_to_the_same_shell(place: Place, tmp_path: Path) -> None:
    async with running(place, tmp_path, place.allocation_id) as screen:
        await screen.shows("$ ")
        screen.type("remember me\n")
        await screen.shows("remember me")
        screen.type("\x1d")
        await screen.shows("--session term_")
    assert screen.process.returncode == 0
    session = str(await place.world.value("select id from terminals where allocation_id = $1", place.allocation_id))
    async with running(place, tmp_path, place.allocation_id, "--session", session) as again:
        await again.shows("remember me")
        again.type("exit 0\n")
    assert again.process.returncode == 0


async def test_a_terminal_needs_a_terminal(place: Place, tmp_path: Path) -> None:
    environ = {"GPUAAS_URL": place.url, "GPUAAS_TOKEN": place.world.ada.token, "GPUAAS_CONFIG": str(tmp_path / "c")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gpuaas.main", "terminal", place.allocation_id),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environ},
    )
    _, complaint = await process.communicate()
    assert (process.returncode, b"needs a terminal" in complaint) == (1, True)
