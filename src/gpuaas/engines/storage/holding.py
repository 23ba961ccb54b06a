"""Finds what holds a volume in an environment: mounts, descriptors and mappings of every thread.

Root inside an environment with init `systemd` can mount a volume a second time, keep it in another mount namespace, or
hold a detached copy of the mount by a descriptor. Each thread can have separate mounts and descriptors. A descriptor
in flight, sent over a socket and not received, is in no table of a process: it can be counted, but not inspected.
An overlay writes to folders of a volume through private mounts, which are in no table either.
"""

import contextlib
import errno
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gpuaas.engines.node import processes
from gpuaas.engines.node.kernel import OVERLAY as OVERLAY_NUMBER
from gpuaas.engines.node.kernel import file_system_kind, has_descriptors_of
from gpuaas.engines.node.processes import Process
from gpuaas.engines.storage.mount_lines import MOST_BYTES, lines_of, read_table
from gpuaas.engines.storage.mount_tables import OVERLAY, MountTables

PROC = "/proc"
MOST_TABLES, MOST_DESCRIPTORS = 64 << 20, 1_000_000  # per check: bytes, and descriptors with mappings
ENDED = (FileNotFoundError, ProcessLookupError)
NO_FILE = ("socket:[", "pipe:[", "anon_inode:")  # what such a descriptor links to; the name of a file begins with /
NAMESPACE, NAMESPACE_KIND = "mnt:[", "nsfs"
MAY_BE = "which may be on it"


@dataclass(frozen=True)
class Hold:
    """A mount that a thread sees, or something else that keeps a volume."""

    process: Process  # at the time of the check
    thread: Process  # of that process; itself unless it has separate mounts
    mount_path: str  # empty: held in another way
    how: str = ""  # empty: held by that mount

    def is_at(self, path: str, namespace: str) -> bool:
        return self.mount_path == path and processes.namespace(self.thread.pid, "mnt") == namespace

    @property
    def words(self) -> str:
        how = self.how or f"has it mounted at {self.mount_path}"
        return f"{_process_words(self.process.pid)} {how}"


@dataclass(frozen=True)
class OpenFile:
    """A file or folder that a process has open, runs, maps or works in."""

    process: Process
    path: str

    @property
    def words(self) -> str:
        return f"{_process_words(self.process.pid)} with {self.path}"


def _process_words(pid: int) -> str:
    """Its name, and its pid inside."""
    fields = processes.status(pid)
    return f"{fields.get('Name', '?')} (pid {fields.get('NSpid', str(pid)).split()[-1]})"


def holds_of(
    tables: MountTables, volume_id: str, uids: Collection[int], own_overlays: Collection[str] | None = None
) -> list[Hold]:
    """Read each table once; a process that ends meanwhile holds nothing. With `own_overlays`, the devices of overlays
    created by the node, the check is strict: objects that may belong to the volume and cannot be inspected count as
    holds, such as other overlays and sockets with descriptors in flight."""
    look = _Look(tables, volume_id, own_overlays)
    for process in processes.seen():
        if processes.has_uid(process.pid, uids):
            look.at(process)
    return look.found()


