"""GPUs in environments through the Container Device Interface: find the device of a slot, and merge it.

NVIDIA's and AMD's tools write specs to /etc/cdi and /var/run/cdi. Simulated GPUs also have a spec, in the engine's
folder, so that both use the same code.
"""

import copy
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from gpuaas.engines.node.files import write_whole
from gpuaas.engines.node.pci import normalize_pci
from gpuaas.engines.oci.cdi_specs import (
    MOUNT_SOURCES,
    OTHERS_MAY_WRITE,
    SYSTEM_FOLDERS,
    CdiError,
    ContainerEdits,
    Device,
    DeviceNode,
    Hook,
    Mount,
    Spec,
    SpecFile,
    Specs,
    check,
    is_below,
)
from gpuaas.wire.environments import GpuFact, SlotDevice

SIMULATED_KIND = "simulated.gpuaas/gpu"
SIMULATED_FILE = "gpuaas-simulated.json"
GPU_KINDS = {"nvidia.com/gpu", "amd.com/gpu", SIMULATED_KIND}
"""Other kinds grant more than one GPU: management.nvidia.com/gpu is the right to reconfigure all of them."""

NULL = "/dev/null"
NULL_NUMBER = (1, 3)
MEMORY_MAJOR = 1
HARMLESS_MINORS = {3, 5, 7, 8, 9}  # null, zero, full, random, urandom; others of this major expose the node's memory
NVIDIA_NODE = re.compile(r"/dev/nvidia([0-9]+)")
NVIDIA_GPUS = Path("/proc/driver/nvidia/gpus")
CHARACTER_DEVICES = Path("/sys/dev/char")
KERNEL_FILES = (PurePosixPath("/proc"), PurePosixPath("/sys"))
RUNTIME_CONFIG = dict[str, Any]
FindPci = Callable[[DeviceNode], str | None]


class Selected(Struct, frozen=True, kw_only=True):
    """The device of one slot, and its spec."""

    file: SpecFile
    device: Device


def pci_address(node: DeviceNode) -> str | None:
    """The PCI address of the GPU behind a device node, from the kernel; None for nodes not tied to a single GPU."""
    try:
        if match := NVIDIA_NODE.fullmatch(node.source):
            for folder in NVIDIA_GPUS.iterdir():
                if re.search(rf"^Device Minor:\s+{match[1]}$", (folder / "information").read_text(), re.MULTILINE):
                    return normalize_pci(folder.name)
            return None
        major, minor = device_number(node)
        return normalize_pci((CHARACTER_DEVICES / f"{major}:{minor}" / "device").resolve().name)
    except (OSError, CdiError):
        return None


def select(specs: Specs, slots: Iterable[SlotDevice], find_pci: FindPci = pci_address) -> tuple[Selected, ...]:
    """The device of each slot. An index is not stable: a device named by index needs a matching PCI address."""
    return tuple(_select(specs, slot, find_pci) for slot in slots)


def _select(specs: Specs, slot: SlotDevice, find_pci: FindPci) -> Selected:
    files = [file for file in specs.files if file.spec.kind in GPU_KINDS]
    pci = normalize_pci(slot.gpu_pci)

    def has_address(device: Device) -> bool:
        return pci is not None and {find_pci(node) for node in device.container_edits.device_nodes} - {None} == {pci}

    ways: tuple[Callable[[Device], bool], ...] = (
        lambda device: device.name == slot.gpu_uuid,
        lambda device: pci is not None and normalize_pci(device.name) == pci,
        has_address,
    )
    for fits in ways:
        found = [(file, device) for file in files for device in file.spec.devices if fits(device)]
        if found:
            return _only(slot, found)
    unreadable = "".join(f"; {reason}" for reason in specs.unreadable)
    raise CdiError(f"no CDI spec has the GPU {slot.gpu_uuid} at {slot.gpu_pci}{unreadable}")


