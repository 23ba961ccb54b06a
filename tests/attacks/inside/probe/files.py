"""Platform files: runtimes, the runtime descriptor, facts and programs."""

import os
from pathlib import Path

from tests.attacks.inside.probe.base import Blocked, attack, open_to_write

FILES = "Platform files"
READ_ONLY = Blocked("EROFS", "read-only mount")
OF_THE_NODE = Blocked("EACCES", "user namespace: the file belongs to root of the node; read-only mount")


@attack(FILES, "write into `/opt/gpuaas/runtimes`", READ_ONLY)
def write_runtimes() -> None:
    Path("/opt/gpuaas/runtimes/x").touch()


@attack(FILES, "write the runtime descriptor `/etc/gpuaas/runtime`", READ_ONLY)
def write_descriptor() -> None:
    Path("/etc/gpuaas/runtime").touch()
    open_to_write("/etc/gpuaas/runtime")


@attack(FILES, "change a fact in `/etc/gpuaas`", OF_THE_NODE)
def write_fact() -> None:
    open_to_write("/etc/gpuaas/sku")


@attack(FILES, "replace a fact by a rename", Blocked("EXDEV|EROFS", "read-only mount"))
def replace_fact() -> None:
    Path("/etc/sku").write_text("more")
    try:
        os.rename("/etc/sku", "/etc/gpuaas/sku")  # noqa: PTH104
    finally:
        Path("/etc/sku").unlink()


@attack(FILES, "remove a fact", READ_ONLY)
def remove_fact() -> None:
    Path("/etc/gpuaas/sku").unlink()


@attack(FILES, "replace a program in `/opt/gpuaas/bin`", OF_THE_NODE)
def replace_program() -> None:
    open_to_write("/opt/gpuaas/bin/reboot")


@attack(FILES, "make a program in `/opt/gpuaas/bin` setuid", READ_ONLY)
def setuid_program() -> None:
    os.chmod("/opt/gpuaas/bin/reboot", 0o4755)  # noqa: PTH101, S103


@attack(FILES, "rename `/etc/gpuaas` away", Blocked("EBUSY", "mount point"))
def move_facts() -> None:
    os.rename("/etc/gpuaas", "/etc/mine")  # noqa: PTH104


@attack(
    FILES,
    "rename the folder above a mount, `/opt/gpuaas`, away",
    Blocked("EXDEV|EBUSY", "overlay: a folder of the image keeps its name"),
)
def move_parent() -> None:
    os.rename("/opt/gpuaas", "/opt/mine")  # noqa: PTH104
    os.rename("/opt/mine", "/opt/gpuaas")  # noqa: PTH104


@attack(FILES, "replace `/opt/gpuaas/runtimes` by a link", Blocked("EBUSY|EEXIST", "mount point"))
def link_runtimes() -> None:
    Path("/opt/gpuaas/runtimes").rmdir()
    Path("/opt/gpuaas/runtimes").symlink_to("/var/tmp")  # noqa: S108
