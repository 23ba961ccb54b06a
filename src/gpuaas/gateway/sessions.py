"""Runs sessions of sshd inside the environment, and returns their exit codes to sshd.

The process that sshd starts (the waiter, `/platform/session`) connects to the environment's session socket. The
gateway reads its arguments, variables and descriptors from the kernel, so it parses no data of the client.
"""

# ruff: noqa: PTH123 (files of /proc)

import asyncio
import os
import re
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from gpuaas.engines.descriptors import Share
from gpuaas.engines.node.kernel import CLONE_NEWPID, copy_descriptor, setns
from gpuaas.gateway import inside, kernel, sshd
from gpuaas.gateway.processes import WatchedProcess
from gpuaas.gateway.records import SessionRecord
from gpuaas.wire.gateway import EnvironmentAccess

PASSED = re.compile(
    r"TERM|SSH_(CLIENT|CONNECTION|TTY|AUTH_SOCK|ORIGINAL_COMMAND)|LANG|LANGUAGE|LC_[A-Z]+|COLORTERM|NO_COLOR"
)
STARTED, REFUSED = b"s", b"e"
SIGNAL_BASE, UNKNOWN_CODE = 128, 255
SESSION_DESCRIPTORS = 5
STANDARD_ERROR = 2
HANGUP = (signal.SIGHUP, signal.SIGCONT)


class NotASession(Exception):
    """The peer process is not a waiter of a session."""


class Waiter:
    """Kernel facts about a process that requests a session."""

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid, self.pidfd = pid, pidfd
        self.born = kernel.birth_of(pid)
        words = _words(pid, "cmdline")
        if words[:2] != [sshd.INTERPRETER, sshd.SESSION] or not self.born:
            raise NotASession
        self.command = words[3] if words[2:3] == ["-c"] and len(words) > 3 else None  # noqa: PLR2004 - behind -c
        pairs = (word.partition("=") for word in _words(pid, "environ"))
        self.variables = {name: value for name, _, value in pairs if PASSED.fullmatch(name)}

    def descriptors(self) -> tuple[int, int, int]:
        """Duplicates of its standard input, output and error."""
        with ExitStack() as opened:

            def copy(number: int) -> int:
                descriptor = copy_descriptor(self.pidfd, number)
                opened.callback(os.close, descriptor)
                return descriptor

            copied = copy(0), copy(1), copy(2)
            opened.pop_all()  # the caller owns all three
        return copied


def _words(pid: int, name: str) -> list[str]:
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return [os.fsdecode(word) for word in file.read().removesuffix(b"\0").split(b"\0")]


def order_of(
    access: EnvironmentAccess,
    init: int,
    *,
    command: str | None,
    variables: dict[str, str],
    descriptors: tuple[int, int, int] | None,
    report: int = -1,
) -> inside.SessionOrder:
    is_interactive = command is None and (descriptors is None or os.isatty(descriptors[0]))
    return inside.SessionOrder(
        init=init,
        username=access.username,
        uid=access.uid,
        command=command,
        variables={**access.variables, **variables},
        cgroups=access.cgroups,
        capabilities=access.capabilities,
        open_files=access.open_files,
        seccomp=_read(access.seccomp, is_needed=True),
        banner=_read(access.banner) if is_interactive else b"",
        descriptors=descriptors,
        report=report,
    )


def _read(path: str, *, is_needed: bool = False) -> bytes:
    """The seccomp filter of the environment; without it, no session starts."""
    if not path:
        return b""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        if is_needed:
            raise
        return b""


def start_inside(order: inside.SessionOrder, own_pid_namespace: int) -> int:
    """Fork; return the pid of the new process. Does not return in the child."""

    def enter() -> None:
        setns(order.init, CLONE_NEWPID)

    pid = kernel.fork_with(enter, own_pid_namespace)
    if pid == 0:
        inside.become(order)
    return pid


@dataclass(frozen=True)
class StartedProcess:
    """The process inside, and the name of its standard error in /proc."""

    pid: int
    pidfd: int
    born: str
    error: str


class Session:
    """A process inside and its waiter. The end of one ends the other."""

    def __init__(
        self, line: socket.socket, started: StartedProcess, share: Share, on_end: Callable[["Session"], None]
    ) -> None:
        self._line, self._share, self._on_end = line, share, on_end
        self._error = started.error
        self.process = WatchedProcess(started.pid, started.pidfd, started.born, self._ended)
        asyncio.get_running_loop().add_reader(line.fileno(), self._hear)

    def _hear(self) -> None:
        """Handle signals from the client, or the end of the waiter."""
        try:
            data = self._line.recv(16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            for number in data:
                self.process.signal_group(number)
            return
        asyncio.get_running_loop().remove_reader(self._line.fileno())
        for number in HANGUP:
            self.process.signal_group(number)

    def tell(self, reason: str) -> bool:
        """Write to its standard error, unless that is a terminal or was replaced by the process inside."""
        with suppress(OSError):
            descriptor = copy_descriptor(self.process.pidfd, STANDARD_ERROR)
            try:
                if name_of(descriptor) == self._error:
                    return kernel.write_at_once(descriptor, f"{reason}\r\n".encode())
            finally:
                os.close(descriptor)
        return False

    def _ended(self, code: int | None) -> None:
        reply(self._line, bytes([exit_byte(code)]))
        asyncio.get_running_loop().remove_reader(self._line.fileno())
        self._line.close()
        self._share.give_back()
        self._on_end(self)


def name_of(descriptor: int) -> str:
    """The unique name of a descriptor, such as `socket:[4711]`."""
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 (a link of the kernel's)


def hang_up(record: SessionRecord) -> None:
    """End the session after its connection has ended."""
    if record.pid and kernel.birth_of(record.pid) == record.born:
        with suppress(ProcessLookupError):
            for number in HANGUP:
                os.killpg(record.pid, number)


def exit_byte(code: int | None) -> int:
    """Exit status in the convention of shells: 128 plus the signal number."""
    if code is None:
        return UNKNOWN_CODE
    return (SIGNAL_BASE - code if code < 0 else code) & 0xFF


def refuse(line: socket.socket, reason: str) -> None:
    reply(line, REFUSED + reason.encode() + b"\n")
    line.close()


def reply(line: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # the waiter has ended
        line.send(data)