@dataclass
class _Look:
    tables: MountTables
    volume_id: str
    own_overlays: Collection[str] | None
    devices: set[str] = field(init=False)
    holds: list[Hold] = field(default_factory=list)
    bytes_left: int = MOST_TABLES
    descriptors_left: int = MOST_DESCRIPTORS
    mount_ids: dict[tuple[str, ...], set[str]] = field(default_factory=dict)
    """Mounts of each view: a mount namespace with a root in it."""

    kept: list[tuple[str, Hold]] = field(default_factory=list)
    """Mount namespaces kept by a descriptor or a mount."""

    detached: list[tuple[str, Hold]] = field(default_factory=list)
    """Overlays by mount id, which is missing in the table of the process that has it open."""

    def __post_init__(self) -> None:
        self.devices = self.tables.devices_of(self.volume_id)

    def found(self) -> list[Hold]:
        """A mount namespace without a known thread may contain any mount. An overlay in the table of another thread was
        checked there."""
        lived_in, mounted = {view[0] for view in self.mount_ids}, set[str]().union(*self.mount_ids.values())
        hidden = [hold for namespace, hold in self.kept if namespace not in lived_in]
        return self.holds + hidden + [hold for id, hold in self.detached if id not in mounted]

    def at(self, process: Process) -> None:
        """Skip descriptors of threads that share them with another thread."""
        looked_at, has_mappings = list[int](), False
        for tid in processes.tasks(process.pid):
            thread = Process(tid, processes.born(tid))
            with contextlib.suppress(*ENDED):
                ids = self._view(process, thread)
                is_new = not any(has_descriptors_of(tid, other) for other in looked_at[:1])
                self._descriptors(process, tid, ids, with_table=is_new)
                looked_at += [tid] if is_new else []
                if not has_mappings:
                    self._mappings(process, tid, ids)
                    has_mappings = True

    def _view(self, process: Process, thread: Process) -> set[str]:
        """The ids of the mounts that a thread sees."""
        folder = f"{PROC}/{thread.pid}"
        root = _opened(f"{folder}/root")
        view = (processes.namespace(thread.pid, "mnt"), root["mnt_id"], root.get("ino", ""))
        if view not in self.mount_ids:
            table = read_table(f"{folder}/mountinfo", min(MOST_BYTES, self.bytes_left))
            self.bytes_left -= len(table)
            shown = [one for one in self.tables.shown(table) if one.volume_id == self.volume_id]
            self.holds += [Hold(process, thread, path) for path in dict.fromkeys(one.mount_path for one in shown)]
            lines = list(lines_of(table))
            for line in lines:
                if line.kind == NAMESPACE_KIND and line.root.startswith(NAMESPACE):
                    self._keep(process, line.root, f"has a mount namespace at {line.path}")
                elif self.own_overlays is not None and line.kind == OVERLAY and line.device not in self.own_overlays:
                    self.holds.append(Hold(process, thread, line.path, f"has an overlay at {line.path}, {MAY_BE}"))
            self.mount_ids[view] = {line.id for line in lines}
        return self.mount_ids[view]

    def _keep(self, process: Process, namespace: str, how: str) -> None:
        self.kept.append((namespace, Hold(process, process, "", f"{how}, in which it may be mounted")))

    def _descriptors(self, process: Process, tid: int, mounts: set[str], *, with_table: bool) -> None:
        folder = f"{PROC}/{tid}"
        for name in ("cwd", "root", "exe"):
            with contextlib.suppress(*ENDED):
                self._descriptor(process, f"{folder}/{name}", _opened(f"{folder}/{name}"), mounts)
        for number in os.listdir(f"{folder}/fd") if with_table else ():  # noqa: PTH208 (plain strings)
            self._count()
            with contextlib.suppress(*ENDED):
                self._descriptor(process, f"{folder}/fd/{number}", _fields(f"{folder}/fdinfo/{number}"), mounts)

    def _descriptor(self, process: Process, path: str, fields: dict[str, str], mounts: set[str]) -> None:
        """Holds by files on these devices outside the mount table of their thread, or by objects that may hide one."""
        name = "/".join(path.split("/")[3:])
        if self.own_overlays is not None and fields.get("scm_fds", "0") != "0":
            how = f"has descriptors in flight in {name}, of which one may be of it"
            self.holds.append(Hold(process, process, "", how))
        if fields["mnt_id"] in mounts:
            return
        link = os.readlink(path)  # noqa: PTH115
        if link.startswith(NAMESPACE):
            self._keep(process, link, f"keeps a mount namespace as {name}")
        elif not link.startswith(NO_FILE):
            self._file(process, path, name, fields["mnt_id"])

    def _file(self, process: Process, path: str, name: str, mount_id: str) -> None:
        device = _device_of(path)
        if device in self.devices:
            self.holds.append(Hold(process, process, "", f"keeps it as {name}"))
        elif self.own_overlays is not None and device not in self.own_overlays and _is_overlay(path):
            self.detached.append((mount_id, Hold(process, process, "", f"keeps an overlay as {name}, {MAY_BE}")))

    def _mappings(self, process: Process, tid: int, mounts: set[str]) -> None:
        """Files that are mapped and no longer open; the same for all threads of a process."""
        folder, wanted = f"{PROC}/{tid}", {_as_in_maps(one) for one in self.devices}
        own = {_as_in_maps(one) for one in self.own_overlays or ()}
        with open(f"{folder}/maps", "rb") as maps:  # noqa: PTH123
            for line in maps:
                self._count()
                range, _, _, device, inode = line.split(maxsplit=5)[:5]
                may_be_overlay = self.own_overlays is not None and device.startswith(b"00:") and device not in own
                if device in wanted or (may_be_overlay and inode != b"0"):
                    name = f"map_files/{_without_zeros(range.decode())}"
                    with contextlib.suppress(*ENDED):
                        self._descriptor(process, f"{folder}/{name}", _opened(f"{folder}/{name}"), mounts)

    def _count(self) -> None:
        self.descriptors_left -= 1
        if self.descriptors_left < 0:
            raise OSError(errno.E2BIG, "its processes have too many descriptors and mappings")