def _only(slot: SlotDevice, found: list[tuple[SpecFile, Device]]) -> Selected:
    highest = max(file.precedence for file, _ in found)
    candidates = [(file, device) for file, device in found if file.precedence == highest]
    paths = sorted({str(file.path) for file, _ in candidates})
    if len(paths) > 1:
        raise CdiError(f"the GPU {slot.gpu_uuid} is in more than one CDI spec: {', '.join(paths)}")
    file, device = candidates[0]  # a spec can have several names for one GPU
    return Selected(file=file, device=device)


def device_number(node: DeviceNode) -> tuple[int, int]:
    """Device type and numbers from the spec, otherwise from the device node of the host."""
    if node.major is not None and node.minor is not None:
        return node.major, node.minor
    try:
        found = os.stat(node.source, follow_symlinks=True)  # noqa: PTH116 - one call for number and kind
    except OSError as error:
        raise CdiError(f"the device {node.source} is not on this node: {error.strerror}") from error
    if not stat.S_ISCHR(found.st_mode):
        raise CdiError(f"{node.source} is not a character device")
    return os.major(found.st_rdev), os.minor(found.st_rdev)


def apply(config: RUNTIME_CONFIG, devices: Iterable[Selected]) -> RUNTIME_CONFIG:
    """A copy of the runtime's configuration with these devices. Existing entries stay: a device cannot replace a
    variable, and hiding a mount is an error."""
    merged = copy.deepcopy(config)
    edits = list(_edits(devices))
    _add_variables(merged, edits)
    _add_nodes(merged, [node for edit in edits for node in edit.device_nodes])
    _add_mounts(merged, [_runtime_mount(mount) for edit in edits for mount in edit.mounts])
    _add_hooks(merged, [hook for edit in edits for hook in edit.hooks])
    groups = {gid for edit in edits for gid in edit.additional_gids if gid != 0}  # 0 would add nothing
    if groups:
        user = merged.setdefault("process", {}).setdefault("user", {})
        listed = user.setdefault("additionalGids", [])
        listed.extend(sorted(groups - set(listed)))
    return merged


def _edits(devices: Iterable[Selected]) -> Iterator[ContainerEdits]:
    """Edits of each spec once, then of each device."""
    seen: set[Path] = set()
    for selected in devices:
        if selected.file.path not in seen:
            seen.add(selected.file.path)
            yield selected.file.spec.container_edits
        yield selected.device.container_edits


def _add_variables(config: RUNTIME_CONFIG, edits: list[ContainerEdits]) -> None:
    wanted = dict(variable.split("=", 1) for edit in edits for variable in edit.env)
    if wanted:
        present = config.setdefault("process", {}).setdefault("env", [])
        names = {variable.split("=", 1)[0] for variable in present}
        present.extend(f"{name}={value}" for name, value in wanted.items() if name not in names)


def _add_nodes(config: RUNTIME_CONFIG, nodes: list[DeviceNode]) -> None:
    for node in dict.fromkeys(nodes):
        major, minor = device_number(node)
        if major == MEMORY_MAJOR and minor not in HARMLESS_MINORS:
            raise CdiError(f"{node.path} is device {major}:{minor}, the memory of the node")
        linux = config.setdefault("linux", {})
        access = node.permissions or "rw"
        rule = {"allow": True, "type": "c", "major": major, "minor": minor, "access": access}
        rules = linux.setdefault("resources", {}).setdefault("devices", [])
        if rule not in rules:
            rules.append(rule)
        if node.source != node.path:
            # In a user namespace, runc binds the node of the same path and ignores the numbers, so bind the source.
            _add_mounts(config, [_mount(node.source, node.path, ["bind", "rw", "nosuid", "noexec"])])
            continue
        entry = {"path": node.path, "type": "c", "major": major, "minor": minor}
        entry |= {"fileMode": node.file_mode} if node.file_mode is not None else {}
        entry |= {"uid": node.uid} if node.uid is not None else {}
        entry |= {"gid": node.gid} if node.gid is not None else {}
        present = linux.setdefault("devices", [])
        if entry not in present:
            if any(other.get("path") == node.path for other in present):
                raise CdiError(f"the device {node.path} is there already, and is another one")
            present.append(entry)


