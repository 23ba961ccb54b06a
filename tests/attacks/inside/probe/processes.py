"""Processes beyond the environment, rights, limits, and the SSH gateway."""

import ctypes
import os
import resource
import shutil
import struct
import subprocess
from pathlib import Path

from tests.attacks.inside.probe.base import DONE, FACTS, NOTHING, Blocked, Nothing, attack, call

PROCESSES, RIGHTS, GATEWAY = "Processes", "Rights and limits", "Keys and the SSH gateway"
PID_NAMESPACE = "pid namespace: it has no number inside"
BEYOND = Blocked("ESRCH", PID_NAMESPACE)
NODE_CAPABILITY = "user namespace: takes the capability on the node"


def outside() -> list[int]:
    """The agent, the SSH gateway, conmon and a neighbour's pid 1, as the node numbers them, unless the number is that
    of a process of our own."""
    return [pid for pid in FACTS["processes"] if not Path(f"/proc/{pid}").exists()]


@attack(PROCESSES, "signal the agent, the SSH gateway, conmon, a neighbour", BEYOND)
def signal_node() -> None:
    for pid in outside():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        return
    raise ProcessLookupError(3, "none")


@attack(PROCESSES, "trace them (ptrace)", BEYOND)
def trace_node() -> None:
    for pid in outside():
        call("ptrace", 16, pid, 0, 0)


@attack(PROCESSES, "read their memory (process_vm_readv)", BEYOND)
def read_memory() -> None:
    room = ctypes.create_string_buffer(8)
    vector = struct.pack("QQ", ctypes.addressof(room), 8)
    for pid in outside():
        call("process_vm_readv", pid, vector, 1, vector, 1, 0)


@attack(PROCESSES, "take a descriptor of theirs (pidfd_open)", BEYOND)
def take_descriptor() -> None:
    for pid in outside():
        os.close(os.pidfd_open(pid))


@attack(PROCESSES, "find any process of the node in `/proc`", Blocked(NOTHING, "pid namespace"))
def find_processes() -> None:
    words = ("gpuaas", "sshd", "conmon", "lxcfs", "runc", "postgres", "pytest")
    own = {str(os.getpid()), str(os.getppid())}
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and path.name not in own:
            try:
                line = (path / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if any(word in line.split("\0")[0] for word in words):
                raise FileExistsError(17, line)
    raise Nothing


@attack(
    PROCESSES, "signal everything that can be seen, and end something of the node", Blocked(NOTHING, "pid namespace")
)
def signal_all() -> None:
    """Signal 0 to every process: all of them are listed in our own /proc."""
    os.kill(-1, 0)
    seen = {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}
    if not seen & set(outside()):
        raise Nothing


@attack(PROCESSES, "end pid 1 with SIGKILL", Blocked(NOTHING, "kernel: pid 1 takes no SIGKILL from its own namespace"))
def kill_first() -> None:
    os.kill(1, 9)
    os.kill(1, 0)
    raise Nothing


@attack(
    PROCESSES, "namespaces of the node through `/proc/1/ns`", Blocked(NOTHING, "pid namespace: it is its own pid 1")
)
def namespaces_of_node() -> None:
    for kind in ("mnt", "pid", "net", "user", "ipc", "uts", "cgroup"):
        try:
            if os.readlink(f"/proc/1/ns/{kind}") in FACTS["namespaces"]:  # noqa: PTH115
                return
        except PermissionError:
            continue
    raise Nothing


@attack(
    RIGHTS,
    "give itself capabilities (capset)",
    Blocked("EPERM", "capability: not in the permitted set", full="EPERM|done"),
)
def capset() -> None:
    everything = (1 << 41) - 1
    low, high = everything & 0xFFFFFFFF, everything >> 32
    call("capset", struct.pack("II", 0x20080522, 0), struct.pack("IIIIII", low, low, 0, high, high, 0))


@attack(
    RIGHTS,
    "a program with file capabilities that are not in the bounding set",
    Blocked("EPERM", "capability: bounding set", full=DONE),
)
def file_capabilities() -> None:
    path = f"/var/tmp/capable-{os.getpid()}"  # noqa: S108 (of the environment)
    shutil.copy("/bin/true", path)
    module = 1 << 16
    try:
        os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, module, 0, 0, 0))
        subprocess.run([path], check=True)
    finally:
        Path(path).unlink()


@attack(RIGHTS, "raise a hard limit (open files)", Blocked("EPERM", NODE_CAPABILITY))
def raise_open_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard + 1))
    except ValueError as error:  # as Python tells EPERM
        raise PermissionError(1, "setrlimit") from error


@attack(RIGHTS, "realtime scheduling", Blocked("EPERM", NODE_CAPABILITY))
def realtime() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


@attack(RIGHTS, "a higher priority (nice -5)", Blocked("EACCES|EPERM", NODE_CAPABILITY))
def nice() -> None:
    os.setpriority(os.PRIO_PROCESS, 0, -5)


@attack(
    RIGHTS,
    "CPUs that were not sold (sched_setaffinity)",
    Blocked(NOTHING, "cpuset: the call keeps to the CPUs that were sold"),
)
def more_cpus() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(64))
    if os.sched_getaffinity(0) <= before:
        raise Nothing


@attack(RIGHTS, "never be chosen for lack of memory (oom_score_adj -1000)", Blocked("EACCES", NODE_CAPABILITY))
def never_killed() -> None:
    Path("/proc/self/oom_score_adj").write_text("-1000")


@attack(
    RIGHTS, "an id of a neighbour (setuid 65536)", Blocked("EINVAL", "user namespace: the id has no meaning inside")
)
def neighbour_id() -> None:
    os.setresuid(65_536, 65_536, 65_536)


@attack(
    RIGHTS,
    "give a file to a neighbour's id (chown 65536)",
    Blocked("EINVAL", "user namespace: the id has no meaning inside"),
)
def neighbour_file() -> None:
    path = Path(f"/var/tmp/given-{os.getpid()}")  # noqa: S108 (of the environment)
    path.touch()
    try:
        os.chown(path, 65_536, 65_536)
    finally:
        path.unlink()


@attack(
    GATEWAY,
    "host keys, key files and configuration of the SSH gateway",
    Blocked(NOTHING, "mount namespace: they are in sshd's own root"),
)
def gateway_files() -> None:
    for pattern in ("platform/*", "proc/*/root/platform/*", "etc/ssh/ssh_host_*", "run/gpuaas/*", "var/lib/gpuaas/*"):
        if found := next(Path("/").glob(pattern), None):
            raise FileExistsError(17, str(found))
    raise Nothing


@attack(GATEWAY, "sockets of the gateway and the agent in `/proc/net/unix`", Blocked(NOTHING, "network namespace"))
def gateway_sockets() -> None:
    lines = Path("/proc/net/unix").read_text().splitlines()
    if not [line for line in lines if "/platform" in line or "gateway" in line or FACTS["root"] in line]:
        raise Nothing


@attack(GATEWAY, "a folder of the engine by its path on the node", Blocked("ENOENT", "mount namespace"))
def engine_folder() -> None:
    os.listdir(FACTS["root"])  # noqa: PTH208
