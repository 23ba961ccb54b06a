"""Inspects processes through /proc and ends them by pidfd, because a pid may be reused."""

# ruff: noqa: ASYNC222 (does not wait: reaps only ended children)

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
BORN, THREADS = 19, 17  # index among the fields after the name in /proc/<pid>/stat
HIDDEN = (FileNotFoundError, ProcessLookupError, PermissionError)


class Process(NamedTuple):
    """An inspected process. Its pid alone may belong to another process later."""

    pid: int
    born: str


def pids() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def _read(pid: int, name: str) -> str:
    """Read a file; empty for an ended or hidden process. Other errors are raised."""
    try:
        return (PROC / str(pid) / name).read_text(errors="replace")
    except HIDDEN:
        return ""


def status(pid: int) -> dict[str, str]:
    """The fields of /proc/<pid>/status; empty if the process does not exist."""
    pairs = (line.split(":", 1) for line in _read(pid, "status").splitlines() if ":" in line)
    return {name: value.strip() for name, value in pairs}


def has_ended(pid: int) -> bool:
    """Whether it has ended, including zombies, which hold no resources."""
    return _has_ended(status(pid))


def _has_ended(fields: dict[str, str]) -> bool:
    """Whether all threads have ended: a zombie may be the first thread of a process with running threads."""
    return fields.get("State", "Z").startswith("Z") and int(fields.get("Threads", "0")) <= 1


def parent(pid: int) -> int:
    return int(status(pid).get("PPid", "0"))


def namespace(pid: int, kind: str) -> str:
    try:
        return str((PROC / str(pid) / "ns" / kind).readlink())
    except HIDDEN:
        return ""


def of_uids(uids: Container[int]) -> list[int]:
    """Running processes with one of these as real or effective uid."""
    return [pid for pid in pids() if has_uid(pid, uids)]


def has_uid(pid: int, uids: Container[int]) -> bool:
    """Whether it runs with one of these uids."""
    fields = status(pid)
    return not _has_ended(fields) and any(int(uid) in uids for uid in fields["Uid"].split())


def naming(text: str) -> list[int]:
    """Processes with this text in their arguments or environment, or with a mapped file of such a path."""
    return [pid for pid in pids() if any(text in _read(pid, name) for name in ("cmdline", "environ", "maps"))]


def in_pid_namespace_of(pid: int) -> list[Process]:
    """All other running processes."""
    wanted = namespace(pid, "pid")
    if not wanted or wanted == namespace(os.getpid(), "pid"):
        return []
    return [other for other in seen() if namespace(other.pid, "pid") == wanted]


def seen() -> Iterator[Process]:
    """Each process with its start time, read first: later facts belong to this process if it still runs when the
    caller acts on it."""
    for pid in pids():
        if birth := born(pid):
            yield Process(pid, birth)


def tasks(pid: int) -> list[int]:
    """The threads of a process, starting with the first. Each can have separate mounts, descriptors and root, found
    under its id in /proc."""
    try:
        found = [int(path.name) for path in (PROC / str(pid) / "task").iterdir()]
    except HIDDEN:
        return []
    return sorted(found, key=lambda tid: (tid != pid, tid))


def born(pid: int) -> str:
    text = _read(pid, "stat")
    return text.rsplit(")", 1)[1].split()[BORN] if ")" in text else ""


def is_alive(pid: int, birth: str) -> bool:
    """Whether this process still runs."""
    text = _read(pid, "stat")
    fields = text.rsplit(")", 1)[1].split() if ")" in text else []
    if len(fields) <= BORN or fields[BORN] != birth:
        return False
    return fields[0] not in ("Z", "X") or int(fields[THREADS]) > 1  # threads can outlive the first one


def with_argument(argument: str) -> list[int]:
    """Processes started with this argument; tenants can only match their own processes."""
    return [pid for pid in pids() if has_argument(pid, argument)]


def has_argument(pid: int, argument: str) -> bool:
    return argument in _read(pid, "cmdline").split("\0")


async def gone(pid: int, seconds: float | None = None) -> bool:
    """Wait until a process has ended; False after a timeout."""
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
        os.waitpid(pid, os.WNOHANG)  # only if it is our child
    return True


async def end(pid: int, still: Callable[[int], bool]) -> bool:
    """Kill and wait; False if `still` rejects the process. `still` is called after opening the pidfd, so that the pid
    cannot be reused meanwhile."""
    with _held(pid, still) as descriptor:
        if descriptor is None:
            return False
        _send(descriptor, signal.SIGKILL)
        await readable(descriptor)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        return True


def send(process: Process, *signals: int) -> None:
    """Send a signal to this process, if it still runs."""
    with _held(process.pid, lambda pid: is_alive(pid, process.born)) as descriptor:
        if descriptor is not None:
            for each in signals:
                _send(descriptor, each)


@contextlib.contextmanager
def _held(pid: int, still: Callable[[int], bool]) -> Iterator[int | None]:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield descriptor if still(pid) else None
    finally:
        os.close(descriptor)


def _send(descriptor: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, number)


async def readable(descriptor: int, seconds: float | None = None) -> None:
    """Wait until it is readable, or raise TimeoutError."""
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
