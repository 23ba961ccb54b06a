"""One SSH connection: its sshd, the log of sshd, and the end of the connection."""

import asyncio
import logging
import os
import re
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from gpuaas.engines.node.kernel import CLONE_NEWNET, CLONE_NEWPID, copy_descriptor, setns, unshare
from gpuaas.engines.storage import entering
from gpuaas.gateway import kernel, sshd, sshd_root
from gpuaas.gateway.processes import WatchedProcess
from gpuaas.gateway.records import ConnectionRecord
from gpuaas.wire.environments import AuthorizedKey, Connection

if TYPE_CHECKING:
    from gpuaas.engines.descriptors import Share
    from gpuaas.gateway.sessions import Session

TELL_SECONDS, TELL_TRIES = 0.02, 10
"""How long sshd may take to pass the reason of a disconnect from the terminals to the client before it is killed, and
how often this time is extended if it sent nothing."""

OOM_SCORE = 300  # OOM order: after sessions, before the gateway
MOST_LOG = 65_536
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a reason is text from another party
NOT_STARTED = "sshd could not be started"
log = logging.getLogger("gpuaas.gateway")
PTMX = re.compile(r"/dev/(pts/)?ptmx")


@dataclass(frozen=True, kw_only=True)
class SshdOrder:
    init: int  # pidfd of the environment's pid 1
    root: int  # mount namespace, see sshd_root.py
    first_id: int
    cgroups: tuple[str, ...]


