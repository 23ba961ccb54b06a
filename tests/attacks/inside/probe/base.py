"""What every attack is made of. Runs inside an environment too, so it needs the standard library only."""

import contextlib
import ctypes
import errno
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DONE, NOTHING = "done", "nothing"
SECONDS = 20
CALLS = """
    acct=163 add_key=248 adjtimex=159 bpf=321 capget=125 capset=126 clock_settime=227 clone3=435 delete_module=176
    fanotify_init=300 finit_module=313 fsopen=430 init_module=175 io_uring_register=427 io_uring_setup=425
    ioperm=173 iopl=172 kexec_file_load=320 kexec_load=246 keyctl=250 migrate_pages=256 modify_ldt=154 mount=165
    mount_setattr=442 move_mount=429 move_pages=279 name_to_handle_at=303 open_by_handle_at=304 open_tree=428
    perf_event_open=298 personality=135 pidfd_open=434 pivot_root=155 process_vm_readv=310 ptrace=101 quotactl=179
    reboot=169 request_key=249 sethostname=170 setns=308 settimeofday=164 swapoff=168 swapon=167 syslog=103
    umount2=166 unshare=272 userfaultfd=323 vhangup=153
"""
"""Numbers of x86-64, which is what the attacks were tried on."""
NUMBERS = {name: int(number) for name, number in (pair.split("=") for pair in CALLS.split())}
FACTS: dict[str, Any] = {}
"""What the test knows of the node: processes, addresses, neighbours."""
libc = ctypes.CDLL(None, use_errno=True)


class Nothing(Exception):
    """The attack was a look, and there was nothing to be seen."""


@dataclass(frozen=True)
class Blocked:
    """What is expected: `result` is an errno (alternatives with `|`), `nothing` for a look in vain, or `done` for what
    is permitted because it gains nothing. `by` names the mechanism. `bare` is the result without the seccomp filter,
    `full` without the filter and with all capabilities in the environment's user namespace; None: no change."""

    result: str
    by: str
    bare: str | None = None
    full: str | None = None

    def expected(self, mode: str) -> set[str]:
        bare = self.result if self.bare is None else self.bare
        full = bare if self.full is None else self.full
        return set({"session": self.result, "unit": self.result, "bare": bare, "full": full}[mode].split("|"))


@dataclass(frozen=True)
class Attack:
    group: str
    what: str
    run: Callable[[], object]
    outcomes: dict[str, Blocked]
    module: str

    @property
    def name(self) -> str:
        return self.run.__name__


ATTACKS: dict[str, Attack] = {}


def attack(
    group: str, what: str, plain: Blocked, systemd: Blocked | None = None
) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Declare an attack. It succeeds by returning and fails with OSError; `Nothing` is a look in vain."""

    def declare(run: Callable[[], object]) -> Callable[[], object]:
        if run.__name__ in ATTACKS:
            raise ValueError(f"two attacks are called {run.__name__}")
        ATTACKS[run.__name__] = Attack(group, what, run, {"plain": plain, "systemd": systemd or plain}, run.__module__)
        return run

    return declare


def declare_writes(module: str, group: str, cases: Iterable[tuple[str, str, str, Blocked, Blocked | None]]) -> None:
    """Attacks that open a file for writing and write nothing: (name, what, path, plain, systemd)."""
    for name, what, path, plain, systemd in cases:

        def run(path: str = path) -> None:
            open_to_write(path)

        run.__name__, run.__module__ = name, module
        attack(group, what, plain, systemd)(run)


def call(name: str, *arguments: Any) -> int:
    return raw_call(NUMBERS[name], *arguments)


def raw_call(number: int, *arguments: Any) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *words))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    call("mount", *words, flags, None if data is None else data.encode())


def umount(target: str) -> None:
    call("umount2", target.encode(), 0)


def open_to_write(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))


def private_mounts() -> None:
    """What is changed by a mount that works ends with this process; where that is refused, so is the mount."""
    with contextlib.suppress(OSError):
        call("unshare", 0x20000)
        mount("none", "/", None, 0x4000 | 0x40000)


def in_user_namespace(flags: int = 0) -> None:
    """Become root of a new user namespace in which the environment's root is mapped."""
    ready, answer = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:  # maps from outside, where the capabilities are
        try:
            os.read(ready[0], 1)
            for name in ("uid_map", "gid_map"):
                Path(f"/proc/{os.getppid()}/{name}").write_text("0 0 1000")
        finally:
            os.write(answer[1], b"1")
            os._exit(0)
    try:
        call("unshare", 0x10000000 | flags)
    finally:
        os.write(ready[1], b"1")
    os.read(answer[0], 1)
    os.waitpid(child, 0)


def outcome(run: Callable[[], object]) -> str:
    """In a process of its own: an attack that kills or confines itself does not end the others."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(SECONDS)
        os.close(reader)
        os.write(writer, tell(run).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        said = answers.read()
    status = os.waitpid(pid, 0)[1]
    return said or f"signal {os.WTERMSIG(status)}"


def tell(run: Callable[[], object]) -> str:
    try:
        run()
    except Nothing:
        return NOTHING
    except OSError as error:
        is_late = isinstance(error, TimeoutError)
        return errno.errorcode.get(errno.ETIMEDOUT if is_late else error.errno or 0, str(error))
    except Exception as error:  # noqa: BLE001 # house: broad-except because a bug in an attack is shown, not hidden
        return f"{type(error).__name__}: {error}"
    return DONE
