"""Creates the root of an environment in a private mount namespace and starts the runtime there.

This is a separate process, because a process cannot leave a mount namespace. It reads one JSON order from standard
input, mounts, and executes the program in the order. The mount table of the node never contains an environment, and
the mounts end with the environment. Uses only the standard library.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH118 (plain strings start faster)

import ctypes
import json
import os
import shutil
import sys

from gpuaas.engines.node.kernel import (
    MOUNT_ATTR_NODEV,
    MOUNT_ATTR_NOSUID,
    MOUNT_ATTR_RDONLY,
    MS_NODEV,
    MS_NOSUID,
    checked,
    clone_tree,
    libc,
    mount,
    place_at,
    set_attributes,
    unshare_mounts,
)
from gpuaas.engines.storage.mounting import Order, idmap, mount_image

ID_COUNT = 65_536
STAGE = "/mnt"  # in the private mount namespace only: the environment's root must be able to traverse the path to it
READY = "ready"  # on the root disk, not visible inside: marks a complete set-up


def main() -> None:
    order: Order = json.loads(sys.stdin.buffer.read())
    unshare_mounts()
    first_id = order["first_id"]
    lower, disk = idmapped(order["image"], first_id), mount_image(order["disk"])
    platform = {name: read_only(source) for name, source in order["platform"].items()}
    mount("stage", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=711,size=64k")  # may hide files that were opened before
    place(lower, "lower")
    place(disk, "disk")
    mount_root(order, first_id)
    for name, tree in platform.items():
        place(tree, name)
    os.execv(order["argv"][0], order["argv"])  # noqa: S606 (the engine's own command)


def place(tree: int, name: str) -> None:
    target = f"{STAGE}/{name}"
    os.mkdir(target, 0o755)
    place_at(tree, target)


def idmapped(source: str, first_id: int) -> int:
    """Mount the image, mapped to the ids of this environment."""
    tree = clone_tree(source)
    idmap(tree, [0, first_id, ID_COUNT], MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)
    return tree


def read_only(source: str) -> int:
    tree = clone_tree(source)
    set_attributes(tree, add=MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
    return tree


def mount_root(order: Order, first_id: int) -> None:
    """Mount the root disk over the image. An interrupted set-up of the disk is repeated from scratch."""
    disk, root = f"{STAGE}/disk", f"{STAGE}/root"
    is_new = not os.path.exists(f"{disk}/{READY}")
    for name in ("upper", "work"):
        if is_new:
            shutil.rmtree(f"{disk}/{name}", ignore_errors=True)
            os.mkdir(f"{disk}/{name}", 0o755)
            os.chown(f"{disk}/{name}", first_id, first_id)
    os.mkdir(root, 0o755)
    mount("root", root, "overlay", MS_NODEV, f"lowerdir={STAGE}/lower,upperdir={disk}/upper,workdir={disk}/work")
    if is_new and not order["is_spare"]:
        set_up(STAGE, order)


def set_up(stage: str, order: Order) -> None:
    """Write the initial contents of a root disk. No tenant has used it, so its paths are safe to follow."""
    root, first_id = f"{stage}/root", order["first_id"]
    for folder, (mode, owner) in order["folders"].items():
        make_folder(root + folder, mode, first_id + owner)
    for file, (mode, owner, text) in order["files"].items():
        write_file(root + file, mode, first_id + owner, text)
    copy_skeleton(root, order["home"], first_id + order["uid"])
    mark_ready(f"{stage}/disk")


def mark_ready(disk: str) -> None:
    """Write the mark after syncing the contents."""
    folder = os.open(disk, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    checked("syncfs", libc.syncfs(ctypes.c_int(folder)))
    os.close(os.open(READY, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=folder))
    os.close(folder)


def make_folder(path: str, mode: int, owner: int) -> None:
    os.makedirs(path, exist_ok=True)
    os.chmod(path, mode)
    os.chown(path, owner, owner)


def write_file(path: str, mode: int, owner: int, text: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)  # noqa: PTH108
    with open(path, "w", opener=lambda name, flags: os.open(name, flags | os.O_EXCL, mode)) as file:
        file.write(text)
    os.chmod(path, mode)
    os.chown(path, owner, owner)


def copy_skeleton(root: str, home: str, owner: int) -> None:
    shutil.copytree(f"{root}/etc/skel", root + home, dirs_exist_ok=True, symlinks=True)
    for folder, _, names in os.walk(root + home):
        for name in (".", *names):
            os.chown(os.path.join(folder, name), owner, owner, follow_symlinks=False)
    os.chmod(root + home, 0o700)


if __name__ == "__main__":
    main()
