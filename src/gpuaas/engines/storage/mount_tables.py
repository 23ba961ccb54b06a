"""Which volumes are mounted in an environment, from the kernel's mount tables.

Root inside can mount folders of any name anywhere. A volume is therefore identified by its file system, not by a name
alone: a loop device whose file is among the node's volumes, a daemon of the node, or the file system of the shared
folder together with the exact path of the volume in it.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from gpuaas.engines.storage import serving
from gpuaas.engines.storage.mount_lines import MountLine, all_lines, lines_of, read_table
from gpuaas.wire.environments import Mount

ID = r"(?P<id>vol_[0-9a-z]+)"
DELETED, DELETED_FILE = "//deleted", " (deleted)"  # of a mount table, and of the file of a loop device
LOOP = "7:"  # the major number of loop devices
OVERLAY = "overlay"
MEMORY_KINDS = ("tmpfs", "ramfs")
MOST_MOUNTS, LONGEST_PATH = 32, 255  # per environment in a report; longest mount path in a request


@dataclass(frozen=True)
class Shown:
    """A volume in a line of a mount table."""

    volume_id: str
    mount_path: str
    read_only: bool
    is_whole: bool  # not a subfolder of the volume, which only programs inside can have mounted


class MountTables:
    """`local` is the folder of the node's volumes, `shared` that of volumes of all nodes."""

    def __init__(self, local: Path, shared: Path | None, *, backing_file: Callable[[str], str] | None = None) -> None:
        """Tests replace `backing_file`, which returns the file of a loop device."""
        self._local, self._shared = local, shared and Path(os.path.realpath(shared))
        self._backing_file = backing_file or _backing_file
        self._homes: frozenset[tuple[str, str]] = frozenset()
        """Device and path in it; kept after an unmount. Replaced as a whole, because threads read it."""

    def mounts_in(self, pid: int | None) -> list[Mount]:
        """All mounts of whole volumes. Raises if the table cannot be read, which is different from an empty table."""
        return _whole(self.shown(_table(pid)))

    def reported(self, pid: int | None) -> list[Mount]:
        """Mounts for reports, limited in number, because programs inside can mount a volume again any number of times.
        The first mount of each volume comes first."""
        return _limited(self.mounts_in(pid))

    def volumes_in(self, pid: int | None) -> list[str]:
        """Volumes mounted there as a whole, regardless of the size of the table, because a removal must complete. Slow
        for a large table."""
        self._learn()
        found = dict[str, None]()
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for one in self._shown(all_lines(_path(pid))):
                if one.is_whole:
                    found[one.volume_id] = None
        return list(found)

    def local_mounts_in(self, pid: int) -> list[Mount]:
        """Volumes on a disk of this node. Accessing another one may hang with its server or daemon."""
        return self.local_mounts(_table(pid))

    def local_mounts(self, table: bytes) -> list[Mount]:
        """Exclude mounts covered by root inside, or with a path through a file system that may hang."""
        lines = list(lines_of(table))
        remote = {line.path for line in lines if not _is_local(line)}
        shown = self._shown(line for line in lines if line.device.startswith(LOOP))
        mounts = _limited(_whole(shown))
        return [mount for mount in mounts if remote.isdisjoint(_on_the_way(mount.mount_path))]

    def shown(self, table: bytes) -> list[Shown]:
        self._learn()
        return list(self._shown(lines_of(table)))

    def devices_of(self, volume_id: str) -> set[str]:
        """Devices with files of a volume, except served ones: their daemon ends with the last mount."""
        self._learn()
        return self.loop_devices_of(volume_id) | self._homes_of(volume_id)

    def loop_devices_of(self, volume_id: str) -> set[str]:
        """Loop devices of a local volume. The kernel frees one with the last mount, descriptor and mapping of its
        file system anywhere, so an empty result proves that none exists."""
        image = f"{os.path.realpath(self._local)}/{volume_id}/disk.img"
        loops = (path.parts[3] for path in Path("/sys/block").glob("loop*/loop/backing_file"))
        numbers = {f"{LOOP}{name.removeprefix('loop')}" for name in loops}
        return {one for one in numbers if self._backing_file(one) == image}

    def _homes_of(self, volume_id: str) -> set[str]:
        is_shared = self._shared is not None and (self._shared / volume_id).exists()
        return {device for device, _ in self._homes} if is_shared else set()

    def _shown(self, lines: Iterable[MountLine]) -> Iterator[Shown]:
        """Look up each loop device once, regardless of its number of mounts."""
        volumes = dict[str, str]()
        for line in lines:
            device = line.device
            if served := serving.served_volume(line):
                volume_id, is_alive = served  # a mount without its daemon is mounted again, like a missing one
                if is_alive:
                    yield Shown(volume_id, line.path, line.is_read_only, line.root == "/")
            elif device.startswith(LOOP):
                if device not in volumes:
                    volumes[device] = self._volume_of(device)
                if volumes[device]:
                    yield Shown(volumes[device], line.path, line.is_read_only, line.root == "/")
            else:
                yield from self._shown_of_homes(line, device)

    def _volume_of(self, device: str) -> str:
        file = self._backing_file(device)
        held = re.fullmatch(rf"{re.escape(os.path.realpath(self._local))}/{ID}/disk\.img", file)
        return held["id"] if held else ""

    def _shown_of_homes(self, line: MountLine, device: str) -> Iterator[Shown]:
        for place in (place for home, place in self._homes if home == device):
            root = line.root.removesuffix(DELETED)
            held = re.fullmatch(rf"{re.escape(place)}/{ID}/data(?P<below>/.*)?", root, re.DOTALL)
            if held:
                yield Shown(held["id"], line.path, line.is_read_only, not held["below"])
                return

    def _learn(self) -> None:
        """The current location of the shared folder, which may have been mounted meanwhile."""
        if self._shared is not None:
            self._homes |= {_home_of(self._shared)}


