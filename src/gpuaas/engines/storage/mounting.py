"""Mounts of volumes: idmaps, locked flags and file systems in files. Uses only the standard library."""

# ruff: noqa: PTH123, PTH208 (plain strings start faster)

import contextlib
import fcntl
import os
import struct
from collections.abc import Iterator
from typing import Any

from gpuaas.engines.node.kernel import (
    CLONE_NEWNS,
    CLONE_NEWUSER,
    MOUNT_ATTR_IDMAP,
    clone_tree,
    copy_descriptor,
    held_child,
    new_mount,
    place_at,
    set_attributes,
    setns,
    unshare,
    unshare_mounts,
)

LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR = 0x4C82, 0x4C0A, 4
LOOP_TRIES = 16
STAGE = "/mnt"  # a folder on every node; used only in private mount namespaces
VOLUME_UID = 1_899_999_999
"""Owner of the holder's files of a volume on disk, independent of the environment; used by nothing else."""

Order = dict[str, Any]


class Refused(Exception):
    """The message is shown to the person."""


def idmap(tree: int, ids: list[int], add: int = 0) -> None:
    with user_namespace(*ids) as userns:
        set_attributes(tree, add=add | MOUNT_ATTR_IDMAP, userns=userns)


@contextlib.contextmanager
def user_namespace(on_disk: int, outside: int, count: int = 1) -> Iterator[int]:
    """Map `count` ids from `on_disk` to ids from `outside`; a short-lived child creates the namespace."""

    def make() -> str:
        unshare(CLONE_NEWUSER)
        return ""

    with held_child("could not create a user namespace", make) as (child, _):
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w") as table:
                table.write(f"{on_disk} {outside} {count}\n")
        descriptor = os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def locked(tree: int, user_namespace: int) -> int:
    """The same mount with locked flags, such as read-only, which processes in that user namespace cannot remove.

    The kernel locks flags only when mounts are copied into a mount namespace of a less privileged user namespace, so a
    child enters such a namespace for a moment."""

    def copy() -> str:
        unshare_mounts()
        place_at(tree, STAGE)
        setns(user_namespace, CLONE_NEWUSER)
        unshare(CLONE_NEWNS)
        return str(clone_tree(STAGE))

    try:
        with held_child("the flags of the mount could not be locked", copy) as (child, number):
            pidfd = os.pidfd_open(child)
            try:
                return copy_descriptor(pidfd, int(number))
            finally:
                os.close(pidfd)
    finally:
        os.close(tree)


def mount_image(path: str) -> int:
    """Mount a file system in a file. The kernel frees the device with its last mount, even after a crash."""
    device, held = loop_device(path)
    try:
        return new_mount("ext4", source=device)
    finally:
        os.close(held)


def loop_device(path: str) -> tuple[str, int]:
    """The existing or a new device of this file. `held` keeps it until it is mounted."""
    for _ in range(LOOP_TRIES):
        if found := device_of(path):
            with contextlib.suppress(OSError):
                held = os.open(found, os.O_RDWR | os.O_CLOEXEC)
                if device_of(path) == found:
                    return found, held
                os.close(held)
        with contextlib.suppress(OSError):  # another process took this number first
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


def born(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return ""
