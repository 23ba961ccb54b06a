"""Processes of the machine, looked at through /proc and ended by descriptor, never by a number that may be reused."""

# ruff: noqa: ASYNC222 (never waits: only a child that has already ended is collected)

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Container
from pathlib import Path

PROC = Path("/proc")
BORN = 19  # of the fields behind the name in /proc/<pid>/stat
HIDDEN = (FileNotFoundError, ProcessLookupError, PermissionError)


def pids() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def _read(pid: int, name: str) -> str:
    """Empty for a process that is gone or hidden from us; any other error is no answer, and raised."""
    try:
        return (PROC / str(pid) / name).read_text(errors="replace")
    except HIDDEN:
        return ""


def status(pid: int) -> dict[str, str]:
    """The fields of /proc/<pid>/status; empty when there is no such process."""
    pairs = (line.split(":", 1) for line in _read(pid, "status").splitlines() if ":" in line)
    return {name: value.strip() for name, value in pairs}


def has_ended(pid: int) -> bool:
    """Also when nobody has collected it yet: it holds nothing any more."""
    return status(pid).get("State", "Z").startswith("Z")


def parent(pid: int) -> int:
    return int(status(pid).get("PPid", "0"))


def namespace(pid: int, kind: str) -> str:
    try:
        return str((PROC / str(pid) / "ns" / kind).readlink())
    except HIDDEN:
        return ""


def of_uids(uids: Container[int]) -> list[int]:
    """Every process with one of these as its real or effective uid, zombies left out."""
    found = []
    for pid in pids():
        fields = status(pid)
        if not fields.get("State", "Z").startswith("Z") and any(int(uid) in uids for uid in fields["Uid"].split()):
            found.append(pid)
    return found


def naming(text: str) -> list[int]:
    """Processes that were started with this in their words or settings, or have a file of such a path in memory."""
    return [pid for pid in pids() if any(text in _read(pid, name) for name in ("cmdline", "environ", "maps"))]


def in_pid_namespace_of(pid: int) -> list[tuple[int, str]]:
    """Everything that lives beside this process, with the time each was born, so that a reused number is no match."""
    wanted = namespace(pid, "pid")
    if not wanted or wanted == namespace(os.getpid(), "pid"):
        return []
    return [(other, born(other)) for other in pids() if namespace(other, "pid") == wanted]


def born(pid: int) -> str:
    text = _read(pid, "stat")
    return text.rsplit(")", 1)[1].split()[BORN] if ")" in text else ""


def is_alive(pid: int, birth: str) -> bool:
    """Whether this very process still runs."""
    text = _read(pid, "stat")
    fields = text.rsplit(")", 1)[1].split() if ")" in text else []
    return len(fields) > BORN and fields[BORN] == birth and fields[0] not in ("Z", "X")


def with_argument(argument: str) -> list[int]:
    """Processes started with this argument; a person inside can only name themselves this way."""
    return [pid for pid in pids() if argument in _read(pid, "cmdline").split("\0")]


async def gone(pid: int, seconds: float | None = None) -> bool:
    """Wait until a process has ended; False when it still runs after that long."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        await readable(descriptor, seconds)
    except TimeoutError:
        return False
    finally:
        os.close(descriptor)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # only if it happens to be our child
    return True


async def end(pid: int, still: Callable[[int], bool] = lambda _: True) -> None:
    """Kill and wait; `still` is asked once the descriptor is held, so that the number cannot change its meaning."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if still(pid):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            await readable(descriptor)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    finally:
        os.close(descriptor)


async def readable(descriptor: int, seconds: float | None = None) -> None:
    """Wait until there is something to read, or raise TimeoutError."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, tell)
    try:
        async with asyncio.timeout(seconds):
            await ready
    finally:
        loop.remove_reader(descriptor)
