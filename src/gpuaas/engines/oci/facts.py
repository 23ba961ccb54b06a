"""Probes the node for the oci engine; each fact includes its source."""

import hashlib
import os
import platform
from contextlib import suppress
from pathlib import Path

from gpuaas.engines.images.images import Image
from gpuaas.engines.node import commands
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.nvml import Nvml, NvmlError
from gpuaas.engines.oci.requirements import PROGRAMS, missing
from gpuaas.wire.environments import VIEWS, Capabilities, DiskSpace, Fact, GpuFact, NodeFacts

UNKNOWN = "unknown"
CAPABILITIES = Capabilities(
    root=True, systemd=True, nesting=True, disk_limit="loop image (ext4)", live_mount=True, network=True
)
AMD_DRIVER = Path("/sys/module/amdgpu/version")
GPU_FAMILY, GPU_MEMORY_MIB = "h200", 81_920


def probe(
    *,
    ssh_host: str,
    simulated_gpus: int,
    tag: str,
    limits: Limits,
    image: Image | None,
    storage: dict[str, Fact],
    nvml: Nvml | str,
    disk: DiskSpace,
    views: Fact,
) -> NodeFacts:
    lacks = missing() + ([] if image else ["a base image: run `gpuaas node image build`"])
    found = {
        "kernel": Fact(value=platform.release(), source="uname"),
        "isolation": Fact(value=f"missing: {', '.join(lacks)}" if lacks else "oci", source="programs and /proc"),
        "network": Fact(value="own", source="the engine"),
        "limits": Fact(value=f"cgroup v{limits.version}" if limits.version else "none", source="/sys/fs/cgroup"),
        "distribution": Fact(value=image.system if image else "none", source="the base image"),
        "runtimes": Fact(value=image.python_series if image else "none", source="Python of the base image"),
        "machine_id": Fact(value=_first_line(Path("/etc/machine-id")), source="/etc/machine-id"),
        "boot_id": Fact(value=_first_line(Path("/proc/sys/kernel/random/boot_id")), source="the kernel"),
    }
    found[VIEWS] = views
    found |= {f"storage_{name}": fact for name, fact in storage.items()}
    for program in PROGRAMS:
        found[program] = Fact(value=commands.find(program) or "not installed", source="system folders")
    found |= drivers(nvml)
    return NodeFacts(
        engine="oci",
        simulated=True,
        vcpus=os.cpu_count() or 1,
        memory_mib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
        ssh_host=ssh_host,
        gpus=gpus(simulated_gpus, tag),
        facts=found,
        capabilities=CAPABILITIES,
        disk=disk,
        missing=tuple(lacks),
    )


def disk_space(root: Path) -> DiskSpace:
    """Size for sale: free space plus the blocks of root disks and volumes. Snapshots are not counted, because they may
    share blocks with volumes."""
    found = os.statvfs(next(path for path in (root, *root.parents) if path.exists()))  # none yet before the first start
    used = 0
    for pattern in ("environments/*/disk.img", "volumes/vol_*/disk.img"):
        for image in root.glob(pattern):
            with suppress(FileNotFoundError):
                used += image.stat().st_blocks * 512
    free = found.f_bavail * found.f_frsize
    return DiskSpace(size_gib=(free + used) >> 30, free_gib=free >> 30)


def _first_line(path: Path) -> str:
    try:
        return path.read_text().split("\n", 1)[0]
    except OSError:
        return UNKNOWN


def gpus(count: int, tag: str) -> tuple[GpuFact, ...]:
    """Simulated GPUs: stable for one engine, distinct between engines."""
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
    """Libraries that were found; a bundle is refused on nodes without those that it requires."""
    found = {}
    if isinstance(nvml, Nvml):
        with suppress(NvmlError):
            found["nvidia_driver"] = Fact(value=nvml.driver(), source="NVML")
    if (version := _first_line(amd)) != UNKNOWN:
        found["amd_driver"] = Fact(value=version, source=str(amd))
    return found