def _runtime_mount(mount: Mount) -> dict[str, Any]:
    source = os.path.realpath(mount.host_path)  # a link must not leave the allowed folders
    if not is_below(source, MOUNT_SOURCES):
        raise CdiError(f"the host path {mount.host_path} leads to {source}: unsafe to mount")
    options = [*mount.options, *(one for one in ("ro", "nosuid", "nodev") if one not in mount.options)]
    if not {"bind", "rbind"} & set(options):
        options.append("bind")
    return _mount(source, mount.container_path, options)


def _mount(source: str, destination: str, options: list[str]) -> dict[str, Any]:
    return {"destination": destination, "type": "bind", "source": source, "options": options}


def _add_mounts(config: RUNTIME_CONFIG, wanted: list[dict[str, Any]]) -> None:
    if not wanted:
        return
    present = config.setdefault("mounts", [])
    for mount in sorted(wanted, key=lambda mount: mount["destination"].count("/")):  # parents before children
        if mount in present:
            continue
        destination = PurePosixPath(mount["destination"])
        if any(folder in (destination, *destination.parents) for folder in KERNEL_FILES):
            raise CdiError(f"a CDI mount at {destination} is inside the kernel's own file systems")
        for other in present:
            if destination in ((place := PurePosixPath(other["destination"])), *place.parents):
                raise CdiError(f"a CDI mount at {destination} would hide the mount at {place}")
        present.append(mount)


def _add_hooks(config: RUNTIME_CONFIG, hooks: list[Hook]) -> None:
    for hook in dict.fromkeys(hooks):
        if hook.hook_name != "startContainer":  # that path is resolved in the environment, with its rights
            _check_program(hook.path)
        entry: dict[str, Any] = {"path": hook.path, "args": list(hook.args), "env": list(hook.env)}
        entry |= {"timeout": hook.timeout} if hook.timeout is not None else {}
        present = config.setdefault("hooks", {}).setdefault(hook.hook_name, [])
        if entry not in present:
            present.append(entry)


def _check_program(path: str) -> None:
    try:
        found = Path(path).stat()
    except OSError as error:
        raise CdiError(f"the hook program {path} is not on this node: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode) or found.st_uid != 0 or found.st_mode & OTHERS_MAY_WRITE:
        raise CdiError(f"the hook program {path} can be changed by users other than root")


def simulated(gpus: Iterable[GpuFact]) -> Spec:
    """A spec of simulated GPUs: each is a device node that behaves like /dev/null, and variables that mark it."""
    major, minor = NULL_NUMBER

    def edits(gpu: GpuFact) -> ContainerEdits:
        path = f"/dev/gpuaas-simulated{gpu.index}"
        node = DeviceNode(path=path, host_path=NULL, type="c", major=major, minor=minor, permissions="rw")
        return ContainerEdits(env=(f"GPUAAS_SIMULATED_GPU_{gpu.index}={gpu.gpu_uuid}",), device_nodes=(node,))

    found = Spec(
        cdi_version="0.5.0",
        kind=SIMULATED_KIND,
        devices=tuple(Device(name=gpu.gpu_uuid, container_edits=edits(gpu)) for gpu in gpus if gpu.simulated),
        container_edits=ContainerEdits(env=("GPUAAS_SIMULATED_GPUS=true",)),
    )
    check(found, "of simulated GPUs")
    return found


def write_simulated(folder: Path, gpus: Iterable[GpuFact]) -> Path:
    """Write their spec to the engine's folder, where other container runtimes of the node do not find it."""
    if folder.resolve() in {one.resolve() for one in SYSTEM_FOLDERS}:
        raise CdiError(f"simulated GPUs do not belong in {folder}")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    path = folder / SIMULATED_FILE
    write_whole(path, msgspec.json.format(msgspec.json.encode(simulated(gpus))), mode=0o644, durable=False)
    return path
