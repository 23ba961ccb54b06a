"""Mounts, control groups and user namespaces."""

import os
import socket
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from tests.attacks.inside.probe.base import (
    DONE,
    NOTHING,
    Blocked,
    Nothing,
    attack,
    call,
    in_user_namespace,
    mount,
    open_to_write,
    private_mounts,
    umount,
)

MS_RDONLY, MS_REMOUNT, MS_BIND = 1, 32, 4096
NEWNS, NEWCGROUP, NEWUSER, NEWNET, NEWPID = 0x20000, 0x2000000, 0x10000000, 0x40000000, 0x20000000
SECCOMP = "seccomp"
FILTERED = Blocked("EPERM", SECCOMP, full=DONE)
OWN_VIEW = "permitted: changes what programs inside see, and nothing that the node reads"
LOCKED = Blocked("EPERM", "locked mount: the read-only flag was set outside the environment's user namespace")
NO_FS = Blocked("EPERM", "user namespace: this file system takes rights on the node")
OF_THE_NODE = "user namespace: the file belongs to root of the node, who has no id inside"
MOUNTS, GROUPS, USERS = "Mounts", "Control groups", "User namespaces (root inside, then all capabilities in a new one)"


@attack(MOUNTS, "mount a tmpfs", FILTERED, Blocked(DONE, OWN_VIEW))
def mount_tmpfs() -> None:
    private_mounts()
    mount("tmpfs", "/mnt", "tmpfs")


@attack(MOUNTS, "cover `/etc/gpuaas` by a bind mount", FILTERED, Blocked(DONE, OWN_VIEW))
def cover_facts() -> None:
    private_mounts()
    mount("/var/tmp", "/etc/gpuaas", None, MS_BIND)  # noqa: S108


@attack(MOUNTS, "unmount `/etc/gpuaas`", FILTERED, Blocked(DONE, OWN_VIEW))
def uncover_facts() -> None:
    private_mounts()
    umount("/etc/gpuaas")


def remounted(path: str) -> None:
    private_mounts()
    mount("none", path, None, MS_REMOUNT | MS_BIND)


@attack(MOUNTS, "remount `/etc/gpuaas` writable", Blocked("EPERM", SECCOMP), LOCKED)
def remount_facts() -> None:
    remounted("/etc/gpuaas")


@attack(MOUNTS, "remount `/opt/gpuaas/runtimes` writable", Blocked("EPERM", SECCOMP), LOCKED)
def remount_runtimes() -> None:
    remounted("/opt/gpuaas/runtimes")


@attack(MOUNTS, "make `/opt/gpuaas/bin` writable with mount_setattr", Blocked("EPERM", SECCOMP), LOCKED)
def remount_programs() -> None:
    private_mounts()
    call("mount_setattr", -100, b"/opt/gpuaas/bin", 0, b"\0" * 8 + b"\1" + b"\0" * 23, 32)


@attack(MOUNTS, "bind `/etc/gpuaas` elsewhere, then make the copy writable", Blocked("EPERM", SECCOMP), LOCKED)
def bind_and_remount() -> None:
    private_mounts()
    mount("/etc/gpuaas", "/mnt", None, MS_BIND)
    mount("none", "/mnt", None, MS_REMOUNT | MS_BIND)
    Path("/mnt/x").touch()


@attack(MOUNTS, "clone the tree of `/opt/gpuaas` with open_tree", FILTERED, Blocked(DONE, OWN_VIEW))
def clone_tree() -> None:
    os.close(call("open_tree", -100, b"/opt/gpuaas", 1))


@attack(MOUNTS, "open a file system with fsopen", FILTERED, Blocked(DONE, OWN_VIEW))
def open_file_system() -> None:
    os.close(call("fsopen", b"tmpfs", 0))


@attack(
    MOUNTS,
    "a new `/proc` without masked paths",
    Blocked("EPERM", SECCOMP, full=DONE),
    Blocked(DONE, "permitted: own pid namespace; files that tell or change something belong to root of the node"),
)
def mount_proc() -> None:
    private_mounts()
    mount("proc", "/mnt", "proc")


@attack(
    MOUNTS,
    "a new, writable `/sys`",
    Blocked("EPERM", SECCOMP),
    Blocked("EPERM", "kernel: a new sysfs must show no more than a locked, read-only one"),
)
def mount_sysfs() -> None:
    private_mounts()
    mount("sysfs", "/mnt", "sysfs")


def refused_kinds(*kinds: str) -> None:
    private_mounts()
    for kind in kinds:
        try:
            mount("none", "/mnt", kind)
        except (PermissionError, FileNotFoundError):
            continue
        except OSError as error:
            if error.errno != 19:  # ENODEV: the node's kernel does not have it
                raise
            continue
        return
    raise PermissionError(1, "all refused")


@attack(MOUNTS, "debugfs, tracefs, securityfs, configfs, devtmpfs, pstore, efivarfs", Blocked("EPERM", SECCOMP), NO_FS)
def mount_kernel_files() -> None:
    refused_kinds("debugfs", "tracefs", "securityfs", "configfs", "devtmpfs", "pstore", "efivarfs")


