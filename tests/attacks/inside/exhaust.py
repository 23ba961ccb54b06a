"""Takes all it can get of one resource, for some seconds, and says how much that was. Runs inside, as root; standard
library only: `python3 exhaust.py <resource> <seconds>`."""

import contextlib
import ctypes
import os
import pty
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

BEYOND = ("198.51.100.2", 9)
MIB = 1 << 20
kept: list[object] = []


def descriptors() -> None:
    kept.append(os.open("/dev/null", os.O_RDONLY))


def tasks() -> None:
    if not (pid := os.fork()):
        signal.pause()
    kept.append(pid)


def memory() -> None:
    """In a process that may be ended for it."""
    if not (pid := os.fork()):
        with contextlib.suppress(MemoryError):
            while True:
                kept.append(bytearray(b"x" * (64 * MIB)))
        os._exit(0)
    os.waitpid(pid, 0)


def shared_memory() -> None:
    with Path(f"/dev/shm/{len(kept)}").open("wb") as file:  # noqa: S108 (of the environment)
        kept.append(None)
        file.write(b"x" * (16 * MIB))


def terminals() -> None:
    kept.append(pty.openpty())


def disk() -> None:
    with Path("/var/tmp/full").open("ab") as file:  # noqa: S108 (of the environment)
        file.write(b"x" * (16 * MIB))


def inodes() -> None:
    Path(f"/var/tmp/{len(kept)}").touch()  # noqa: S108 (of the environment)
    kept.append(None)


def connections() -> None:
    link = socket.socket()
    link.setblocking(False)
    kept.append(link)
    link.connect_ex(BEYOND)


def conntrack() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.sendto(b"x", BEYOND)
        kept.append(None)


def packets() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) as link:
        for _ in range(100):
            link.sendto(b"\x08\0" + bytes(1000), BEYOND)


def objects() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.shmget(0, MIB, 0o1666) < 0 and libc.msgget(0, 0o1666) < 0:
        raise OSError(ctypes.get_errno(), "System V objects")
    kept.append(None)


def logs() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link, contextlib.suppress(OSError):
        link.connect("/dev/log")
        link.send(b"<13>" + b"x" * 1000)
    sys.stderr.write("x" * 10_000)


def processors() -> None:
    for number in range(100_000):
        hash(number)


RESOURCES: dict[str, Callable[[], None]] = {
    one.__name__: one
    for one in (
        *(descriptors, tasks, memory, shared_memory, terminals, disk, inodes, connections, conntrack, packets),
        *(objects, logs, processors),
    )
}


def main() -> None:
    name, ends = sys.argv[1], time.monotonic() + float(sys.argv[2])
    taken, refused = 0, 0
    while time.monotonic() < ends:
        try:
            RESOURCES[name]()
            taken += 1
        except OSError:
            refused += 1
            time.sleep(0.001)
    for pid in [one for one in kept if isinstance(one, int)] if name == "tasks" else ():
        os.kill(pid, signal.SIGKILL)
    for path in (*Path("/var/tmp").glob("[0-9f]*"), *Path("/dev/shm").glob("[0-9]*")):  # noqa: S108
        path.unlink()
    sys.stdout.write(f"{taken} {refused}")


if __name__ == "__main__":
    main()
