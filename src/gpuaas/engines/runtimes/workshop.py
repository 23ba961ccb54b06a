"""Runs one step of a staging inside the base image, as pid 1 of a private pid namespace.

This separate process is started by `unshare` in new namespaces. It reads one JSON order from standard input, creates
the root, starts the step as an unprivileged child and exits with its exit code. The kernel then ends remaining
processes of the step. Uses only the standard library.

It stays pid 1 instead of executing the step, because the kernel drops the parent-death signal of a process that changes
its user: a check would outlive a killed agent.
"""

# ruff: noqa: PTH103, PTH110, PTH120 (plain strings start faster)

import base64
import ctypes
import json
import os
import resource
import socket
import stat
import sys

from gpuaas.engines.node import kernel
from gpuaas.engines.node.kernel import (
    AT_FDCWD,
    CLONE_NEWUSER,
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    MOVE_MOUNT,
    MOVE_MOUNT_F_EMPTY_PATH,
    call,
    checked,
    clone_tree,
    libc,
    set_attributes,
    setns,
)
from gpuaas.engines.oci.launcher import STAGE, write_file
from gpuaas.engines.storage.mounting import Order, user_namespace

QUIET = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
DEVICE_LINKS = {
    "ptmx": "pts/ptmx",
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
FILTER_BYTES = 8  # of one instruction
CANNOT_PREPARE = 125
Mounts = dict[str, int]


class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def main() -> None:
    order: Order = json.loads(sys.stdin.buffer.read())
    os.umask(0o022)
    try:
        mounts = open_sources(order)
        enter_image(order["image"])
        furnish(order, mounts)
        users = make_user_namespace(order)
        for path in ("/proc", "/"):
            kernel.restrict_mount(path, kernel.MS_RDONLY, recursive=False)
        child = os.fork()
    except OSError as error:
        sys.stderr.write(f"the root of the step could not be made: {error}\n")
        sys.exit(CANNOT_PREPARE)
    if child == 0:
        execute(order, users)
    kernel.empty_bounding_set()
    kernel.give_up_privileges(())
    sys.exit(wait_for(child))


def open_sources(order: Order) -> Mounts:
    """Target → a detached mount of the source, opened before other mounts can hide a source."""
    mounts = {f"/dev/{name}": clone_tree(f"/dev/{name}") for name in DEVICES}
    for tree in mounts.values():
        set_attributes(tree, add=MOUNT_ATTR_NOSUID)
    for kind, attributes in (("read_only", QUIET | MOUNT_ATTR_RDONLY), ("writable", QUIET)):
        for target, source in order[kind].items():
            mounts[target] = clone_tree(source)
            set_attributes(mounts[target], add=attributes)
    return mounts


def enter_image(image: str) -> None:
    """Make the image the root, with a layer in memory for mount points and files of the step."""
    lower = clone_tree(image)
    set_attributes(lower, add=QUIET | MOUNT_ATTR_RDONLY)
    kernel.mount("stage", STAGE, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=700,size=4m")
    for name in ("lower", "upper", "work", "root"):
        os.mkdir(f"{STAGE}/{name}", 0o755)  # noqa: PTH102
    attach(lower, f"{STAGE}/lower")
    layers = f"lowerdir={STAGE}/lower,upperdir={STAGE}/upper,workdir={STAGE}/work"
    kernel.mount("root", f"{STAGE}/root", "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, layers)
    kernel.pivot_into(f"{STAGE}/root")


def furnish(order: Order, mounts: Mounts) -> None:
    """Runs inside the new root, so that links of the image cannot lead to the node."""
    socket.sethostname(order["hostname"])
    for path, options in order["tmpfs"].items():
        os.makedirs(path, exist_ok=True)
        kernel.mount("memory", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC, "hidepid=2")
    for folder, kind, options in (
        ("/dev", "tmpfs", "mode=755,size=64k"),
        ("/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=620"),
        ("/dev/shm", "tmpfs", "mode=1777,size=256m"),  # noqa: S108 (a name inside)
    ):
        os.makedirs(folder, exist_ok=True)
        kernel.mount(kind, folder, kind, kernel.MS_NOSUID | kernel.MS_NOEXEC, options)
    for name, target in DEVICE_LINKS.items():
        os.symlink(target, f"/dev/{name}")  # noqa: PTH211
    for path, (mode, text) in order["files"].items():
        write_file(path, mode, 0, text)
    for target in sorted(mounts):
        attach(mounts[target], make_mount_point(target, mounts[target]))


def make_mount_point(path: str, tree: int) -> str:
    path = os.path.realpath(path)
    if os.path.exists(path):
        return path
    if stat.S_ISDIR(os.fstat(tree).st_mode):
        os.makedirs(path)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    return path


def attach(tree: int, target: str) -> None:
    call(f"move_mount {target}", MOVE_MOUNT, tree, b"", AT_FDCWD, target.encode(), MOVE_MOUNT_F_EMPTY_PATH)
    os.close(tree)


def make_user_namespace(order: Order) -> int | None:
    """Map the user of the step to a node id that owns no files. None for steps that run as root."""
    if not order["uid"]:
        return None
    with user_namespace(order["uid"], order["outside"]) as users:
        return os.dup(users)


def execute(order: Order, users: int | None) -> None:
    """In the child. Prints errors, because operators see only their text."""
    try:
        os.setsid()
        null = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        os.dup2(null, 0)  # the order contains settings of the node
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setgroups([])
        if users is not None:
            setns(users, CLONE_NEWUSER)
        kernel.empty_bounding_set()  # after the namespace is entered, which fills it
        os.setresgid(order["uid"], order["uid"], order["uid"])
        os.setresuid(order["uid"], order["uid"], order["uid"])
        kernel.give_up_privileges(())
        load_filter(base64.b64decode(order["seccomp"]))
        os.chdir(order["environment"]["HOME"])
        os.execve(order["argv"][0], order["argv"], order["environment"])  # noqa: S606 (the engine's own step)
    except OSError as error:
        sys.stderr.write(f"{order['argv'][0]} could not be started: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(CANNOT_PREPARE)


def load_filter(instructions: bytes) -> None:
    program = Filter(len(instructions) // FILTER_BYTES, instructions)
    arguments = (ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(program), ctypes.c_ulong(0), ctypes.c_ulong(0))
    checked("seccomp", libc.prctl(ctypes.c_int(PR_SET_SECCOMP), *arguments))


def wait_for(child: int) -> int:
    """Its exit code, or 128 plus the signal number. Reaps orphans meanwhile."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main()
