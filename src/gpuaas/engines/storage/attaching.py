"""Mounts a folder or a device into a running environment from outside, protected against interference from inside.

This is a separate process, because it enters the environment's mount namespace and cannot leave it. It reads one JSON
order from standard input and answers in JSON. Uses only the standard library. After entering the environment, it
resolves paths component by component from open folders, and follows no link.
"""

import contextlib
import errno
import fcntl
import json
import os
import sys
from typing import NamedTuple

from gpuaas.engines.node.kernel import (
    MNT_DETACH,
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    MS_SHARED,
    RESOLVE_BENEATH,
    RESOLVE_NO_SYMLINKS,
    UMOUNT_NOFOLLOW,
    as_file_owner,
    checked,
    clone_tree,
    libc,
    mount,
    open_beneath,
    place,
    set_attributes,
)
from gpuaas.engines.storage import entering
from gpuaas.engines.storage.mount_lines import MountLine, lines_of, read_opened
from gpuaas.engines.storage.mounting import Order, Refused, born, idmap, locked, mount_image
from gpuaas.engines.storage.serving import FIRST_ID, serve, served_volume

HOME = "home"

# The source: a detached mount


def source_of(order: Order) -> int:
    add = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (MOUNT_ATTR_RDONLY if order["read_only"] else 0)
    if order["is_served"]:
        tree = serve(order["source"], order["volume_id"], order["ids"][1] - FIRST_ID, order["groups"])
        set_attributes(tree, add=add)
        return tree
    tree = mount_image(order["source"]) if order["is_image"] else clone_tree(order["source"])
    idmap(tree, order["ids"], add)
    return tree


def probe(order: Order) -> dict[str, object]:
    """Tests the file system of a folder: can it change owners, and can it be idmapped."""
    folder, id = order["source"], order["ids"][0]
    try:
        os.chown(folder, id, id)
        is_owned = os.stat(folder).st_uid == id  # noqa: PTH116
    except OSError as error:
        return {"owners": os.strerror(error.errno or 0), "idmap": ""}
    try:
        idmap(clone_tree(folder), order["ids"])
        problem = ""
    except OSError as error:
        problem = error.strerror or str(error)
    return {"owners": "" if is_owned else "the owner does not change", "idmap": problem}


# The target: created component by component from the environment's root


class OpenedEnvironment(NamedTuple):  # not a dataclass: importing its module takes longer than all others here
    """Descriptors of a running environment, opened while this process still sees the node's /proc."""

    mounts: int
    root: int
    table: int
    user_namespace: int


def open_environment(order: Order) -> OpenedEnvironment:
    pid = order["pid"]
    opened = OpenedEnvironment(
        mounts=os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC),
        root=os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC),
        table=os.open(f"/proc/{pid}/mountinfo", os.O_RDONLY | os.O_CLOEXEC),
        user_namespace=os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC),
    )
    if born(pid) != order["born"]:
        raise Refused("the environment is not running")
    return opened


def open_one(folder: int, name: str) -> int:
    """Open one path component without following a link."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW
    return open_beneath(folder, name, flags, resolve=RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH)


def make_target(order: Order) -> int:
    """The folder to mount on. Folders in the holder's home are created with the holder's rights, others with the
    rights of root inside."""
    names = order["mount_path"].strip("/").split("/")
    with as_file_owner(order["owner"] if names[0] == HOME else order["root"]):
        return walk(os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), names, order["mount_path"], make=True)


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


def mounted(opened: OpenedEnvironment) -> list[MountLine]:
    """The mounts inside, read again from a table that was opened outside."""
    os.lseek(opened.table, 0, os.SEEK_SET)
    return list(lines_of(read_opened(opened.table)))


def paths(opened: OpenedEnvironment) -> list[str]:
    return [line.path for line in mounted(opened)]


def attach(order: Order) -> dict[str, object]:
    path = order["mount_path"]
    opened = open_environment(order)
    dead = 0
    for line in mounted(opened):
        where, served = line.path, served_volume(line)
        if where == path and served is not None and not served[1]:
            dead += 1
        elif where == path:
            return {}
        elif where.startswith(f"{path}/") or (path.startswith(f"{where}/") and where in order["others"]):
            raise Refused(f"{path} and the volume at {where} would be nested")
    source = locked(source_of(order), opened.user_namespace)
    entering.enter(opened.mounts, opened.root)
    for _ in range(dead):
        unmount(path, MNT_DETACH)
    place(source, make_target(order))
    if path not in paths(opened):  # its folder was renamed meanwhile; the descriptor still finds it
        os.fchdir(source)
        libc.umount2(b".", MNT_DETACH)
        raise Refused(f"{path} was moved away while the volume was being mounted")
    return {}


def detach(order: Order) -> dict[str, object]:
    """Unmount, not lazily: the kernel refuses while anything holds the mount, even if no process shows it."""
    path = order["mount_path"]
    opened = open_environment(order)
    if path not in paths(opened):
        return {}
    entering.enter(opened.mounts, opened.root)
    try:
        unmount(path, 0)
    except OSError as error:
        if error.errno == errno.EBUSY:
            return {"busy": True}
        raise
    return {}


def share(order: Order) -> dict[str, object]:
    """Make the root shared, so that later mounts and unmounts propagate to private mounts of services inside."""
    opened = open_environment(order)
    entering.enter(opened.mounts, opened.root)
    mount("none", "/", flags=MS_SHARED)
    return {}


def unmount(path: str, flags: int) -> None:
    *above, name = path.strip("/").split("/")
    os.fchdir(walk(os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), above, path, make=False))
    with contextlib.suppress(OSError):  # a dead daemon cannot write anything back
        descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        libc.syncfs(descriptor)
        os.close(descriptor)
    checked(f"umount {path}", libc.umount2(name.encode(), UMOUNT_NOFOLLOW | flags))


def obey() -> bytes:
    order: Order = json.loads(sys.stdin.buffer.read())
    if "lock" in order:
        lock = os.open(order["lock"], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)  # the helper of a dead agent may still be running
    try:
        answer = {"attach": attach, "detach": detach, "probe": probe, "share": share}[order["verb"]](order)
    except Refused as refused:
        answer = {"refused": str(refused)}
    except OSError as error:
        answer = {"failed": error.strerror or str(error)}
    return json.dumps(answer).encode()


if __name__ == "__main__":
    entering.run(obey)
