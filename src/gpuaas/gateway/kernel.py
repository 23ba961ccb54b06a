"""System calls of the gateway for processes, terminals and TCP connections."""

# ruff: noqa: PTH113, PTH123 (plain strings; also used by processes that have left the node's root)

import ctypes
import fcntl
import os
import signal
import socket
import stat
import struct
import termios
from collections.abc import Callable, Iterable
from contextlib import suppress

from gpuaas.engines.node.kernel import (
    CLONE_NEWPID,
    call,
    drop_from_bounding_set,
    prctl,
    setns,
)

SECCOMP = {"x86_64": 317, "aarch64": 277}
SECCOMP_SET_MODE_FILTER = 1
PR_SET_DUMPABLE = 4
SO_PEERPIDFD = 77
PIDFD_GET_INFO, PIDFD_INFO_EXIT = 0xC040FF0B, 1 << 3  # struct pidfd_info of 64 bytes; since Linux 6.15
EXIT_CODE_OFFSET = 60
LAST_CAPABILITY = 63
TIOCGPTN, TIOCGPTPEER, TIOCSPTLCK = 0x80045430, 0x5441, 0x40045431
TCP_INFO, TCP_INFO_BYTES = 11, 120  # tcpi_bytes_acked, tcpi_bytes_received
TCP_NOT_SENT, TCP_INFO_SENT = 144, 200  # tcpi_notsent_bytes, tcpi_bytes_sent
STATE, BORN, EXIT_CODE = 0, 19, 49  # index among the fields after the name in /proc/<pid>/stat


def fork_with(enter: Callable[[], None], own_pid_namespace: int) -> int:
    """Fork a child into another pid namespace. `enter` sets it for future children; this resets it."""
    enter()
    pid = -1
    try:
        pid = os.fork()
    finally:
        if pid:
            setns(own_pid_namespace, CLONE_NEWPID)
    return pid


def hide_from_tracers() -> None:
    prctl("dumpable", PR_SET_DUMPABLE, 0)


def reset_signals() -> None:
    """Restore the default action of every signal, as programs expect."""
    for number in range(1, signal.NSIG):
        with suppress(OSError, ValueError):  # some cannot be changed, or belong to the C library
            signal.signal(number, signal.SIG_DFL)


def open_oom_score() -> int:
    """Set the OOM score; higher scores are killed first. Lowering it needs CAP_SYS_RESOURCE."""
    return os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)


def set_oom_score(score: int) -> None:
    descriptor = open_oom_score()
    try:
        os.write(descriptor, str(score).encode())
    finally:
        os.close(descriptor)


