"""System calls that only the gateway needs: for processes, terminals and TCP connections."""

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
STATE, BORN, EXIT_CODE = 0, 19, 49  # of the fields behind the name in /proc/<pid>/stat


def fork_with(enter: Callable[[], None], own_pid_namespace: int) -> int:
    """Fork a child into another pid namespace. `enter` changes the namespace of future children, and this undoes it."""
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
    """Every signal has its default action, as a program expects it."""
    for number in range(1, signal.NSIG):
        with suppress(OSError, ValueError):  # some cannot be changed, or are the C library's
            signal.signal(number, signal.SIG_DFL)


def open_oom_score() -> int:
    """Processes with a higher score end first for lack of memory. To lower it needs CAP_SYS_RESOURCE."""
    return os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)


def set_oom_score(score: int) -> None:
    descriptor = open_oom_score()
    try:
        os.write(descriptor, str(score).encode())
    finally:
        os.close(descriptor)


def limit_bounding_set(keep: Iterable[int]) -> None:
    """No program that this process or its children run can gain any other capability."""
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
    """From here on, for good. Needs CAP_SYS_ADMIN in the user namespace, as no_new_privs would break sudo."""
    loaded = _Program(len(program) // 8, program)
    call("seccomp", SECCOMP[os.uname().machine], SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(loaded))


def peer_of(connection: socket.socket) -> tuple[int, int, int]:
    """The pid, uid and pidfd of the process that connected."""
    pid, uid, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    try:
        pidfd = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError:  # before Linux 6.5
        pidfd = os.pidfd_open(pid)
    return pid, uid, pidfd


def exit_code_of(pid: int, pidfd: int) -> int | None:
    """Exit code of an ended process, negative for a signal. Of another's child: None until the kernel tells."""
    try:
        status = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        return _others_exit_code(pid, pidfd)
    if status is None:
        return None
    return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


def _others_exit_code(pid: int, pidfd: int) -> int | None:
    """Until its parent collects it, it is in /proc; since Linux 6.15 the pidfd has it from then on."""
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
    """The fields behind the name; none when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def pid_namespace_of(pid: int) -> int:
    return os.stat(f"/proc/{pid}/ns/pid").st_ino  # noqa: PTH116 (a file of /proc)


def birth_of(pid: int) -> str:
    """Field 22 of /proc/<pid>/stat; empty when there is no such process or it has ended."""
    fields = _stat_of(pid)
    return "" if not fields or fields[STATE] in (b"Z", b"X") else fields[BORN].decode()


def open_process(pid: int, born: str) -> int | None:
    """A descriptor of this very process; None when it has ended, whoever has its number now."""
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
    """Bytes received from and acknowledged by the peer, as the kernel counts them."""
    info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, TCP_INFO_BYTES + 16)
    if len(info) < TCP_INFO_BYTES + 16:
        return 0, 0
    acknowledged, received = struct.unpack_from("QQ", info, TCP_INFO_BYTES)
    return received, acknowledged


def sent_to(connection: socket.socket) -> int:
    """Bytes that were sent to the peer or wait to be, as the kernel counts them."""
    info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, TCP_INFO_SENT + 8)
    if len(info) < TCP_INFO_SENT + 8:
        return 0
    return int(struct.unpack_from("Q", info, TCP_INFO_SENT)[0]) + int(struct.unpack_from("I", info, TCP_NOT_SENT)[0])


def write_at_once(descriptor: int, data: bytes) -> bool:
    """Write to a socket or pipe of another process without ever waiting; False for a file of another kind. The flags
    of the descriptor are shared with that process, which can also fill the buffer at any time: so they stay as they
    are, and no earlier question whether it is writable would help."""
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
    """Make it the controlling terminal, also if another session has it; needs CAP_SYS_ADMIN on the node."""
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 1)


def take_own_terminal(descriptor: int) -> None:
    """Make it the controlling terminal; nobody else has it."""
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


def unlock_terminal(master: int) -> None:
    fcntl.ioctl(master, TIOCSPTLCK, struct.pack("i", 0))


def terminal_peer(master: int) -> int:
    """The other end of a terminal, whatever its name leads to."""
    return fcntl.ioctl(master, TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)


def check_terminal(master: int) -> None:
    """Raises OSError for anything but the master of a terminal."""
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
    """Processes in these control groups; one that is gone has none."""
    found: set[int] = set()
    for folder in folders:
        with suppress(FileNotFoundError), open(f"{folder}/cgroup.procs") as processes:
            found |= {int(pid) for pid in processes.read().split()}
    return found


def join_cgroups(folders: Iterable[str]) -> None:
    """In a process with one thread. cgroup v1 lets the thread move itself (`tasks`); moving a whole process waits for a
    grace period, about 13 ms. cgroup v2 moves only whole processes."""
    for folder in folders:
        # root inside can make a group named `tasks` in a group that was handed over
        name = "tasks" if os.path.isfile(f"{folder}/tasks") else "cgroup.procs"
        with open(f"{folder}/{name}", "r+") as members:
            members.write("0")


def send_descriptor(connection: socket.socket, message: bytes, descriptor: int) -> None:
    socket.send_fds(connection, [message], [descriptor])