@attack(MOUNTS, "an ext4 image of one's own making", Blocked("EPERM", SECCOMP), NO_FS)
def mount_image() -> None:
    private_mounts()
    mount("/etc/passwd", "/mnt", "ext4")


@attack(MOUNTS, "pivot_root", Blocked("EPERM", SECCOMP, full="EINVAL|EBUSY"), Blocked("EINVAL|EBUSY", "kernel"))
def pivot() -> None:
    private_mounts()
    call("pivot_root", b"/", b"/")


@attack(
    MOUNTS,
    "uncover `/proc/sys`, then write `kernel.core_pattern`",
    Blocked("EPERM", SECCOMP, full="EACCES"),
    Blocked("EACCES", OF_THE_NODE),
)
def uncover_sysctls() -> None:
    private_mounts()
    umount("/proc/sys")
    open_to_write("/proc/sys/kernel/core_pattern")


@attack(
    MOUNTS,
    "remount `/sys` writable, then write `uevent_helper`",
    Blocked("EPERM", SECCOMP, full="EACCES|ENOENT"),
    Blocked("EACCES|ENOENT", OF_THE_NODE),
)
def remount_sys() -> None:
    private_mounts()
    mount("none", "/sys", None, MS_REMOUNT | MS_BIND)
    open_to_write("/sys/kernel/uevent_helper")


@attack(
    MOUNTS,
    "uncover `/proc/keys` and read keys of others",
    Blocked("EPERM", SECCOMP, full=NOTHING),
    Blocked(NOTHING, "user namespace: keys of ids outside the range are not listed"),
)
def uncover_keys() -> None:
    private_mounts()
    umount("/proc/keys")
    lines = Path("/proc/keys").read_text().splitlines()
    if not [line for line in lines if int(line.split()[5]) > 65_535]:
        raise Nothing


@attack(
    MOUNTS,
    "uncover `/sys/devices/virtual/block` and read the names of others' disks",
    Blocked("EPERM", SECCOMP, full=DONE),
    Blocked(DONE, "not blocked: tells the ids of allocations on this node, and nothing of what they hold"),
)
def uncover_disks() -> None:
    private_mounts()
    umount("/sys/devices/virtual/block")
    os.listdir("/sys/devices/virtual/block")  # noqa: PTH208


GROUP_FILES = Blocked("EACCES", OF_THE_NODE + "; read-only mount")
NO_GROUP = "cgroup namespace: the file is in the root of the hierarchy only"


def cgroup_file(name: str, controller: str) -> str:
    """In plain environments the groups are mounted; with systemd the old hierarchy is mounted here for the purpose."""
    shown = Path("/sys/fs/cgroup") / controller / name
    if shown.exists():
        return str(shown)
    private_mounts()
    mount("cgroup", "/mnt", "cgroup", 0, controller)
    return f"/mnt/{name}"


NOT_HANDED_OVER = Blocked("EACCES", "user namespace: the group's limits were not handed over")


@attack(GROUPS, "raise its own memory limit", GROUP_FILES, NOT_HANDED_OVER)
def raise_memory() -> None:
    open_to_write(cgroup_file("memory.limit_in_bytes", "memory"))


@attack(GROUPS, "raise its own limit of processes", GROUP_FILES, NOT_HANDED_OVER)
def raise_tasks() -> None:
    open_to_write(cgroup_file("pids.max", "pids"))


@attack(GROUPS, "raise its own CPU quota", GROUP_FILES, NOT_HANDED_OVER)
def raise_cpu() -> None:
    open_to_write(cgroup_file("cpu.cfs_quota_us", "cpu"))


@attack(GROUPS, "allow itself all devices", GROUP_FILES, NOT_HANDED_OVER)
def allow_devices() -> None:
    open_to_write(cgroup_file("devices.allow", "devices"))


@attack(
    GROUPS,
    "set `release_agent`, a program that the node would run as root",
    Blocked("EPERM", f"seccomp (mount); {NO_GROUP}", full="ENOENT"),
    Blocked("ENOENT", NO_GROUP),
)
def release_agent() -> None:
    open_to_write(cgroup_file("release_agent", "memory"))


@attack(GROUPS, "make a group of its own, with limits of its own", Blocked("EROFS", "read-only mount"), NOT_HANDED_OVER)
def make_group() -> None:
    file = Path(cgroup_file("cgroup.procs", "pids"))
    file.with_name("escape").mkdir()


TOO_MANY_GROUPS = Blocked("EAGAIN", "limits of the group that was handed over: `cgroup.max.descendants` and `.depth`")


@attack(GROUPS, "make groups without end", Blocked("EROFS", "read-only mount"), TOO_MANY_GROUPS)
def make_many_groups() -> None:
    make_groups(own_group() / f"many{number}" for number in range(4_000))


@attack(GROUPS, "nest groups without end", Blocked("EROFS", "read-only mount"), TOO_MANY_GROUPS)
def nest_groups() -> None:
    make_groups(Path(own_group(), *["deep"] * depth) for depth in range(1, 64))


