"""System calls and files by which the kernel of the node is told something, or asked for it."""

import contextlib
import ctypes
import fcntl
import os
import pty
import socket
import time
from pathlib import Path

from tests.attacks.inside.probe.base import (
    DONE,
    NOTHING,
    Blocked,
    Nothing,
    attack,
    call,
    declare_writes,
    raw_call,
)

CALLS, FILES, LOOKS, SOCKETS = "System calls", "Kernel files", "Looking at the node", "Socket families"
SECCOMP = "seccomp"
REFUSED = Blocked("EPERM", SECCOMP, bare="EPERM|ENOSYS")
AT_THE_NODE = "user namespace: takes the capability on the node"
NO_FILE = "user namespace and read-only mount, where the node's kernel has the file"


@attack(CALLS, "load a program into the kernel (bpf)", REFUSED)
def bpf() -> None:
    call("bpf", 5, b"\0" * 128, 128)


@attack(CALLS, "io_uring", Blocked("ENOSYS", SECCOMP, bare=f"{DONE}|EPERM|ENOSYS"))
def io_uring() -> None:
    os.close(call("io_uring_setup", 1, ctypes.create_string_buffer(120)))


@attack(CALLS, "add a key to a keyring", Blocked("ENOSYS", SECCOMP, bare=DONE))
def add_key() -> None:
    call("add_key", b"user", b"attack", b"x", 1, -2)  # of the process: ends with it


@attack(CALLS, "read the keyring of the user session", Blocked("ENOSYS", SECCOMP, bare=f"{DONE}|ENOKEY"))
def read_keyring() -> None:
    call("keyctl", 0, -5, 0)


@attack(CALLS, "request_key, which starts a helper of the node", Blocked("ENOSYS", SECCOMP, bare="ENOKEY"))
def request_key() -> None:
    call("request_key", b"user", b"attack", None, 0)


@attack(CALLS, "userfaultfd", Blocked("EPERM", SECCOMP, bare=f"{DONE}|EPERM|ENOSYS"))
def userfaultfd() -> None:
    os.close(call("userfaultfd", 1))


@attack(CALLS, "perf_event_open", Blocked("EPERM", SECCOMP, bare=f"{DONE}|EACCES|EPERM|ENOENT|E2BIG|EINVAL"))
def perf() -> None:
    event = (1).to_bytes(4, "little") + (112).to_bytes(4, "little") + b"\0" * 104
    os.close(call("perf_event_open", event, 0, -1, -1, 0))


@attack(CALLS, "watch a whole file system (fanotify)", Blocked("EPERM", SECCOMP, bare=f"{DONE}|EPERM|ENOSYS|EINVAL"))
def fanotify() -> None:
    os.close(call("fanotify_init", 0x200, 0))


@attack(CALLS, "open a file by its handle (open_by_handle_at)", REFUSED)
def open_by_handle() -> None:
    folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    handle = (8).to_bytes(4, "little") + (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + b"\0" * 12
    os.close(call("open_by_handle_at", folder, handle, os.O_RDONLY))


@attack(CALLS, "load a module (init_module, finit_module, delete_module)", REFUSED)
def load_module() -> None:
    call("init_module", b"\0", 1, b"")


@attack(CALLS, "load a module from a file", REFUSED)
def load_module_file() -> None:
    call("finit_module", os.open("/etc/passwd", os.O_RDONLY), b"", 0)


@attack(CALLS, "unload a module", REFUSED)
def unload_module() -> None:
    call("delete_module", b"nothing", 0)


@attack(CALLS, "load another kernel (kexec_load)", REFUSED)
def kexec() -> None:
    call("kexec_load", 0, 0, None, 0)


@attack(CALLS, "load another kernel (kexec_file_load)", REFUSED)
def kexec_file() -> None:
    call("kexec_file_load", -1, -1, 0, None, 0)


@attack(CALLS, "swapon", REFUSED)
def swapon() -> None:
    call("swapon", b"/nowhere", 0)


@attack(CALLS, "swapoff", REFUSED)
def swapoff() -> None:
    call("swapoff", b"/nowhere")


@attack(CALLS, "set the clock (clock_settime)", REFUSED)
def set_clock() -> None:
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))


@attack(CALLS, "set the clock (settimeofday)", REFUSED)
def set_time_of_day() -> None:
    call("settimeofday", None, ctypes.create_string_buffer(8))


@attack(CALLS, "slew the clock (adjtimex)", Blocked("EPERM", AT_THE_NODE))
def slew_clock() -> None:
    call("adjtimex", ctypes.create_string_buffer((1).to_bytes(4, "little") + b"\0" * 204, 208))


@attack(CALLS, "process accounting", REFUSED)
def accounting() -> None:
    call("acct", None)


