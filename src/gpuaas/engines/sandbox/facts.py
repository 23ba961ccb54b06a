"""What a probe finds on a node that runs sandboxes. GPUs are simulated here, and every one of them says so."""

import hashlib
import os
import platform
from contextlib import suppress
from pathlib import Path

from gpuaas.engines.nvml import Nvml, NvmlError
from gpuaas.engines.sandbox import commands
from gpuaas.engines.sandbox.limits import Limits
from gpuaas.engines.sandbox.sessions import sftp_server
from gpuaas.engines.sandbox.staging import pythons
from gpuaas.wire.environments import Fact, GpuFact, NodeFacts

NOT_CONFIGURED = "not configured"
UNKNOWN = "unknown"
AMD_DRIVER = Path("/sys/module/amdgpu/version")
GPU_FAMILY, GPU_MEMORY_MIB = "h200", 81_920


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
            source="simulated by the sandbox engine",
        )
        for index in range(count)
    )


def _uuid(seed: str) -> str:
    digest = hashlib.sha256(seed.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def probe(
    *,
    ssh_host: str,
    simulated_gpus: int,
    tag: str,
    limits: Limits,
    refusal: str,
    storage: dict[str, str],
    nvml: Nvml | str,
) -> NodeFacts:
    is_root = os.geteuid() == 0
    found = {
        "kernel": Fact(value=platform.release(), source="uname"),
        "isolation": Fact(value=refusal or "namespaces", source="unshare was tried"),
        "network": Fact(value="own" if is_root else "shared", source="uid of the agent"),
        "limits": Fact(value=f"cgroup v{limits.version}" if limits.version else "none", source="/sys/fs/cgroup"),
        "sftp_server": Fact(value=sftp_server() or "not installed", source="known paths"),
        "machine_id": Fact(value=_first_line(Path("/etc/machine-id")), source="/etc/machine-id"),
        "boot_id": Fact(value=_first_line(Path("/proc/sys/kernel/random/boot_id")), source="the kernel"),
    }
    offered = "" if refusal else ",".join(pythons())
    found["runtimes"] = Fact(value=offered or "none", source="Pythons in system folders, seen in an own root")
    for backend, folder in storage.items():
        found[f"storage_{backend}"] = Fact(value=folder or NOT_CONFIGURED, source="the agent's settings")
    for program in ("rsync", "nft", "ip", "unshare"):
        found[program] = Fact(value=commands.find(program) or "not installed", source="system folders")
    found |= drivers(nvml)
    return NodeFacts(
        engine="sandbox",
        simulated=True,
        vcpus=os.cpu_count() or 1,
        memory_mib=_memory_mib(),
        ssh_host=ssh_host,
        gpus=gpus(simulated_gpus, tag),
        facts=found,
    )


def drivers(nvml: Nvml | str, amd: Path = AMD_DRIVER) -> dict[str, Fact]:
    """Only those that answered: a bundle that needs one is refused where nothing was seen."""
    found = {}
    if isinstance(nvml, Nvml):
        with suppress(NvmlError):
            found["nvidia_driver"] = Fact(value=nvml.driver(), source="NVML")
    if (version := _first_line(amd)) != UNKNOWN:
        found["amd_driver"] = Fact(value=version, source=str(amd))
    return found


def _memory_mib() -> int:
    words = Path("/proc/meminfo").read_text().split()
    return int(words[words.index("MemTotal:") + 1]) // 1024


def _first_line(path: Path) -> str:
    try:
        return path.read_text().split("\n", 1)[0]
    except OSError:
        return UNKNOWN
