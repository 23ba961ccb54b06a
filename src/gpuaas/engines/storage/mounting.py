"""Mounts a folder or a device into a running environment, from outside and without a way for the person to interfere.

A process of its own: it enters the environment's mount namespace, which nobody comes back from. It reads one order in
JSON on standard input and answers in JSON. Standard library only. No path is ever resolved by name on the machine once
the environment is entered: every step is one component from an open folder, and a link is never followed.
"""

# ruff: noqa: PTH123, PTH208 (plain strings start faster)

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import re
import struct
import sys
from collections.abc import Iterator
from typing import Any

OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, OPENAT2, MOUNT_SETATTR = 428, 429, 430, 431, 432, 437, 442
AT_FDCWD, AT_EMPTY_PATH, OPEN_TREE_CLONE = -100, 0x1000, 1
MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH = 4, 0x40
FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE = 1, 6
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MOUNT_ATTR_IDMAP = 1, 2, 4, 0x100000
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 2, 4, 8
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
UMOUNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR = 0x4C82, 0x4C0A, 4
LOOP_TRIES = 16
HOME = "home"
ESCAPE = re.compile(rb"\\([0-7]{3})")
Order = dict[str, Any]
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """Said to the person as it is."""


class Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def call(what: str, number: int, *arguments: Any) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return checked(what, libc.syscall(ctypes.c_long(number), *words))


def checked(what: str, result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def set_attributes(descriptor: int, *, add: int = 0, clear: int = 0, userns: int = 0) -> None:
    attributes = Attributes(set=add, clear=clear, userns=userns)
    call("mount_setattr", MOUNT_SETATTR, descriptor, b"", AT_EMPTY_PATH, ctypes.byref(attributes), 32)


def clone_tree(path: str, folder: int = AT_FDCWD) -> int:
    flags = OPEN_TREE_CLONE | os.O_CLOEXEC | (0 if path else AT_EMPTY_PATH)
    return call(f"open_tree {path}", OPEN_TREE, folder, path.encode(), flags)


def join(descriptor: int, kind: int) -> None:
    checked("setns", libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)))


# The source: a mount that is nowhere yet


def source_of(order: Order) -> int:
    device = order.get("image")
    tree = mount_image(device) if device else clone_tree(order["source"])
    add = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (MOUNT_ATTR_RDONLY if order["read_only"] else 0)
    if order["owner"]:
        with user_namespace(*order["ids"]) as userns:
            set_attributes(tree, add=add | MOUNT_ATTR_IDMAP, userns=userns)
    else:
        set_attributes(tree, add=add)
    return tree


def mount_image(path: str) -> int:
    """A file system in a file. The device goes by itself when the last mount of it goes, whoever died meanwhile."""
    device, held = loop_device(path)
    try:
        context = call("fsopen", FSOPEN, b"ext4", 1)
        try:
            call("source", FSCONFIG, context, FSCONFIG_SET_STRING, b"source", device.encode(), 0)
            call("mount of the image", FSCONFIG, context, FSCONFIG_CMD_CREATE, None, None, 0)
            return call("fsmount", FSMOUNT, context, 1, 0)
        finally:
            os.close(context)
    finally:
        os.close(held)


def loop_device(path: str) -> tuple[str, int]:
    """The device of this file, or a new one. `held` keeps it until it is mounted."""
    for _ in range(LOOP_TRIES):
        if found := device_of(path):
            with contextlib.suppress(OSError):
                held = os.open(found, os.O_RDWR | os.O_CLOEXEC)
                if device_of(path) == found:
                    return found, held
                os.close(held)
        with contextlib.suppress(OSError):  # somebody else was faster with this number
            return new_device(path)
    raise Refused("this node has no loop device left for the volume")


def new_device(path: str) -> tuple[str, int]:
    with open("/dev/loop-control", "rb") as control:
        number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
    name = f"/dev/loop{number}"
    held = os.open(name, os.O_RDWR | os.O_CLOEXEC)
    backing = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        info = bytearray(232)  # struct loop_info64; only its flags are set
        struct.pack_into("I", info, 52, LO_FLAGS_AUTOCLEAR)
        fcntl.ioctl(held, LOOP_CONFIGURE, struct.pack("II", backing, 0) + bytes(info) + bytes(64))
    except OSError:
        os.close(held)
        raise
    finally:
        os.close(backing)
    return name, held


def device_of(path: str) -> str:
    real = os.path.realpath(path)
    for name in os.listdir("/sys/block"):
        if name.startswith("loop"):
            with contextlib.suppress(OSError), open(f"/sys/block/{name}/loop/backing_file") as backing:
                if backing.read().rstrip("\n") == real:
                    return f"/dev/{name}"
    return ""


@contextlib.contextmanager
def user_namespace(on_disk: int, outside: int, count: int = 1) -> Iterator[int]:
    """Maps `count` ids from `on_disk` to ids from `outside`; made by a child that then leaves."""
    ready_read, ready = os.pipe2(os.O_CLOEXEC)
    stay, leave = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        try:
            checked("unshare", libc.unshare(ctypes.c_int(CLONE_NEWUSER)))
            os.write(ready, b"1")
            os.close(leave)
            os.read(stay, 1)
        finally:
            os._exit(0)
    os.close(ready)
    try:
        if os.read(ready_read, 1) != b"1":
            raise OSError(errno.EPERM, "a user namespace could not be made")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w") as table:
                table.write(f"{on_disk} {outside} {count}\n")
        descriptor = os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    finally:
        for one in (leave, stay, ready_read):
            os.close(one)
        os.waitpid(child, 0)