@attack(CALLS, "disk quotas of the node", Blocked("EPERM", SECCOMP, bare="EPERM|ENOENT|ENOTBLK|ENODEV|ENOSYS|ESRCH"))
def quotas() -> None:
    call("quotactl", 0x800001 << 8 & 0xFFFFFFFF, b"/dev/vda", 0, None)


@attack(CALLS, "hang up the terminal of others (vhangup)", Blocked("EPERM", SECCOMP))
def hang_up() -> None:
    call("vhangup")


@attack(CALLS, "read the kernel log (syslog)", Blocked("EPERM", SECCOMP, bare=f"{DONE}|EPERM"))
def kernel_log() -> None:
    call("syslog", 3, ctypes.create_string_buffer(16), 16)


@attack(CALLS, "physical places of memory (move_pages)", Blocked("EPERM", SECCOMP, bare=f"{DONE}|ENOSYS|EPERM"))
def move_pages() -> None:
    call("move_pages", 0, 0, None, None, None, 0)


@attack(CALLS, "16-bit segments (modify_ldt)", Blocked("ENOSYS", SECCOMP, bare=f"{DONE}|ENOSYS"))
def segments() -> None:
    call("modify_ldt", 0, ctypes.create_string_buffer(16), 16)


@attack(CALLS, "personality READ_IMPLIES_EXEC", Blocked("EPERM", SECCOMP, bare=DONE))
def personality() -> None:
    call("personality", 0x0400000)


@attack(CALLS, "the host name", Blocked("EPERM", SECCOMP, full=DONE), Blocked(DONE, "permitted: uts namespace"))
def host_name() -> None:
    name = socket.gethostname().encode()
    call("sethostname", name, len(name))


def typed(request: int) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, request, b"x")
        except OSError as error:
            os._exit(error.errno or 255)
        os._exit(0)
    with contextlib.suppress(OSError):
        while os.read(terminal, 100):
            pass
    if code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise OSError(code, "TIOCSTI")


@attack(CALLS, "type into a terminal (TIOCSTI)", Blocked("EPERM", SECCOMP, bare=f"{DONE}|EIO"))
def type_in() -> None:
    typed(0x5412)


@attack(CALLS, "type into a terminal (TIOCLINUX)", Blocked("EPERM", SECCOMP, bare="ENOTTY|EINVAL"))
def type_in_by_paste() -> None:
    typed(0x541C)


@attack(
    CALLS,
    "pass by the filter with numbers of another ABI (x32)",
    Blocked("EPERM|ENOSYS", SECCOMP, bare="ENOSYS|EFAULT"),
)
def other_abi() -> None:
    raw_call(0x40000000 | 165, None, None, None, 0, None)


