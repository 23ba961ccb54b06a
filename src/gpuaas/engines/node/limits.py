"""Limits of an environment by control groups, version 1 or 2, as available on this node."""

import asyncio
import contextlib
import errno
import os
from pathlib import Path

from gpuaas.engines.node import cgroups

CGROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpu", "memory", "pids")
PROCESS_LIMIT = 8192
CPU_PERIOD = 100_000
REMOVE_TRIES = 50
MEMBERS = "cgroup.procs"
NO_MEMBERS = (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP)
"""The group was deleted meanwhile, or contains only threads, whose process is in its parent."""


class Limits:
    """The control group of one engine, with a subgroup for each environment."""

    def __init__(self, tag: str, root: Path = CGROUPS) -> None:
        self._root, self._parent = root, f"gpuaas-{tag}"
        self.version = self._version()

    def _version(self) -> str:
        if not os.access(self._root, os.W_OK):
            return ""
        controllers = self._root / "cgroup.controllers"
        if controllers.exists():
            return "2" if set(CONTROLLERS) <= set(controllers.read_text().split()) else ""
        return "1" if all(os.access(self._root / name, os.W_OK) for name in CONTROLLERS) else ""

    def folders(self, allocation_id: str) -> dict[str, Path]:
        """Controller → the folder with its limit."""
        match self.version:
            case "2":
                return dict.fromkeys(CONTROLLERS, self._root / self._parent / allocation_id)
            case "1":
                return {name: self._root / name / self._parent / allocation_id for name in CONTROLLERS}
            case _:
                return {}

    def make(self, allocation_id: str, *, vcpus: int, memory_mib: int) -> list[str]:
        """Create groups with limits; return the folders that pid 1 must join."""
        folders = self.folders(allocation_id)
        try:
            for folder in folders.values():
                folder.parent.mkdir(exist_ok=True)
                if self.version == "2":
                    for above in (self._root, folder.parent):
                        (above / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS))
                folder.mkdir(exist_ok=True)
            for path, value in self._values(folders, vcpus, memory_mib).items():
                path.write_text(value)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                raise
            return []  # limits in force are read from the running environment later
        return sorted({str(folder) for folder in folders.values()})

    def _values(self, folders: dict[str, Path], vcpus: int, memory_mib: int) -> dict[Path, str]:
        if not folders:
            return {}
        memory = str(memory_mib * 1024 * 1024)
        values = {folders["pids"] / "pids.max": str(PROCESS_LIMIT)}
        if self.version == "2":
            values[folders["cpu"] / "cpu.max"] = f"{vcpus * CPU_PERIOD} {CPU_PERIOD}"
            values[folders["memory"] / "memory.max"] = memory
        else:
            values[folders["cpu"] / "cpu.cfs_period_us"] = str(CPU_PERIOD)
            values[folders["cpu"] / "cpu.cfs_quota_us"] = str(vcpus * CPU_PERIOD)
            values[folders["memory"] / "memory.limit_in_bytes"] = memory
        return values

    def found(self, allocation_id: str, pid: int) -> dict[str, str]:
        """Limits in force for a process: its group and the limit, both read from the kernel."""
        files = {
            "cpu": "cpu.max" if self.version == "2" else "cpu.cfs_quota_us",
            "memory": "memory.max" if self.version == "2" else "memory.limit_in_bytes",
            "pids": "pids.max",
        }
        limits = {}
        for name, folder in self.folders(allocation_id).items():
            with contextlib.suppress(FileNotFoundError, PermissionError, ProcessLookupError):
                if self._is_member(folder, pid):
                    value = (folder / files[name]).read_text().strip()
                    limits[name] = f"cgroup v{self.version}: {files[name]} = {value}"
        return limits

    def _is_member(self, folder: Path, pid: int) -> bool:
        """Whether it is in the group or, with version 2, in a subgroup created by systemd inside."""
        if self.version == "1":
            return str(pid) in (folder / "cgroup.procs").read_text().split()
        return any(Path(found).is_relative_to(folder) for found in cgroups.folders_of(pid))

    def members(self, allocation_id: str) -> set[int]:
        """Processes of an environment, including those in groups created inside."""
        found: set[int] = set()
        for file in (file for folder in set(self.folders(allocation_id).values()) for file in folder.rglob(MEMBERS)):
            try:
                found |= {int(pid) for pid in file.read_text().split()}
            except OSError as error:
                if error.errno not in NO_MEMBERS:
                    raise
        return found

    async def remove(self, allocation_id: str) -> None:
        """Delete groups, including those created inside."""
        for top in set(self.folders(allocation_id).values()):
            for folder in (*sorted(top.rglob("*/"), reverse=True), top):
                await self._remove(folder)

    async def _remove(self, folder: Path) -> None:
        for _ in range(REMOVE_TRIES):
            try:
                folder.rmdir()  # noqa: ASYNC240 (of the kernel, at once)
            except FileNotFoundError:
                break
            except OSError:  # the kernel is still freeing its last process
                await asyncio.sleep(0.01)
            else:
                break

    def residue(self, allocation_id: str) -> list[str]:
        return sorted({str(folder) for folder in self.folders(allocation_id).values() if folder.exists()})

    def close(self) -> None:
        """Also delete the engine's group if it is empty."""
        for folder in {path.parent for path in self.folders("-").values()}:
            with contextlib.suppress(OSError):
                folder.rmdir()