def limit_bounding_set(keep: Iterable[int]) -> None:
    """Drop all other capabilities from the bounding set, for this process and its children."""
    kept = frozenset(keep)
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in kept:
            try:
                drop_from_bounding_set(capability)
            except OSError:
                return  # EINVAL: past the last one that this kernel knows


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def load_seccomp(program: bytes) -> None:
    """Install the filter permanently. Needs CAP_SYS_ADMIN in the user namespace; no_new_privs would break sudo."""
    loaded = _Program(len(program) // 8, program)
    call("seccomp", SECCOMP[os.uname().machine], SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(loaded))


def peer_of(connection: socket.socket) -> tuple[int, int, int]:
    """The pid, uid and pidfd of the peer process."""
    pid, uid, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    try:
        pidfd = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError:  # before Linux 6.5
        pidfd = os.pidfd_open(pid)
    return pid, uid, pidfd


def exit_code_of(pid: int, pidfd: int) -> int | None:
    """Exit code of an ended process, negative for a signal. None while the kernel does not report it."""
    try:
        status = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        return _others_exit_code(pid, pidfd)
    if status is None:
        return None
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


def _others_exit_code(pid: int, pidfd: int) -> int | None:
    """Read it from /proc until the parent reaps the process; since Linux 6.15, the pidfd has it afterwards."""
    fields = _stat_of(pid)
    if fields and fields[STATE] == b"Z":
        return os.waitstatus_to_exitcode(int(fields[EXIT_CODE]))
    info = bytearray(struct.pack("Q", PIDFD_INFO_EXIT) + bytes(EXIT_CODE_OFFSET - 4))
    try:
        fcntl.ioctl(pidfd, PIDFD_GET_INFO, info)
    except OSError:
        return None
    if not struct.unpack_from("Q", info)[0] & PIDFD_INFO_EXIT:
        return None
    return os.waitstatus_to_exitcode(struct.unpack_from("i", info, EXIT_CODE_OFFSET)[0])


def _stat_of(pid: int) -> list[bytes]:
    """The fields after the name; empty if the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def pid_namespace_of(pid: int) -> int:
    return os.stat(f"/proc/{pid}/ns/pid").st_ino  # noqa: PTH116 (a file of /proc)


def birth_of(pid: int) -> str:
    """Field 22 of /proc/<pid>/stat; empty if the process does not exist or has ended."""
    fields = _stat_of(pid)
    return "" if not fields or fields[STATE] in (b"Z", b"X") else fields[BORN].decode()


def open_process(pid: int, born: str) -> int | None:
    """A pidfd of this process; None if it has ended, even if its pid was reused."""
    try:
        pidfd = os.pidfd_open(pid)
    except (ProcessLookupError, OSError):
        return None
    if birth_of(pid) == born:
        return pidfd
    os.close(pidfd)
    return None


def signal_process(pidfd: int, number: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return


def traffic_of(connection: socket.socket) -> tuple[int, int]:
    """Bytes received from the peer and acknowledged by it, as counted by the kernel."""
    info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, TCP_INFO_BYTES + 16)
    if len(info) < TCP_INFO_BYTES + 16:
        return 0, 0
    acknowledged, received = struct.unpack_from("QQ", info, TCP_INFO_BYTES)
    return received, acknowledged


def sent_to(connection: socket.socket) -> int:
    """Bytes sent to the peer or queued for it, as counted by the kernel."""
    info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, TCP_INFO_SENT + 8)
    if len(info) < TCP_INFO_SENT + 8:
        return 0
    return int(struct.unpack_from("Q", info, TCP_INFO_SENT)[0]) + int(struct.unpack_from("I", info, TCP_NOT_SENT)[0])


def write_at_once(descriptor: int, data: bytes) -> bool:
    """Write to a socket or pipe of another process without blocking; False for other kinds of files. The process
    shares the flags of the descriptor, so they stay unchanged. It can fill the buffer at any time, so polling for
    writability first would not help."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISSOCK(mode):
        with socket.socket(fileno=os.dup(descriptor)) as line:
            line.send(data, socket.MSG_DONTWAIT)
        return True
    if not stat.S_ISFIFO(mode):
        return False
    own = os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.write(own, data)
    finally:
        os.close(own)
    return True


def take_terminal(descriptor: int) -> None:
    """Make it the controlling terminal, even if it belongs to another session; needs CAP_SYS_ADMIN on the node."""
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 1)


def take_own_terminal(descriptor: int) -> None:
    """Make it the controlling terminal; no other session may have it."""
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


def unlock_terminal(master: int) -> None:
    fcntl.ioctl(master, TIOCSPTLCK, struct.pack("i", 0))


def terminal_peer(master: int) -> int:
    """Open the peer of a terminal without using its path."""
    return fcntl.ioctl(master, TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)


def check_terminal(master: int) -> None:
    """Raise OSError for descriptors that are not the master of a terminal."""
    fcntl.ioctl(master, TIOCGPTN, struct.pack("I", 0))


def resize_terminal(descriptor: int, rows: int, columns: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def socket_of(descriptor: int) -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=descriptor)


def close_all_but(kept: Iterable[int]) -> None:
    low = 0
    for number in sorted(kept):
        if low < number:
            os.closerange(low, number)
        low = number + 1
    os.closerange(low, 1 << 30)


def members_of(folders: Iterable[str]) -> set[int]:
    """Processes in these control groups; a deleted group has none."""
    found: set[int] = set()
    for folder in folders:
        with suppress(FileNotFoundError), open(f"{folder}/cgroup.procs") as processes:
            found |= {int(pid) for pid in processes.read().split()}
    return found


def join_cgroups(folders: Iterable[str]) -> None:
    """Move this single-threaded process. With cgroup v1, the thread moves itself (`tasks`), because moving a process
    waits for a grace period of about 13 ms. cgroup v2 moves only whole processes."""
    for folder in folders:
        # root inside can create a group named `tasks` in a delegated group
        name = "tasks" if os.path.isfile(f"{folder}/tasks") else "cgroup.procs"
        with open(f"{folder}/{name}", "r+") as members:
            members.write("0")


def send_descriptor(connection: socket.socket, message: bytes, descriptor: int) -> None:
    socket.send_fds(connection, [message], [descriptor])
