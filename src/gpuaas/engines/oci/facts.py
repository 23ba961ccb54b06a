"""What a probe finds on the node for the oci engine, each fact with how it was found."""

import os
import platform
from pathlib import Path

from gpuaas.engines.nvml import Nvml
from gpuaas.engines.oci.containers import PROGRAMS
from gpuaas.engines.oci.images import Image
from gpuaas.engines.sandbox import commands
from gpuaas.engines.sandbox.facts import NOT_CONFIGURED, drivers, gpus
from gpuaas.engines.sandbox.limits import Limits
from gpuaas.wire.environments import Fact, NodeFacts

NEEDED_FILES = {"/dev/loop-control": "loop devices", "/proc/self/ns/user": "user namespaces"}


def missing() -> list[str]:
    """What this node lacks to make environments; empty when nothing."""
    lacks = [] if os.geteuid() == 0 else ["root"]
    lacks += [f"the program {name}" for name in PROGRAMS if commands.find(name) is None]
    lacks += [what for path, what in NEEDED_FILES.items() if not Path(path).exists()]
    systems = Path("/proc/filesystems").read_text().split()
    lacks += [f"the file system {name}" for name in ("overlay", "ext4") if name not in systems]
    return lacks


def probe(
    *,
    ssh_host: str,
    simulated_gpus: int,
    tag: str,
    limits: Limits,
    image: Image | None,
    storage: dict[str, str],
    nvml: Nvml | str,
) -> NodeFacts:
    lacks = missing() + ([] if image else ["a base image: run `gpuaas node image build`"])
    found = {
        "kernel": Fact(value=platform.release(), source="uname"),
        "isolation": Fact(value=f"missing: {', '.join(lacks)}" if lacks else "oci", source="programs and /proc"),
        "network": Fact(value="own", source="the engine"),
        "limits": Fact(value=f"cgroup v{limits.version}" if limits.version else "none", source="/sys/fs/cgroup"),
        "disk_limit": Fact(value="ext4 image", source="the engine"),
        "image": Fact(value=image.version if image else "none", source="the node's images"),
        "sshd": Fact(value=image.sshd if image else "none", source="the base image"),
        "runtimes": Fact(value=_minor(image.python) if image else "none", source="Python of the base image"),
        "machine_id": Fact(value=_first_line(Path("/etc/machine-id")), source="/etc/machine-id"),
        "boot_id": Fact(value=_first_line(Path("/proc/sys/kernel/random/boot_id")), source="the kernel"),
    }
    for backend, folder in storage.items():
        found[f"storage_{backend}"] = Fact(value=folder or NOT_CONFIGURED, source="the agent's settings")
    for program in PROGRAMS:
        found[program] = Fact(value=commands.find(program) or "not installed", source="system folders")
    found |= drivers(nvml)
    return NodeFacts(
        engine="oci",
        simulated=True,
        vcpus=os.cpu_count() or 1,
        memory_mib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
        ssh_host=ssh_host,
        gpus=() if lacks else gpus(simulated_gpus, tag),
        facts=found,
    )


def _minor(version: str) -> str:
    """`3.11.2` is 3.11, which is what bundles name."""
    return ".".join(version.split(".")[:2])


def _first_line(path: Path) -> str:
    try:
        return path.read_text().split("\n", 1)[0]
    except OSError:
        return "unknown"
