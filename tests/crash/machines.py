"""What is on this machine of one agent, found without asking the agent or its code."""

import contextlib
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuaas.engines.node.site import Site
from gpuaas.engines.oci.ids import CLAIMS, ids_of
from tests.engines.sweeping import CGROUPS, INTERFACES, PROC, text_of, uids_of

LISTENING = "0A"
TOMBSTONES = ".deleted"
PLATFORM = (TOMBSTONES, ".owners")  # which owner files have on disk


@dataclass(frozen=True)
class Expected:
    """Which environments should be there, and on which ports; which volumes and snapshots."""

    ports: dict[str, int]
    volumes: frozenset[str] = frozenset()


class Machine:
    def __init__(self, folder: Path, shared: Path, *, ports: range) -> None:
        self.site = Site(folder / "oci")
        self._storage = (self.site.root / "volumes", shared)
        self._folder, self._ports = folder, ports

    def complaints(self, expected: Expected) -> list[str]:
        return [
            *self._processes(expected),
            *self._containers(expected),
            *self._files(expected),
            *self._data(expected),
            *self._mounts(),
            *self._networks_left(expected),
            *self._groups(expected),
            *self._listeners(expected),
            *self._journal(),
        ]

    def _processes(self, expected: Expected) -> Iterator[str]:
        """By control group, by id, and by what they were started with."""
        ids = self.ids()
        for pid in [path for path in PROC.iterdir() if path.name.isdigit()]:
            status, command = text_of(pid / "status"), text_of(pid / "cmdline").replace("\0", " ").strip()
            if re.search(r"^State:\s+Z", status, re.MULTILINE) or not status:
                continue
            of = self._environments_of(pid) | set(re.findall(rf"{self.site.environments}/([^/ ]+)", command))
            is_ours = any(uid in each for uid in uids_of(pid) for each in ids)
            if of - set(expected.ports) or (is_ours and not of):
                yield f"orphan process {pid.name} of {', '.join(of) or 'nobody'}: {command}"

    def ids(self) -> list[range]:
        """Of processes that only this engine starts."""
        return [ids_of(int(claim.name)) for claim in CLAIMS.glob("*") if claim.readlink() == self.site.root]

    def _environments_of(self, pid: Path) -> set[str]:
        found = re.findall(rf"/gpuaas-{self.site.tag}/([^/\n]+)", text_of(pid / "cgroup"))
        return {name.removesuffix(".ssh").removesuffix(".storage") for name in found}

    def processes_of(self, allocation_id: str) -> set[str]:
        """Those in its control group."""
        every = [path for path in PROC.iterdir() if path.name.isdigit()]
        return {path.name for path in every if allocation_id in self._environments_of(path)}

    def lasting_processes_of(self, allocation_id: str) -> set[str]:
        """Those that it lives by, without what people run in it: the first of its pid namespace."""
        return {
            pid
            for pid in self.processes_of(allocation_id)
            if re.search(r"^NSpid:.*\t1$", text_of(PROC / pid / "status"), re.MULTILINE)
        }

    def _containers(self, expected: Expected) -> Iterator[str]:
        """What the runtime remembers, and loop devices of root disks."""
        state = self.site.root / "runc"
        for path in state.iterdir() if state.is_dir() else ():
            if path.name not in expected.ports:
                yield f"container {path.name} is left"
            elif (path / "exec.fifo").exists():
                yield f"container {path.name} waits for its start"
        for path in Path("/sys/block").glob("loop*/loop/backing_file"):
            name = re.search(rf"{self.site.environments}/([^/ ]+)", text_of(path))
            if name and name[1] not in expected.ports:
                yield f"loop device {path.parts[3]} of {name[1]} is left"

    def _files(self, expected: Expected) -> Iterator[str]:
        found = {path.name for path in self.site.environments.iterdir()}
        for name in found - set(expected.ports):
            yield f"files of {name} are left"
        for path in self.site.staging.iterdir() if self.site.staging.exists() else ():
            yield f"half a bundle is left: {path.name}"
        for name in set(expected.ports) - found:
            yield f"files of {name} are gone"

    def _data(self, expected: Expected) -> Iterator[str]:
        """Of volumes and snapshots, also what was begun beside them; what was deleted leaves a tombstone."""
        folders = {path.name: path for root in self._storage for path in root.iterdir() if path.name not in PLATFORM}
        found = set(folders)
        for name in found - expected.volumes:
            yield f"data of {name} is left"
        for name in found & expected.volumes:
            if stray := {path.name for path in folders[name].iterdir()} - {"data", "disk.img", "ownership.json"}:
                yield f"beside the data of {name} there is {', '.join(stray)}"
        for name in expected.volumes - found:
            yield f"data of {name} is gone"

    def _mounts(self) -> Iterator[str]:
        for line in text_of(PROC / "self/mountinfo").splitlines():
            if str(self.site.root) in line and f"{self.site.root}/lxcfs/" not in line:
                yield f"mount {line.split()[4]} is left"

    def _networks_left(self, expected: Expected) -> Iterator[str]:
        links = {path.name.rsplit("-", 1)[1] for path in INTERFACES.glob(f"g{self.site.tag}-*")}
        wanted = {str(index) for name in expected.ports if (index := self.index(name)) is not None}
        yield from (f"network {left} is left" for left in links - wanted)
        yield from (f"network {gone} is gone" for gone in wanted - links)

    def index(self, allocation_id: str) -> int | None:
        record = text_of(self.site.environments / allocation_id / "record.json")
        return int(json.loads(record)["index"]) if record else None

    def _groups(self, expected: Expected) -> Iterator[str]:
        for pattern in (f"gpuaas-{self.site.tag}/*/", f"*/gpuaas-{self.site.tag}/*/"):
            for path in CGROUPS.glob(pattern):
                if path.name.removesuffix(".ssh").removesuffix(".storage") not in expected.ports:
                    yield f"control group {path} is left"

    def _listeners(self, expected: Expected) -> Iterator[str]:
        found = set()
        for table in ("tcp", "tcp6"):
            for line in text_of(PROC / "net" / table).splitlines()[1:]:
                words = line.split()
                port = int(words[1].rsplit(":", 1)[1], 16)
                found |= {port} if words[3] == LISTENING and port in self._ports else set()
        for port in found ^ set(expected.ports.values()):
            yield f"port {port} is {'open' if port in found else 'closed'}"

    def _journal(self) -> Iterator[str]:
        """Read from a copy, for the agent holds the file; a copy torn by a write is looked at again later."""
        with tempfile.TemporaryDirectory() as folder:
            for path in self._folder.glob("journal.db*"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(path, folder)
            try:
                with contextlib.closing(sqlite3.connect(f"{folder}/journal.db")) as db:
                    rows = db.execute("select id, kind, result is null from tasks").fetchall()
            except sqlite3.DatabaseError as error:
                yield f"the journal could not be read: {error}"
                return
        for id, kind, is_open in rows:
            yield f"the journal keeps {kind} {id}, {'not ended' if is_open else 'not acknowledged'}"
