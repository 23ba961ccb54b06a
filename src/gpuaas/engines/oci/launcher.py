"""Makes the root of an environment and starts the runtime on it, in a mount namespace of its own.

A process of its own, because nobody comes back from a mount namespace: it reads one order in JSON on standard input,
mounts, and becomes the program that the order names. The node's own mount table never shows an environment, and the
mounts end with the environment. Standard library only.
"""

import ctypes
import json
import os
import sys

from gpuaas.engines.sandbox.mounting import (
    AT_FDCWD,
    MOUNT_ATTR_IDMAP,
    MOUNT_ATTR_RDONLY,
    MOVE_MOUNT,
    MOVE_MOUNT_F_EMPTY_PATH,
    Order,
    call,
    checked,
    clone_tree,
    libc,
    mount_image,
    set_attributes,
    user_namespace,
)

CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
ID_COUNT = 65_536


def main() -> None:
    order: Order = json.loads(sys.stdin.buffer.read())
    checked("unshare", libc.unshare(ctypes.c_int(CLONE_NEWNS)))
    checked("mount /", libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None))
    mount_root(order)
    os.execv(order["argv"][0], order["argv"])  # noqa: S606 (the engine's own command)


def mount_root(order: Order) -> None:
    """`lower` is the image as the environment's ids see it, `disk` the root disk, `root` both together."""
    folder = order["folder"]
    place(idmapped(order["image"], order["first_id"]), f"{folder}/lower")
    if order["disk"]:
        place(mount_image(order["disk"]), f"{folder}/disk")
    for name in ("upper", "work"):
        path = f"{folder}/disk/{name}"
        if not os.path.isdir(path):  # noqa: PTH112 (plain strings start faster)
            os.mkdir(path, 0o755)  # noqa: PTH102
            os.chown(path, order["first_id"], order["first_id"])
    options = f"lowerdir={folder}/lower,upperdir={folder}/disk/upper,workdir={folder}/disk/work"
    checked(
        "overlay",
        libc.mount(b"root", f"{folder}/root".encode(), b"overlay", ctypes.c_ulong(0), options.encode()),
    )


def idmapped(source: str, first_id: int) -> int:
    tree = clone_tree(source)
    with user_namespace(0, first_id, ID_COUNT) as userns:
        set_attributes(tree, add=MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY, userns=userns)
    return tree


def place(tree: int, target: str) -> None:
    call("move_mount", MOVE_MOUNT, tree, b"", AT_FDCWD, target.encode(), MOVE_MOUNT_F_EMPTY_PATH)
    os.close(tree)


if __name__ == "__main__":
    main()
