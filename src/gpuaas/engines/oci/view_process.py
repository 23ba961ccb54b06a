"""Replaces the files of an ended lxcfs by those of the new one in a running environment.

This is a separate process, because a process cannot leave a mount namespace: `view_process.py PID BORN ROOT FILE…`. It
opens the new files before it enters the environment. Uses only the standard library.
"""

import ctypes
import os
import sys

from gpuaas.engines.node.kernel import (
    AT_FDCWD,
    MNT_DETACH,
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOEXEC,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    MOVE_MOUNT,
    MOVE_MOUNT_F_EMPTY_PATH,
    UMOUNT_NOFOLLOW,
    call,
    checked,
    clone_tree,
    libc,
    set_attributes,
)
from gpuaas.engines.storage import entering
from gpuaas.engines.storage.mounting import born

ATTRIBUTES = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC


def replace(pid: int, birth: str, root: str, names: list[str]) -> bytes:
    trees = {name: clone_tree(f"{root}/{name}") for name in names}
    for tree in trees.values():
        set_attributes(tree, add=ATTRIBUTES)
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    inside = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    if born(pid) != birth:
        raise ProcessLookupError("the environment is not running")
    entering.enter(mounts, inside)
    for name, tree in trees.items():
        path = f"/{name}".encode()
        checked(f"umount {name}", libc.umount2(path, ctypes.c_int(MNT_DETACH | UMOUNT_NOFOLLOW)))
        call(f"mount {name}", MOVE_MOUNT, tree, b"", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH)
    return b""


if __name__ == "__main__":
    entering.run(lambda: replace(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))