def _as_in_maps(device: str) -> bytes:
    major, minor = device.split(":")
    return f"{int(major):02x}:{int(minor):02x}".encode()


def _without_zeros(range: str) -> str:
    """Names in map_files have no leading zeros, ranges in maps have."""
    return "-".join(f"{int(one, 16):x}" for one in range.split("-"))


def _opened(path: str) -> dict[str, str]:
    """The stat fields of a link target, without accessing its file system, which may hang."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return _fields(f"{PROC}/self/fdinfo/{descriptor}")
    finally:
        os.close(descriptor)


def _device_of(path: str) -> str:
    try:
        device = os.stat(path).st_dev  # noqa: PTH116 (a link of the kernel's)
    except OSError as error:
        if error.errno != errno.ENOTCONN:  # an ended daemon: no reads or writes are possible
            raise
        return ""
    return f"{os.major(device)}:{os.minor(device)}"


def _is_overlay(path: str) -> bool:
    try:
        return file_system_kind(path) == OVERLAY_NUMBER
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise
        return False


def _fields(path: str) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in Path(path).read_text().splitlines() if ":" in line)
    return {name: value.strip() for name, value in pairs}


def open_files_under(pid: int, path: str) -> list[OpenFile]:
    """The first thread of each process in the environment of `pid`, except that process."""
    found = []
    for process in processes.in_pid_namespace_of(pid):
        if process.pid != pid:
            used = (what for what in _used_by(process.pid) if what == path or what.startswith(f"{path}/"))
            if (first := next(used, None)) is not None:
                found.append(OpenFile(process, first))
    return found


def _used_by(pid: int) -> Iterator[str]:
    first, *others = processes.tasks(pid) or [pid]
    apart = [tid for tid in others if not has_descriptors_of(first, tid)]
    for tid in (first, *others):
        names = ["cwd", "root", *(["exe"] if tid == first else [])]
        with contextlib.suppress(OSError):
            if tid == first or tid in apart:
                names += [f"fd/{name}" for name in os.listdir(f"{PROC}/{tid}/fd")]  # noqa: PTH208 (plain strings)
        for name in names:
            with contextlib.suppress(OSError):
                yield os.readlink(f"{PROC}/{tid}/{name}")  # noqa: PTH115
    for tid in (first, *others[:1]):  # the first thread may have ended
        with contextlib.suppress(OSError):
            maps = Path(f"{PROC}/{tid}/maps").read_text(errors="replace").splitlines()
            yield from (line[line.index("/") :] for line in maps if "/" in line)
