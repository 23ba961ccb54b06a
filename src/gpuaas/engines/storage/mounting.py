"""System calls for mounts: clones, idmaps, file systems in files, and the mount table. Standard library only."""

# ruff: noqa: PTH123, PTH208 (plain strings start faster)

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import struct
from collections.abc import Iterator
from typing import Any

OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, OPENAT2, MOUNT_SETATTR = 428, 429, 430, 431, 432, 437, 442
PIDFD_GETFD = 438
AT_FDCWD, AT_EMPTY_PATH, OPEN_TREE_CLONE = -100, 0x1000, 1
MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH = 4, 0x40
FSCONFIG_SET_STRING, FSCONFIG_CMD_CREATE = 1, 6
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MOUNT_ATTR_IDMAP = 1, 2, 4, 0x100000
MOUNT_ATTR_NOSYMFOLLOW = 0x200000
MS_REC_PRIVATE, MS_SHARED = 0x44000, 0x100000
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 2, 4, 8
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
UMOUNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR = 0x4C82, 0x4C0A, 4
LOOP_TRIES = 16
STAGE = "/mnt"  # a folder that every node has; used in private mount namespaces only
VOLUME_UID = 1_899_999_999
"""Who owns the holder's files of a volume on disk, whichever environment it is attached to; nobody else on a node."""

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


def idmap(tree: int, ids: list[int], add: int = 0) -> None:
    with user_namespace(*ids) as userns:
        set_attributes(tree, add=add | MOUNT_ATTR_IDMAP, userns=userns)


def own_mounts() -> None:
    """A mount namespace of this process, of which others see no change."""
    checked("unshare", libc.unshare(ctypes.c_int(CLONE_NEWNS)))
    checked("private", libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC_PRIVATE), None))


def locked(tree: int, user_namespace: int) -> int:
    """The same mount, of which nobody in that user namespace can take away a flag such as read-only.

    The kernel locks flags when mounts are copied into a mount namespace of a less privileged user namespace, and in no
    other way: a child is such a namespace for a moment."""
    answers, answer = os.pipe2(os.O_CLOEXEC)
    stay, leave = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        try:
            os.close(leave)
            os.write(answer, str(_copied(tree, user_namespace)).encode())
            os.read(stay, 1)
        except OSError as error:
            os.write(answer, f"-{error}".encode())
        finally:
            os._exit(0)
    os.close(answer)
    try:
        said = os.read(answers, 1000).decode(errors="replace")
        if not said.isdigit():
            raise OSError(errno.EPERM, f"the flags of the mount could not be locked: {said.removeprefix('-')}")
        with _process(child) as pidfd:
            return call("pidfd_getfd", PIDFD_GETFD, pidfd, int(said), 0)
    finally:
        for one in (leave, stay, answers):
            os.close(one)
        os.waitpid(child, 0)
        os.close(tree)


def _copied(tree: int, user_namespace: int) -> int:
    own_mounts()
    call("move_mount", MOVE_MOUNT, tree, b"", AT_FDCWD, STAGE.encode(), MOVE_MOUNT_F_EMPTY_PATH)
    join(user_namespace, CLONE_NEWUSER)
    checked("unshare", libc.unshare(ctypes.c_int(CLONE_NEWNS)))
    return clone_tree(STAGE)


@contextlib.contextmanager
def _process(pid: int) -> Iterator[int]:
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


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


def words_of(table: bytes) -> list[list[str]]:
    """Its lines, parted by the kernel's own blanks only: people name the folders in it as they like."""
    return [[unescaped(word) for word in line.split(b" ")] for line in table.split(b"\n") if line]


def unescaped(word: bytes) -> str:
    return ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), word).decode(errors="replace")


def born(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return ""