def overlays_in(pid: int) -> frozenset[str]:
    """The devices of overlays in the mount table of a process."""
    return frozenset(line.device for line in lines_of(_table(pid)) if line.kind == OVERLAY)


def _path(pid: int | None) -> str:
    return f"/proc/{pid}/mountinfo"


def _table(pid: int | None) -> bytes:
    try:
        return read_table(_path(pid))
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _on_the_way(path: str) -> Iterator[str]:
    """The path and its parent folders."""
    one = Path(path)
    return (str(each) for each in (one, *one.parents))


def _whole(shown: Iterable[Shown]) -> list[Mount]:
    return [
        Mount(volume_id=one.volume_id, mount_path=one.mount_path, read_only=one.read_only)
        for one in shown
        if one.is_whole
    ]


def _limited(mounts: list[Mount]) -> list[Mount]:
    first: dict[str, Mount] = {}
    again: dict[tuple[str, str], Mount] = {}
    for mount in mounts:
        told = replace(mount, mount_path=mount.mount_path[:LONGEST_PATH])
        if first.setdefault(told.volume_id, told) is not told:
            again.setdefault((told.volume_id, told.mount_path), told)
    return [*first.values(), *again.values()][:MOST_MOUNTS]


def _is_local(line: MountLine) -> bool:
    return line.raw_path == b"/" or not line.device.startswith("0:") or line.kind in MEMORY_KINDS


def _backing_file(device: str) -> str:
    try:
        text = Path(f"/sys/dev/block/{device}/loop/backing_file").read_text()
    except FileNotFoundError:
        return ""
    return text.rstrip("\n").removesuffix(DELETED_FILE)


def _home_of(folder: Path) -> tuple[str, str]:
    """The device of a folder and its path in that file system, in the format of mount tables. Read from the table,
    because accessing the folder may hang with its server."""
    on_the_way = set(_on_the_way(str(folder)))
    above = [line for line in lines_of(Path("/proc/self/mountinfo").read_bytes()) if line.path in on_the_way]
    mount = max(reversed(above), key=lambda line: len(line.path))  # the last one covers the others
    below = os.path.relpath(folder, mount.path)
    return mount.device, os.path.normpath(f"{mount.root.rstrip('/')}/{below}").rstrip("/")