def start_sshd(stream: socket.socket, order: SshdOrder, own_pid_namespace: int) -> tuple[int, int]:
    """Start an sshd for this connection; return its pid and the reading end of its log."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(reading, False)
    try:
        pid = kernel.fork_with(lambda: unshare(CLONE_NEWPID), own_pid_namespace)
        if pid == 0:
            run_sshd(order, stream.fileno(), writing)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return pid, reading


def run_sshd(order: SshdOrder, stream: int, log_pipe: int) -> NoReturn:
    """In the child, pid 1 of a new pid namespace: execute sshd, or write the error to the pipe."""
    try:
        kernel.hide_from_tracers()
        kernel.reset_signals()
        kernel.close_all_but({stream, log_pipe, order.init, order.root})
        os.set_blocking(stream, True)
        for number, descriptor in enumerate((stream, stream, log_pipe)):
            os.dup2(descriptor, number)
        kernel.join_cgroups(order.cgroups)
        kernel.set_oom_score(OOM_SCORE)
        entering.forbid_imports()
        sshd_root.enter(order.root, order.init, order.first_id)
        setns(order.init, CLONE_NEWNET)
        kernel.limit_bounding_set(sshd.CAPABILITIES)
        os.umask(0o022)
        os.execve(sshd.SSHD, sshd.COMMAND, {"PATH": "/usr/sbin:/usr/bin"})  # noqa: S606 (no shell is involved)
    except OSError as error:
        with suppress(OSError):
            os.write(2, f"{NOT_STARTED}: {error}\n".encode())
    finally:
        os._exit(255)


class SshConnection:
    """`on_proven` checks a key that the client has proven; `on_end` is called once after sshd has ended."""

    def __init__(
        self,
        record: ConnectionRecord,
        *,
        pidfd: int,
        stream: socket.socket,
        log_pipe: int,
        username: str,
        on_proven: Callable[["SshConnection", str], None],
        on_end: Callable[["SshConnection"], None],
    ) -> None:
        self.record = record
        self._stream, self._log_pipe = stream, log_pipe
        self.share: Share | None = None
        self._accepted = sshd.accepted_pattern(username)
        self._on_proven, self._on_end = on_proven, on_end
        self._text = b""
        self.is_cut = False
        self.refusal = ""  # reason to refuse sessions, of a connection that is about to be closed
        self.has_login_event = record.key is not None
        self.sessions: dict[int, Session] = {}
        self.traffic = (0, 0)
        self.pid_namespace = kernel.pid_namespace_of(record.pid)
        self.process = WatchedProcess(record.pid, pidfd, record.born, self._ended)
        asyncio.get_running_loop().add_reader(log_pipe, self.read_log)

    @property
    def key(self) -> AuthorizedKey | None:
        return self.record.key

    @property
    def is_admitted(self) -> bool:
        return self.key is not None and not self.is_cut and not self.refusal

    def read_log(self) -> None:
        """Read the log. Also called before a session is checked: sshd logs the key before it starts a session."""
        while self._log_pipe >= 0:
            try:
                data = os.read(self._log_pipe, MOST_LOG)
            except (BlockingIOError, InterruptedError):
                return
            if not data:
                self._close_log()
                return
            *lines, self._text = (self._text + data).split(b"\n")
            self._text = self._text[-MOST_LOG:]
            for line in lines:
                self._hear(line.decode(errors="replace").rstrip())

    def _hear(self, line: str) -> None:
        log.debug("sshd of connection %s: %s", self.record.id, line)
        if line.startswith(NOT_STARTED):
            log.warning("connection %s to %s: %s", self.record.id, self.record.allocation_id, line)
        found = self._accepted.fullmatch(line)
        if found is not None and self.key is None and not self.is_cut:
            self._on_proven(self, found[1])

    def described(self) -> Connection:
        record = self.record
        self._count()
        return Connection(
            id=record.id,
            allocation_id=record.allocation_id,
            user_id=record.key.user_id if record.key else "",
            key_fingerprint=record.key.fingerprint if record.key else "",
            source=record.source,
            opened_at=record.opened_at,
            bytes_in=self.traffic[0],
            bytes_out=self.traffic[1],
        )

    def _count(self) -> None:
        with suppress(OSError):  # a closed connection keeps its last count
            self.traffic = kernel.traffic_of(self._stream)

    def refuse(self, reason: str, seconds: float) -> None:
        """Close it later: only a session can show the reason, and the client has not requested one yet."""
        self.refusal = reason
        asyncio.get_running_loop().call_later(seconds, self.cut, reason)

    def cut(self, reason: str) -> None:
        """Refuse new sessions, write the reason to running ones, and give sshd a moment to send it."""
        if self.is_cut:
            return
        self.is_cut = True
        sent, is_told = self._sent(), False
        try:
            is_told = self.key is not None and bool(reason) and self._tell(CONTROL.sub(" ", reason))
        except Exception:  # house: broad-except because a connection must end even if its reason cannot be shown
            log.exception("connection %s ends without its reason", self.record.id)
        if is_told:
            self._kill_when_told(sent, TELL_TRIES)
        else:
            self._kill()

    def _kill_when_told(self, sent: int, tries: int) -> None:
        """Wait until sshd has written to the client's socket: the kernel sends it even after sshd ends."""

        def look() -> None:
            if tries and self._sent() == sent and not self.process.ended.done():
                self._kill_when_told(sent, tries - 1)
            else:
                self._kill()

        asyncio.get_running_loop().call_later(TELL_SECONDS, look)

    def _sent(self) -> int:
        try:
            return kernel.sent_to(self._stream)
        except OSError:
            return 0  # the client has disconnected

    def _tell(self, reason: str) -> bool:
        """Write the reason. Terminals are found among sshd's descriptors, which also works for adopted connections."""
        told = sum(session.tell(reason) for session in list(self.sessions.values())) > 0  # check all of them
        folder = f"/proc/{self.record.pid}/fd"
        with suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208 (magic links)
                with suppress(OSError):
                    if PTMX.fullmatch(os.readlink(f"{folder}/{name}")):  # noqa: PTH115
                        self._write_to_terminal(int(name), reason)
                        told = True
        return told

    def _write_to_terminal(self, number: int, reason: str) -> None:
        master = copy_descriptor(self.process.pidfd, number)
        try:
            terminal = kernel.terminal_peer(master)
            try:
                os.set_blocking(terminal, False)
                os.write(terminal, f"\r\n{reason}\r\n".encode())
            finally:
                os.close(terminal)
        finally:
            os.close(master)

    def _kill(self) -> None:
        if self.process.ended.done():
            return
        self._count()
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self.process.signal(signal.SIGKILL)

    def _ended(self, _code: int | None) -> None:
        self.read_log()
        self._count()
        self._let_go()
        self._on_end(self)

    def forget(self) -> None:
        """Stop serving it; another gateway takes over."""
        self.process.forget()
        self._let_go()

    def _let_go(self) -> None:
        self._close_log()
        self._stream.close()
        if self.share is not None:
            self.share.give_back()

    def _close_log(self) -> None:
        if self._log_pipe >= 0:
            asyncio.get_running_loop().remove_reader(self._log_pipe)
            os.close(self._log_pipe)
            self._log_pipe = -1


def socket_name(stream: socket.socket) -> str:
    return f"socket:[{os.fstat(stream.fileno()).st_ino}]"


def adopt_stream(record: ConnectionRecord, pidfd: int) -> socket.socket:
    """A duplicate of the client's socket, from the descriptors of sshd."""
    folder = f"/proc/{record.pid}/fd"
    for name in os.listdir(folder):  # noqa: PTH208 (magic links)
        with suppress(FileNotFoundError):
            if os.readlink(f"{folder}/{name}") == record.socket:  # noqa: PTH115
                return socket.socket(fileno=copy_descriptor(pidfd, int(name)))
    raise FileNotFoundError(f"sshd {record.pid} has no {record.socket}")


def adopt_log(record: ConnectionRecord) -> int:
    """Open the reading end of sshd's pipe again, through either end in /proc."""
    return os.open(f"/proc/{record.pid}/fd/2", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
