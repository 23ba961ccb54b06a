"""The process of a session inside an environment, between fork and exec.

Until exec it holds a copy of the gateway's memory. Therefore it first becomes untraceable, closes all descriptors that
the session does not need, and imports no module after entering the environment. The tenant controls every file that it
reads inside.
"""

import contextlib
import errno
import fcntl
import os
import resource
import signal
import stat
from dataclasses import dataclass, field
from typing import NoReturn

from gpuaas.engines.node.kernel import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    setns,
)
from gpuaas.engines.storage import entering
from gpuaas.gateway import kernel

MOST_BYTES = 1 << 20
MOST_GROUPS = 256
MOST_ID = 65_535
SHELLS = ("/bin/bash", "/bin/sh")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP
OOM_SCORE = 500  # OOM order: before pid 1 of the environment, which has 0
FAILED = 255
NOT_RUN = 127
CANNOT = "The session could not be started in this environment"


@dataclass(frozen=True, kw_only=True)
class SessionOrder:
    """The command and its rights. Without `command`: a login shell."""

    init: int  # pidfd of the environment's first process
    username: str
    uid: int
    command: str | None
    variables: dict[str, str]
    cgroups: tuple[str, ...]
    capabilities: tuple[int, ...]
    open_files: int
    seccomp: bytes = b""
    banner: bytes = b""
    descriptors: tuple[int, int, int] | None = None  # None: open a terminal inside, see `report`
    report: int = -1  # socket that receives a terminal opened inside


@dataclass(frozen=True)
class Account:
    """The holder's account according to files of the environment, or default values."""

    home: str
    shell: str
    group: int
    groups: list[int] = field(default_factory=list)


def become(order: SessionOrder) -> NoReturn:
    """Execute the session, or write one line with the reason and exit. Never returns."""
    try:
        kernel.hide_from_tracers()
        entering.forbid_imports()
        score = _prepare(order)
        setns(order.init, NAMESPACES)
        _enter_as_root(order)
        account = read_account(order.username, order.uid)
        _give_up_rights(order, account)
        os.write(score, b"%d" % OOM_SCORE)
        _execute(order, account)
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError):
            os.write(2, f"{CANNOT}: {error}\r\n".encode())
    finally:
        os._exit(FAILED)


def _prepare(order: SessionOrder) -> int:
    """Steps that need rights on the node: control groups, limits, and a terminal of another session. The OOM score is
    written last: as a copy of the gateway, this would be the largest process and the first to be killed."""
    kept = {order.init, *([] if order.report < 0 else [order.report]), *(order.descriptors or ())}
    kernel.close_all_but(kept)
    if order.descriptors is not None:
        _use(order.descriptors)
    kernel.reset_signals()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    kernel.join_cgroups(order.cgroups)
    score = kernel.open_oom_score()  # the /proc of the node: the tenant controls that of the environment
    _limit_open_files(order.open_files)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.umask(0o022)
    os.setsid()
    if order.descriptors is not None and os.isatty(0):
        kernel.take_terminal(0)
    return score


def _limit_open_files(wanted: int) -> None:
    """Set the limit as far as the node permits it."""
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    except (OSError, ValueError):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most), min(wanted, most)))


def _use(descriptors: tuple[int, int, int]) -> None:
    """Install descriptors 0, 1 and 2. Copy them to higher numbers first, because they may use these numbers."""
    copies = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3) for descriptor in descriptors]
    for descriptor in set(descriptors):
        os.close(descriptor)
    for number, copy in enumerate(copies):
        os.dup2(copy, number)
        os.close(copy)


def _enter_as_root(order: SessionOrder) -> None:
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    kernel.hide_from_tracers()  # a change of ids may reset it
    if order.descriptors is None:
        _open_terminal(order)


def _open_terminal(order: SessionOrder) -> None:
    """Open a terminal in the environment's devpts, so that it has a name inside. The gateway checks it."""
    flags = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    master = os.open("/dev/pts/ptmx", flags)
    if not stat.S_ISCHR(os.fstat(master).st_mode):
        raise OSError(errno.ENOTTY, "there are no terminals inside")
    kernel.unlock_terminal(master)
    slave = kernel.terminal_peer(master)
    os.fchown(slave, order.uid, -1)
    with kernel.socket_of(order.report) as report:
        kernel.send_descriptor(report, b"t", master)
    os.close(master)
    kernel.take_own_terminal(slave)
    _use((slave, slave, slave))


def read_account(username: str, uid: int) -> Account:
    """Parse defensively: the tenant's root may write anything there, and the holder must still be able to log in."""
    home, shell, group = f"/home/{username}", "", uid
    for fields in _entries("/etc/passwd", 7):
        if fields[0] == username and fields[2] == str(uid):
            group = int(fields[3]) if _is_id(fields[3]) else uid
            home, shell = fields[5], fields[6].strip()
            break
    groups = [
        int(fields[2])
        for fields in _entries("/etc/group", 4)
        if _is_id(fields[2]) and username in fields[3].strip().split(",")
    ]
    return Account(home, shell, group, groups[:MOST_GROUPS])


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(MOST_ID)) and int(text) <= MOST_ID


def _entries(path: str, count: int) -> list[list[str]]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, MOST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
        finally:
            os.close(descriptor)
    except OSError:
        return []
    lines = (line.split(":") for line in text.decode("utf-8", "surrogateescape").split("\n"))
    return [fields for fields in lines if len(fields) == count]


def _give_up_rights(order: SessionOrder, account: Account) -> None:
    kernel.limit_bounding_set(order.capabilities)
    if order.seccomp:
        kernel.load_seccomp(order.seccomp)
    os.setgroups(account.groups)
    os.setresgid(account.group, account.group, account.group)
    os.setresuid(order.uid, order.uid, order.uid)


def _execute(order: SessionOrder, account: Account) -> None:
    if order.banner:
        os.write(1, order.banner)
    try:
        os.chdir(account.home)
    except OSError:
        os.chdir("/")
    for shell in dict.fromkeys((account.shell, *SHELLS)):
        name = shell.rpartition("/")[2]
        argv = [f"-{name}"] if order.command is None else [name, "-c", order.command]
        variables = {
            "PATH": PATH,
            **order.variables,
            "HOME": account.home,
            "USER": order.username,
            "LOGNAME": order.username,
            "SHELL": shell,
        }
        if shell.startswith("/"):
            with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                os.execve(shell, argv, variables)  # noqa: S606 (the person's own shell)
    os.write(2, f"{CANNOT}: it has no shell that runs\r\n".encode())
    os._exit(NOT_RUN)
