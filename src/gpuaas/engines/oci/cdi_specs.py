"""Reads and checks specs of the Container Device Interface.

A spec grants host files and host programs to an environment, so it is treated as untrusted input: unknown fields,
relative or ambiguous paths, host paths outside driver folders, and files that other users can write are refused. Every
value that reaches the runtime is parsed here.
"""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from gpuaas.engines.base import EngineError

SYSTEM_FOLDERS = (Path("/etc/cdi"), Path("/var/run/cdi"))
"""In ascending order of precedence, as defined by the interface."""
LARGEST_SPEC = 4 << 20
VERSIONS = re.compile(r"(0\.[3-8]\.0|1\.[01]\.[0-9]+)")
KIND = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}/[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\0]*")
HOOKS = {"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"}
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

# Folders from which drivers mount libraries, programs, firmware, loader settings and sockets of their daemons.
MOUNT_SOURCES = tuple(
    PurePosixPath(path)
    for path in (
        *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local", "/usr/share"),
        *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt"),
        *("/etc/OpenCL", "/etc/amd", "/etc/egl", "/etc/glvnd", "/etc/nvidia", "/etc/nvidia-container-runtime"),
        *("/etc/vulkan", "/run/nvidia", "/run/nvidia-fabricmanager", "/run/nvidia-persistenced"),
        *("/var/run/nvidia-fabricmanager", "/var/run/nvidia-persistenced"),
    )
)
HOOK_PROGRAMS = tuple(
    PurePosixPath(path) for path in ("/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/lib", "/usr/local", "/opt")
)
MOUNT_OPTIONS = {"ro", "nosuid", "nodev", "noexec", "bind", "rbind", "private", "rprivate", "slave", "rslave"}
DEV = PurePosixPath("/dev")

Unsigned = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]


class CdiError(EngineError):
    """A GPU cannot be given to an environment; the detail names the spec and its defect."""

    def __init__(self, detail: str) -> None:
        super().__init__("a GPU of this node cannot be given to the environment", detail)