# The target: made component by component from the environment's own root


def enter(order: Order) -> None:
    """Into the environment's mounts. Without root its user namespace comes first, and the source must be cloned in a
    copy of our own mounts that this namespace owns."""
    pid = order["pid"]
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    table = os.open(f"/proc/{pid}/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
    if born(pid) != order["born"]:
        raise Refused("the environment is not running")
    order["descriptors"] = (mounts, root, table)
    if not order["is_root"]:
        users = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        join(users, CLONE_NEWUSER)
        checked("unshare", libc.unshare(ctypes.c_int(CLONE_NEWNS)))


def go_inside(order: Order) -> None:
    mounts, root, _ = order["descriptors"]
    join(mounts, CLONE_NEWNS)
    os.fchdir(root)
    os.chroot(".")


def born(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return ""


def open_one(folder: int, name: str) -> int:
    """One component, and never through a link."""
    how = struct.pack(
        "QQQ",
        os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
        0,
        RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
    )
    return call(f"open {name}", OPENAT2, folder, name.encode(), how, len(how))


def make_target(order: Order) -> int:
    """The folder to mount on. What lies in the person's home is made with the person's own rights. Elsewhere it is made
    with the rights of root inside, or, where the root is read-only, on a clone of the root that may be written."""
    names = order["mount_path"].strip("/").split("/")
    if names[0] == HOME or order["root"]:
        with as_id(order["owner"] if names[0] == HOME else order["root"]):
            return walk(os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), names, order["mount_path"], make=True)
    clone = clone_tree("/")
    set_attributes(clone, clear=MOUNT_ATTR_RDONLY)
    os.close(walk(clone, names, order["mount_path"], make=True))
    here = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return walk(here, names, order["mount_path"], make=False)


def walk(folder: int, names: list[str], path: str, *, make: bool) -> int:
    for name in names:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=folder)
        try:
            further = open_one(folder, name)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EXDEV):
                raise Refused(f"{path} leads through a link or a file at {name!r}") from error
            raise
        finally:
            os.close(folder)
        folder = further
    return folder


@contextlib.contextmanager
def as_id(owner: int) -> Iterator[None]:
    """For files only, so that what is made belongs to its owner and is made with its owner's rights."""
    if not owner:
        yield
        return
    libc.setfsgid(ctypes.c_int(owner))
    libc.setfsuid(ctypes.c_int(owner))
    try:
        yield
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)


def mounted(order: Order) -> list[str]:
    """Where something is mounted inside, read anew from a table that was opened outside."""
    table = order["descriptors"][2]
    os.lseek(table, 0, os.SEEK_SET)
    text = b""
    while part := os.read(table, 1 << 16):
        text += part
    return [words[4] for words in words_of(text)]


def words_of(table: bytes) -> list[list[str]]:
    """Its lines, parted by the kernel's own blanks only: people name the folders in it as they like."""
    return [[unescaped(word) for word in line.split(b" ")] for line in table.split(b"\n") if line]


def unescaped(word: bytes) -> str:
    return ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), word).decode(errors="replace")


def attach(order: Order) -> dict[str, object]:
    path = order["mount_path"]
    enter(order)
    for where in mounted(order):
        if where == path:
            return {}
        if where.startswith(f"{path}/") or (path.startswith(f"{where}/") and where in order["others"]):
            raise Refused(f"{path} and the volume at {where} lie inside each other")
    source = source_of(order)
    go_inside(order)
    target = make_target(order)
    call("move_mount", MOVE_MOUNT, source, b"", target, b"", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)
    if path not in mounted(order):  # its folder was renamed meanwhile; it is found by the descriptor that has it
        os.fchdir(source)
        libc.umount2(b".", UMOUNT_DETACH)
        raise Refused(f"{path} was moved away while the volume was being mounted")
    return {}


def detach(order: Order) -> dict[str, object]:
    path = order["mount_path"]
    enter(order)
    if path not in mounted(order):
        return {}
    go_inside(order)
    *above, name = path.strip("/").split("/")
    os.fchdir(walk(os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), above, path, make=False))
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    libc.syncfs(descriptor)
    os.close(descriptor)
    flags = UMOUNT_NOFOLLOW | (UMOUNT_DETACH if order["lazy"] else 0)
    if libc.umount2(name.encode(), flags) < 0:
        code = ctypes.get_errno()
        if code == errno.EBUSY:
            return {"busy": True}
        raise OSError(code, f"umount {path}: {os.strerror(code)}")
    tidy(order)
    return {}


def tidy(order: Order) -> None:
    """Empty folders that were made to mount on; a home is its owner's, and left alone."""
    names = order["mount_path"].strip("/").split("/")
    if names[0] == HOME or order["root"]:  # a root that may be written is its owner's too
        return
    clone = clone_tree("/")
    set_attributes(clone, clear=MOUNT_ATTR_RDONLY)
    for length in range(len(names), 0, -1):
        try:
            os.rmdir("/".join(names[:length]), dir_fd=clone)
        except OSError:
            return


def main() -> None:
    order: Order = json.loads(sys.stdin.buffer.read())
    lock = os.open(order["lock"], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)  # one that a dead agent left behind may still be at work
    try:
        answer = {"attach": attach, "detach": detach}[order["verb"]](order)
    except Refused as refused:
        answer = {"refused": str(refused)}
    except OSError as error:
        answer = {"failed": error.strerror or str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
