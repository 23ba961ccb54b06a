"""Requirements of the engine that a node may lack. A separate module, because the engine is slow to import."""

import os
import platform
from contextlib import suppress
from pathlib import Path

from gpuaas.engines.node import capabilities, commands, processes

PROGRAMS = ("runc", "conmon", "lxcfs", "ip", "nft", "nsenter", "mkfs.ext4", "e2fsck", "resize2fs")
ROOT = "root"
WHOLE_NODE = ["0", "0", "4294967295"]  # ids outside a user namespace: inside one, root is not root of the node
NEEDED_CAPABILITIES = ("CAP_NET_ADMIN", "CAP_SYS_ADMIN")  # root of a container may lack them
NEEDED_FILES = {"/dev/loop-control": "loop devices", "/proc/self/ns/user": "user namespaces"}
NEEDED_FILE_SYSTEMS = ("overlay", "ext4")


def missing() -> list[str]:
    """Missing requirements for environments; empty if complete."""
    is_root = os.geteuid() == 0 and Path("/proc/self/uid_map").read_text().split() == WHOLE_NODE
    rights = [] if is_root else [ROOT]
    if not rights:
        effective = capabilities.from_mask(int(processes.status(os.getpid())["CapEff"], 16))
        rights = [f"the capability {name}" for name in NEEDED_CAPABILITIES if name not in effective]
    return rights + missing_on_node()


def missing_on_node() -> list[str]:
    """Missing requirements that do not depend on the user."""
    lacks = [f"the program {name}" for name in PROGRAMS if commands.find(name) is None]
    lacks += [what for path, what in NEEDED_FILES.items() if not Path(path).exists()]
    modules = Path("/lib/modules") / platform.release() / "modules.dep"
    return lacks + missing_file_systems(Path("/proc/filesystems"), modules)


def missing_file_systems(present: Path, modules: Path) -> list[str]:
    """Whether the kernel supports a file system; it loads a missing module at the first mount."""
    known = set(present.read_text().split())
    with suppress(OSError):
        known |= {Path(line.partition(":")[0]).name.partition(".")[0] for line in modules.read_text().splitlines()}
    return [f"the file system {name}" for name in NEEDED_FILE_SYSTEMS if name not in known]