class DeviceNode(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    path: str
    host_path: str = ""  # empty: the same as `path`
    type: str = ""
    major: Unsigned | None = None
    minor: Unsigned | None = None
    file_mode: Unsigned | None = None
    permissions: str = ""
    uid: Unsigned | None = None
    gid: Unsigned | None = None

    @property
    def source(self) -> str:
        return self.host_path or self.path


class Mount(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    host_path: str
    container_path: str
    options: tuple[str, ...] = ()
    type: str = ""


class Hook(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    hook_name: str
    path: str
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    timeout: Annotated[int, Meta(gt=0)] | None = None


class ContainerEdits(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Edits of a container. `intelRdt` and `netDevices` are not supported, and refused as unknown fields."""

    env: tuple[str, ...] = ()
    device_nodes: tuple[DeviceNode, ...] = ()
    mounts: tuple[Mount, ...] = ()
    hooks: tuple[Hook, ...] = ()
    additional_gids: tuple[Unsigned, ...] = ()


class Device(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    name: str
    container_edits: ContainerEdits
    annotations: dict[str, str] = {}


class Spec(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    cdi_version: str
    kind: str
    devices: tuple[Device, ...]
    container_edits: ContainerEdits = ContainerEdits()
    annotations: dict[str, str] = {}


class SpecFile(Struct, frozen=True, kw_only=True):
    path: Path
    precedence: int
    spec: Spec


class Specs(Struct, frozen=True, kw_only=True):
    """All specs of a node. An unreadable file does not affect others; errors about missing GPUs name it."""

    files: tuple[SpecFile, ...] = ()
    unreadable: tuple[str, ...] = ()


def discover(folders: Iterable[Path] = SYSTEM_FOLDERS) -> Specs:
    """Read the specs in these folders; later folders have precedence."""
    files, unreadable = [], []
    for precedence, folder in enumerate(folders):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.suffix in (".json", ".yaml", ".yml"):
                try:
                    files.append(SpecFile(path=path, precedence=precedence, spec=load(path)))
                except CdiError as error:
                    unreadable.append(error.detail)
    return Specs(files=tuple(files), unreadable=tuple(unreadable))


def load(path: Path) -> Spec:
    try:
        data = _read(path)
        # NVIDIA's tool writes YAML; msgspec reads it with PyYAML, a pinned dependency of Litestar.
        decode = msgspec.json.decode if path.suffix == ".json" else msgspec.yaml.decode
        spec = decode(data, type=Spec)
    except (OSError, msgspec.DecodeError) as error:
        raise CdiError(f"CDI spec {path} cannot be read: {' '.join(str(error).split())}") from error
    check(spec, str(path))
    return spec


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_SPEC:
            raise CdiError(f"CDI spec {path} is not a file, or larger than {LARGEST_SPEC} bytes")
        if found.st_uid not in (0, os.geteuid()) or found.st_mode & OTHERS_MAY_WRITE:
            raise CdiError(f"CDI spec {path} is writable by users other than root; its hooks run as root")
        return os.read(descriptor, LARGEST_SPEC)
    finally:
        os.close(descriptor)


def check(spec: Spec, where: str) -> None:
    """Refuse what cannot be merged safely; `where` names the spec in the error."""
    _require(VERSIONS.fullmatch(spec.cdi_version), where, f"version {spec.cdi_version!r} of the interface")
    _require(KIND.fullmatch(spec.kind), where, f"kind {spec.kind!r}")
    names = [device.name for device in spec.devices]
    _require(len(names) == len(set(names)), where, "two devices with the same name")
    for device in spec.devices:
        _require(NAME.fullmatch(device.name), where, f"device name {device.name!r}")
    for edits in (spec.container_edits, *(device.container_edits for device in spec.devices)):
        _check_edits(edits, where)


def _check_edits(edits: ContainerEdits, where: str) -> None:
    for variable in edits.env:
        _require(VARIABLE.fullmatch(variable), where, f"environment variable {variable!r}")
    for node in edits.device_nodes:
        for path in (node.path, node.source):
            _require(is_below(path, (DEV,)), where, f"device path {path!r}: it must be below /dev")
        _require(node.type in ("", "c", "u"), where, f"device type {node.type!r}: only character devices")
        _require(not set(node.permissions) - set("rwm"), where, f"device permissions {node.permissions!r}")
        _require((node.major is None) == (node.minor is None), where, f"device number of {node.path!r}")
    for mount in edits.mounts:
        _require(is_plain(mount.container_path), where, f"mount destination {mount.container_path!r}")
        _require(is_below(mount.host_path, MOUNT_SOURCES), where, f"host path {mount.host_path!r}: unsafe to mount")
        _require(not set(mount.options) - MOUNT_OPTIONS, where, f"mount options {mount.options} of {mount.host_path!r}")
        _require(mount.type in ("", "bind", "none"), where, f"mount type {mount.type!r}")
    for hook in edits.hooks:
        _require(hook.hook_name in HOOKS, where, f"hook {hook.hook_name!r}")
        _require(is_below(hook.path, HOOK_PROGRAMS), where, f"hook program {hook.path!r}: unsafe to run")
        for variable in hook.env:
            _require(VARIABLE.fullmatch(variable), where, f"environment variable {variable!r} of a hook")
        _require(not any("\0" in word for word in hook.args), where, "a hook argument with a null byte")


def _require(holds: object, where: str, what: str) -> None:
    if not holds:
        raise CdiError(f"CDI spec {where}: not accepted: {what}")


def is_plain(path: str) -> bool:
    """Whether the path is absolute, not the root, and normalised."""
    parts = path.split("/")
    return path.startswith("/") and "\0" not in path and not {"", ".", ".."} & set(parts[1:])


def is_below(path: str, folders: Iterable[PurePosixPath]) -> bool:
    return is_plain(path) and any(folder in PurePosixPath(path).parents for folder in folders)