@attack(GROUPS, "raise the limit of its groups", Blocked("ENOENT", "not mounted"), NOT_HANDED_OVER)
def raise_groups() -> None:
    open_to_write("/sys/fs/cgroup/cgroup.max.descendants")


def own_group() -> Path:
    root = Path("/sys/fs/cgroup")
    return root / "pids" if (root / "pids").exists() else root


def make_groups(wanted: Iterable[Path]) -> None:
    with ExitStack() as made:
        for path in wanted:
            path.mkdir()
            made.callback(path.rmdir)


@attack(
    GROUPS,
    "move itself to the group above",
    Blocked("EROFS", "read-only mount; nothing above is visible (cgroup namespace)"),
    Blocked(DONE, "permitted: `cgroup.procs` is the environment's own group, and nothing above is visible"),
)
def move_up() -> None:
    (own_group() / "cgroup.procs").write_text(str(os.getpid()))


@attack(GROUPS, "freeze or kill its own group as a whole", Blocked("ENOENT", "not mounted"), NOT_HANDED_OVER)
def kill_group() -> None:
    open_to_write("/sys/fs/cgroup/cgroup.kill")


@attack(USERS, "make a user namespace", Blocked("EPERM", SECCOMP, bare=DONE), Blocked(DONE, "permitted: see below"))
def make_user_namespace() -> None:
    call("unshare", NEWUSER)


@attack(
    USERS,
    "the same with bits above the 32nd set",
    Blocked("EPERM", SECCOMP, bare="EINVAL"),
    Blocked("EINVAL", "kernel"),
)
def make_user_namespace_high_bits() -> None:
    call("unshare", 1 << 40 | NEWUSER)


@attack(USERS, "the same with clone3", Blocked("ENOSYS", SECCOMP, bare="EINVAL"), Blocked("EINVAL", "kernel"))
def make_user_namespace_clone3() -> None:
    call("clone3", b"\0" * 64, 1)


def nested(by: str, result: str = "EPERM", *, bare: str | None = None) -> tuple[Blocked, Blocked]:
    return Blocked("EPERM", SECCOMP, bare=bare or result), Blocked(result, by)


@attack(USERS, "map an id of a neighbour into it", *nested("user namespace: only ids of the own range can be mapped"))
def map_neighbour() -> None:
    ready, stay = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call("unshare", NEWUSER)
            os.write(ready[1], b"1")
            os.read(stay[0], 1)
        finally:
            os._exit(0)
    os.close(ready[1])
    try:
        if not os.read(ready[0], 1):
            raise PermissionError(1, "no user namespace")
        Path(f"/proc/{child}/uid_map").write_text("0 65536 1")
    finally:
        os.write(stay[1], b"1")


@attack(USERS, "mount an ext4 image", *nested(NO_FS.by))
def nested_image() -> None:
    in_user_namespace(NEWNS)
    mount("/etc/passwd", "/mnt", "ext4")


@attack(USERS, "make a device node", *nested("user namespace: takes CAP_MKNOD on the node"))
def nested_mknod() -> None:
    in_user_namespace(NEWNS)
    mount("tmpfs", "/mnt", "tmpfs")
    os.mknod("/mnt/disk", 0o60600, os.makedev(254, 0))


@attack(USERS, "remount `/etc/gpuaas` writable", *nested(LOCKED.by))
def nested_remount() -> None:
    in_user_namespace(NEWNS)
    mount("none", "/etc/gpuaas", None, MS_REMOUNT | MS_BIND)


@attack(USERS, "unmount `/etc/gpuaas`", *nested("locked mount: mounts of an outer user namespace stay", "EINVAL"))
def nested_umount() -> None:
    in_user_namespace(NEWNS)
    umount("/etc/gpuaas")


@attack(USERS, "write `kernel.core_pattern`", *nested(OF_THE_NODE, "EACCES"))
def nested_sysctl() -> None:
    in_user_namespace(NEWNS)
    open_to_write("/proc/sys/kernel/core_pattern")


@attack(
    USERS,
    "mount control groups in a new cgroup namespace and set `release_agent`",
    *nested(NO_GROUP, "ENOENT|EPERM"),
)
def nested_release_agent() -> None:
    in_user_namespace(NEWNS | NEWCGROUP)
    mount("cgroup", "/mnt", "cgroup", 0, "memory")
    open_to_write("/mnt/release_agent")


@attack(USERS, "raise the memory limit there", *nested(OF_THE_NODE, "EACCES|EPERM"))
def nested_limit() -> None:
    in_user_namespace(NEWNS | NEWCGROUP)
    mount("cgroup", "/mnt", "cgroup", 0, "memory")
    open_to_write("/mnt/memory.limit_in_bytes")


@attack(USERS, "enter the namespaces of pid 1 from there", *nested("user namespace: no rights in the outer one"))
def nested_setns() -> None:
    outer = os.open("/proc/1/ns/mnt", os.O_RDONLY)
    in_user_namespace(NEWNS)
    call("setns", outer, NEWNS)


@attack(USERS, "change the environment's network from there", *nested("user namespace: no rights in the outer one"))
def nested_network() -> None:
    in_user_namespace()
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, 1):
        pass
