"""Which volumes are mounted in an environment, from the kernel's mount tables.

Root inside may mount folders of any name anywhere. A volume is therefore recognised by the file system that it is on,
and never by a name alone: a loop device whose file lies among the node's volumes, a daemon of the node, or the file
system of the shared folder together with the exact place of the volume in it.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from gpuaas.engines.storage import mounting, serving
from gpuaas.wire.environments import Mount

ID = r"(?P<id>vol_[0-9a-z]+)"
DELETED, DELETED_FILE = "//deleted", " (deleted)"  # of a mount table, and of the file of a loop device
LOOP = "7:"  # the major number of loop devices
MEMORY_KINDS = ("tmpfs", "ramfs")
MOST_MOUNTS, LONGEST_PATH = 32, 255  # of one environment in a report; a mount path that can be asked for is no longer


@dataclass(frozen=True)
class Shown:
    """What a line of a mount table shows of a volume."""

    volume_id: str
    mount_path: str
    read_only: bool
    is_whole: bool  # not a folder of the volume, which only somebody inside can have mounted


class MountTables:
    """`local` is the folder of the node's own volumes, `shared` the one of volumes that all nodes have."""

    def __init__(self, local: Path, shared: Path | None, *, backing_file: Callable[[str], str] | None = None) -> None:
        """`backing_file` answers for tests which file a loop device has."""
        self._local, self._shared = local, shared and Path(os.path.realpath(shared))
        self._backing_file = backing_file or _backing_file
        self._homes: set[tuple[str, str]] = set()  # device and place in it; one that is unmounted later stays known

    def mounts_in(self, pid: int | None) -> list[Mount]:
        """All mounts of whole volumes. Raises when the table cannot be read: an unread table is not an empty one."""
        return _whole(self.shown(_table(pid)))

    def reported(self, pid: int | None) -> list[Mount]:
        """For reports, whose size must not be up to people inside: they may mount a volume again, as often as they
        like. The first mount of each volume goes first."""
        return _limited(self.mounts_in(pid))

    def local_mounts_in(self, pid: int) -> list[Mount]:
        """Volumes on a disk of this node. A look at another one waits for its server or daemon, which may hang."""
        return self.local_mounts(_table(pid))

    def local_mounts(self, table: bytes) -> list[Mount]:
        """Without those that root inside covered, or whose path leads through a file system that may hang."""
        lines = mounting.words_of(table)
        remote = [words[4] for words in lines if not _is_local(words)]
        shown = [found for words in lines if words[2].startswith(LOOP) and (found := self._shown(words)) is not None]
        return [
            mount
            for mount in _limited(_whole(shown))
            if not any(Path(mount.mount_path).is_relative_to(where) for where in remote)
        ]

    def shown(self, table: bytes) -> list[Shown]:
        self._learn()
        return [found for words in mounting.words_of(table) if (found := self._shown(words)) is not None]

    def devices_of(self, volume_id: str) -> set[str]:
        """Devices that files of a volume are on, but for one that a daemon serves: it ends with the last mount."""
        self._learn()
        image = f"{os.path.realpath(self._local)}/{volume_id}/disk.img"
        loops = (path.parts[3] for path in Path("/sys/block").glob("loop*/loop/backing_file"))
        numbers = {f"{LOOP}{name.removeprefix('loop')}" for name in loops}
        return {one for one in numbers if self._backing_file(one) == image} | self._homes_of(volume_id)

    def _homes_of(self, volume_id: str) -> set[str]:
        is_shared = self._shared is not None and (self._shared / volume_id).exists()
        return {device for device, _ in self._homes} if is_shared else set()

    def _shown(self, words: list[str]) -> Shown | None:
        device, root, where, options = words[2:6]
        read_only = "ro" in options.split(",")
        if served := serving.served_volume(words):
            volume_id, is_alive = served  # a mount without its daemon is mounted anew, as one that is gone
            return Shown(volume_id, where, read_only, root == "/") if is_alive else None
        if device.startswith(LOOP):
            file = self._backing_file(device)
            held = re.fullmatch(rf"{re.escape(os.path.realpath(self._local))}/{ID}/disk\.img", file)
            return Shown(held["id"], where, read_only, root == "/") if held else None
        for home, place in self._homes:
            held = re.fullmatch(rf"{re.escape(place)}/{ID}/data(?P<below>/.*)?", root.removesuffix(DELETED), re.DOTALL)
            if home == device and held:
                return Shown(held["id"], where, read_only, not held["below"])
        return None

    def _learn(self) -> None:
        """Where the shared folder is now: it may have been mounted meanwhile."""
        if self._shared is not None:
            self._homes.add(_home_of(self._shared))


def _table(pid: int | None) -> bytes:
    try:
        return Path(f"/proc/{pid}/mountinfo").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _whole(shown: list[Shown]) -> list[Mount]:
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


def _is_local(words: list[str]) -> bool:
    return words[4] == "/" or not words[2].startswith("0:") or words[words.index("-") + 1] in MEMORY_KINDS


def _backing_file(device: str) -> str:
    try:
        text = Path(f"/sys/dev/block/{device}/loop/backing_file").read_text()
    except FileNotFoundError:
        return ""
    return text.rstrip("\n").removesuffix(DELETED_FILE)


def _home_of(folder: Path) -> tuple[str, str]:
    """The device of a folder and its place in that file system, as mount tables name both. Read from the table alone: a
    look at the folder itself waits where its server hangs."""
    lines = mounting.words_of(Path("/proc/self/mountinfo").read_bytes())
    above = [words for words in lines if folder.is_relative_to(words[4])]
    mount = max(reversed(above), key=lambda words: len(words[4]))  # the last one covers the others
    below = os.path.relpath(folder, mount[4])
    return mount[2], os.path.normpath(f"{mount[3].rstrip('/')}/{below}").rstrip("/")