@attack(
    CALLS, "remove the filter (PR_SET_SECCOMP)", Blocked("EINVAL", "kernel: a filter cannot be removed", bare="EINVAL")
)
def remove_filter() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(22, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def family(number: int, kind: int = socket.SOCK_STREAM) -> None:
    call_socket = ctypes.CDLL(None, use_errno=True).socket
    descriptor = call_socket(ctypes.c_long(number), kind, 0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "socket")
    os.close(descriptor)


VSOCK = Blocked("EAFNOSUPPORT", SECCOMP, bare=f"{DONE}|EAFNOSUPPORT|ENODEV")


@attack(SOCKETS, "AF_VSOCK, a socket to the hypervisor (created, never connected)", VSOCK)
def vsock() -> None:
    family(40)


@attack(SOCKETS, "AF_VSOCK, datagrams", VSOCK)
def vsock_datagrams() -> None:
    family(40, socket.SOCK_DGRAM)


@attack(SOCKETS, "AF_VSOCK with bits above the 32nd set", VSOCK)
def vsock_high_bits() -> None:
    raw_call(41, 1 << 32 | 40, 1, 0)


@attack(
    SOCKETS,
    "AF_ALG, AF_KEY, AF_RDS, AF_CAN, AF_TIPC, AF_BLUETOOTH, AF_SMC, AF_XDP and all other families",
    Blocked("EAFNOSUPPORT", SECCOMP, bare=f"{DONE}|EAFNOSUPPORT|EPERM|EPROTONOSUPPORT|ESOCKTNOSUPPORT"),
)
def other_families() -> None:
    for number in set(range(3, 46)) - {10, 16, 17, 40}:
        try:
            family(number, socket.SOCK_SEQPACKET)
        except OSError as error:
            if error.errno != 97:
                raise
            continue
        return
    raise OSError(97, "all refused")


OF_THE_NODE = Blocked("EACCES", "user namespace: the file belongs to root of the node; read-only mount")
READ_ONLY = Blocked("EROFS", "read-only mount")
MAYBE = Blocked("EROFS|EACCES|ENOENT", NO_FILE)
NETWORK_FILE = Blocked("EACCES", "capability: NET_ADMIN; read-only mount", full="EROFS")
declare_writes(
    __name__,
    FILES,
    [
        ("sysrq", "`/proc/sysrq-trigger`", "/proc/sysrq-trigger", MAYBE, None),
        ("core_pattern", "`kernel.core_pattern`", "/proc/sys/kernel/core_pattern", OF_THE_NODE, None),
        ("modprobe", "`kernel.modprobe`", "/proc/sys/kernel/modprobe", MAYBE, None),
        ("panic", "`kernel.panic`", "/proc/sys/kernel/panic", OF_THE_NODE, None),
        ("address_layout", "`kernel.randomize_va_space`", "/proc/sys/kernel/randomize_va_space", OF_THE_NODE, None),
        ("drop_caches", "`vm.drop_caches`", "/proc/sys/vm/drop_caches", OF_THE_NODE, None),
        ("overcommit", "`vm.overcommit_memory`", "/proc/sys/vm/overcommit_memory", OF_THE_NODE, None),
        ("file_max", "`fs.file-max`", "/proc/sys/fs/file-max", OF_THE_NODE, None),
        ("forwarding", "`net.ipv4.ip_forward`, its own", "/proc/sys/net/ipv4/ip_forward", NETWORK_FILE, READ_ONLY),
        ("binfmt", "`binfmt_misc`", "/proc/sys/fs/binfmt_misc/register", MAYBE, None),
        ("uevent_helper", "`uevent_helper`", "/sys/kernel/uevent_helper", MAYBE, None),
        ("uevent", "an event of a device", "/sys/devices/system/cpu/cpu0/uevent", READ_ONLY, None),
        ("power", "`/sys/power/state`", "/sys/power/state", MAYBE, None),
        ("profiling", "`/sys/kernel/profiling`", "/sys/kernel/profiling", MAYBE, None),
        ("irq", "affinity of interrupts", "/proc/irq/default_smp_affinity", OF_THE_NODE, None),
        ("mtrr", "`/proc/mtrr`", "/proc/mtrr", MAYBE, None),
        ("lxcfs", "`/proc/meminfo`, which lxcfs serves", "/proc/meminfo", MAYBE, None),
    ],
)  # fmt: skip


def looked_at(*paths: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                if os.read(descriptor, 100).strip(b"\0"):
                    return
            finally:
                os.close(descriptor)
    raise Nothing


@attack(
    LOOKS,
    "`/proc/kcore`, `kmsg`, `keys`, `kpageflags`, `slabinfo`, `timer_list`, `interrupts`, `sched_debug`, `vmallocinfo`",
    Blocked(NOTHING, "masked paths; the rest belongs to root of the node"),
)
def kernel_secrets() -> None:
    names = ("kcore", "kmsg", "keys", "kpageflags", "kpagecount", "slabinfo", "timer_list", "interrupts")
    looked_at(*(f"/proc/{name}" for name in (*names, "sched_debug", "vmallocinfo", "pagetypeinfo", "iomem/x")))


@attack(
    LOOKS, "addresses in `/proc/kallsyms` and `/proc/modules`", Blocked(NOTHING, "kernel: shown as zero, or not there")
)
def addresses() -> None:
    for path in ("/proc/kallsyms", "/proc/modules"):
        with contextlib.suppress(OSError):
            for line in Path(path).read_text().splitlines():
                words = line.split()
                if path.endswith("kallsyms") and int(words[0], 16):
                    return
                if path.endswith("modules") and int(words[-1], 16):
                    return
    raise Nothing


@attack(LOOKS, "physical addresses in `/proc/iomem`", Blocked(NOTHING, "kernel: shown as zero"))
def physical_addresses() -> None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/iomem").read_text().splitlines():
            if int(line.split("-")[0], 16):
                return
    raise Nothing


@attack(LOOKS, "page frames in `/proc/self/pagemap`", Blocked(NOTHING, AT_THE_NODE))
def page_frames() -> None:
    here = ctypes.create_string_buffer(b"x")
    with open("/proc/self/pagemap", "rb") as file:  # noqa: PTH123
        file.seek(ctypes.addressof(here) // 4096 * 8)
        if int.from_bytes(file.read(8), "little") & ((1 << 55) - 1):
            return
    raise Nothing


@attack(
    LOOKS, "firmware, tables and debug files in `/sys`", Blocked(NOTHING, "masked path `/sys/firmware`; not mounted")
)
def firmware() -> None:
    for folder in (
        "/sys/firmware",
        "/sys/kernel/debug",
        "/sys/kernel/tracing",
        "/sys/fs/pstore",
        "/sys/kernel/security",
    ):
        with contextlib.suppress(OSError):
            if os.listdir(folder):  # noqa: PTH208
                return
    raise Nothing
