"""What a probe finds on the node for the oci engine, each fact with how it was found."""

import hashlib
import os
import platform
from contextlib import suppress
from pathlib import Path

from gpuaas.engines.images.images import Image
from gpuaas.engines.node import commands
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.nvml import Nvml, NvmlError
from gpuaas.engines.oci.containers import PROGRAMS
from gpuaas.wire.environments import Fact, GpuFact, NodeFacts

NOT_CONFIGURED = "not configured"
UNKNOWN = "unknown"
AMD_DRIVER = Path("/sys/module/amdgpu/version")
GPU_FAMILY, GPU_MEMORY_MIB = "h200", 81_920
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
        return UNKNOWN


def gpus(count: int, tag: str) -> tuple[GpuFact, ...]:
    """The same ones at every probe of one engine, and no two engines have one in common."""
    return tuple(
        GpuFact(
            index=index,
            family=GPU_FAMILY,
            gpu_uuid=f"GPU-{_uuid(f'{tag}:{index}')}",
            gpu_pci=f"0000:{0x10 + index:02x}:00.0",
            numa=index * 2 // count,
            memory_mib=GPU_MEMORY_MIB,
            simulated=True,
            source="simulated by the oci engine",
        )
        for index in range(count)
    )


def _uuid(seed: str) -> str:
    digest = hashlib.sha256(seed.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def drivers(nvml: Nvml | str, amd: Path = AMD_DRIVER) -> dict[str, Fact]:
    """Only those that answered: a bundle that needs one is refused where nothing was seen."""
    found = {}
    if isinstance(nvml, Nvml):
        with suppress(NvmlError):
            found["nvidia_driver"] = Fact(value=nvml.driver(), source="NVML")
    if (version := _first_line(amd)) != UNKNOWN:
        found["amd_driver"] = Fact(value=version, source=str(amd))
    return found
