"""Processes in an environment that hold a volume: by a mount or by a descriptor.

Root inside an environment with init `systemd` can mount a volume a second time, keep it in another mount namespace, or
hold a detached copy of the mount by a descriptor. A volume is detached when none of them is left.
"""

import contextlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuaas.engines.node import processes
from gpuaas.engines.node.processes import Process
from gpuaas.engines.storage.mount_lines import lines_of, read_table
from gpuaas.engines.storage.mount_tables import MountTables

PROC = "/proc"


@dataclass(frozen=True)
class Hold:
    """A mount that a process sees, or a descriptor of one that is in no table."""

    process: Process  # as it was when it was looked at
    mount_path: str  # empty: held by `descriptor` alone
    descriptor: str = ""

    def is_at(self, path: str, namespace: str) -> bool:
        return self.mount_path == path and processes.namespace(self.process.pid, "mnt") == namespace

    @property
    def words(self) -> str:
        how = f"has it mounted at {self.mount_path}" if self.mount_path else f"keeps it as {self.descriptor}"
        return f"{_process_words(self.process.pid)} {how}"


@dataclass(frozen=True)
class OpenFile:
    """A file or folder that a process has open, runs, maps or works in."""

    pid: int
    path: str

    @property
    def words(self) -> str:
        return f"{_process_words(self.pid)} with {self.path}"


def _process_words(pid: int) -> str:
    """Its name, and its pid as it is seen inside."""
    fields = processes.status(pid)
    return f"{fields.get('Name', '?')} (pid {fields.get('NSpid', str(pid)).split()[-1]})"


def mounts_and_descriptors_of(tables: MountTables, volume_id: str, uids: Collection[int]) -> list[Hold]:
    """Each table once; a process that ends meanwhile holds nothing."""
    found, seen, devices = [], set(), tables.devices_of(volume_id)
    for process in processes.seen():
        pid = process.pid
        if not processes.has_uid(pid, uids):
            continue
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            root = os.stat(f"{PROC}/{pid}/root")  # noqa: PTH116 (a link of the kernel's)
            view = (processes.namespace(pid, "mnt"), root.st_dev, root.st_ino)
            table = read_table(f"{PROC}/{pid}/mountinfo")
            if view not in seen:
                shown = [one for one in tables.shown(table) if one.volume_id == volume_id]
                found += [Hold(process, path) for path in dict.fromkeys(one.mount_path for one in shown)]
            seen.add(view)
            ids = {line.id for line in lines_of(table)}
            found += [Hold(process, "", name) for name in _detached(pid, ids, devices)]
    return found


def _detached(pid: int, mounts: set[str], devices: set[str]) -> Iterator[str]:
    """Descriptors of files on these devices whose mount is not in the table of the process."""
    folder = f"{PROC}/{pid}"
    for name in ("cwd", "root", *(f"fd/{number}" for number in os.listdir(f"{folder}/fd"))):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if _mount_id(folder, name) not in mounts:
                device = os.stat(f"{folder}/{name}").st_dev  # noqa: PTH116
                if f"{os.major(device)}:{os.minor(device)}" in devices:
                    yield name


def _mount_id(folder: str, name: str) -> str:
    if name.startswith("fd/"):
        return _field(f"{folder}/fdinfo/{name.removeprefix('fd/')}")
    descriptor = os.open(f"{folder}/{name}", os.O_PATH | os.O_CLOEXEC)
    try:
        return _field(f"{PROC}/self/fdinfo/{descriptor}")
    finally:
        os.close(descriptor)


def _field(path: str) -> str:
    lines = Path(path).read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("mnt_id:"))


def open_files_under(pid: int, path: str) -> list[OpenFile]:
    """The first of each process in the environment of `pid`, without that process itself."""
    found = []
    for number, _ in processes.in_pid_namespace_of(pid):
        if number != pid:
            used = (what for what in _used_by(number) if what == path or what.startswith(f"{path}/"))
            if (first := next(used, None)) is not None:
                found.append(OpenFile(number, first))
    return found


def _used_by(pid: int) -> list[str]:
    links = [f"{PROC}/{pid}/{name}" for name in ("cwd", "root", "exe")]
    with contextlib.suppress(OSError):
        links += [f"{PROC}/{pid}/fd/{name}" for name in os.listdir(f"{PROC}/{pid}/fd")]  # noqa: PTH208 (plain strings)
    found = []
    for link in links:
        with contextlib.suppress(OSError):
            found.append(os.readlink(link))  # noqa: PTH115
    with contextlib.suppress(OSError):
        maps = Path(f"{PROC}/{pid}/maps").read_text(errors="replace").splitlines()
        found += [line[line.index("/") :] for line in maps if "/" in line]
    return found
