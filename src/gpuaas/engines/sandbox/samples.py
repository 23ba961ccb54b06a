"""What the environments of a node use, read from the kernel: one look at /proc for all of them."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from gpuaas.engines.nvml import Nvml, NvmlError
from gpuaas.engines.sandbox.boots import Boots
from gpuaas.engines.sandbox.living import Living
from gpuaas.engines.sandbox.processes import PROC, pids
from gpuaas.engines.sandbox.records import Record, Records
from gpuaas.wire.environments import EnvironmentSpec
from gpuaas.wire.metrics import GPU_METRICS, Metric, Reading, Sample

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
BLOCK = 512
DEEPEST = 60  # folders below each other that are counted; each costs a descriptor while it is looked through
MOST_FILES = 500_000
SPARED = 20  # a walk through a disk may take a twentieth of the time, no more
SIMULATED = "simulated GPU: there is nothing to measure"
TREE = "/proc/*/stat of its process tree"


class Target(Struct, frozen=True, kw_only=True):
    """A running environment, and where to look for it."""

    spec: EnvironmentSpec
    boot: int
    pid: int
    disk: Path
    has_own_network: bool
    sessions: int


class Tree(Struct, frozen=True, kw_only=True):
    processes: int
    cpu_seconds: float
    resident_bytes: int


class Walk(Struct, frozen=True, kw_only=True):
    """One count of a disk; the next is made when this one's cost is spread thin enough."""

    reading: Reading
    next_at: float


class SandboxSamples:
    """The facet `engine.samples`."""

    def __init__(
        self,
        living: Mapping[str, Living],
        records: Records,
        boots: Boots,
        *,
        nvml: Callable[[], Nvml | str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._living, self._records, self._boots = living, records, boots
        self._nvml, self._monotonic = nvml, monotonic
        self._walks: dict[str, Walk] = {}

    async def take(self, at: datetime) -> list[Sample]:
        return await asyncio.to_thread(self._take, list(self._targets()), at)

    def _targets(self) -> Iterator[Target]:
        for id, living in self._living.items():
            record = self._records.read(id)
            if isinstance(record, Record):
                yield Target(
                    spec=record.spec,
                    boot=record.boot,
                    pid=living.pid,
                    disk=self._records.folder(id) / "disk",
                    has_own_network=self._boots.networks is not None,
                    sessions=len(living.door.connections()),
                )

    def _take(self, targets: list[Target], at: datetime) -> list[Sample]:
        here = {target.spec.allocation_id for target in targets}
        self._walks = {id: walk for id, walk in self._walks.items() if id in here}
        trees = look_at_trees([target.pid for target in targets])
        return [self._sample(target, trees.get(target.pid), at) for target in targets]

    def _sample(self, target: Target, tree: Tree | None, at: datetime) -> Sample:
        id = target.spec.allocation_id
        readings = [
            *self._usage(id, tree),
            self._disk(id, target.disk, at),
            free_disk(target.disk),
            *network(target.pid, is_own=target.has_own_network),
            Reading(metric=Metric.SSH_SESSIONS, value=target.sessions, source="the agent's own door"),
            *gpus(target.spec, self._nvml()),
        ]
        return Sample(allocation_id=id, boot=target.boot, at=at, readings=tuple(readings))

    def _usage(self, id: str, tree: Tree | None) -> Iterator[Reading]:
        """By control group where there is one of its own, else by its processes."""
        if tree is None:
            for metric in (Metric.CPU, Metric.MEMORY, Metric.PROCESSES):
                yield Reading(metric=metric, source=TREE, unavailable="its first process has just ended")
            return
        yield self._cpu_of_group(id) or Reading(metric=Metric.CPU, value=tree.cpu_seconds, source=TREE)
        resident = f"{TREE}: resident pages, shared ones counted in each process"
        yield self._memory_of_group(id) or Reading(metric=Metric.MEMORY, value=tree.resident_bytes, source=resident)
        yield Reading(metric=Metric.PROCESSES, value=tree.processes, source=TREE)

    def _cpu_of_group(self, id: str) -> Reading | None:
        folder = self._boots.limits.folders(id).get("cpu")
        if folder is None:
            return None
        with contextlib.suppress(OSError, ValueError, IndexError):
            if self._boots.limits.version == "2":
                words = (folder / "cpu.stat").read_text().split()
                used = int(words[words.index("usage_usec") + 1]) / 1e6
                return Reading(metric=Metric.CPU, value=used, source="cgroup v2 cpu.stat")
            used = int((folder / "cpuacct.usage").read_text()) / 1e9
            return Reading(metric=Metric.CPU, value=used, source="cgroup v1 cpuacct.usage")
        return None

    def _memory_of_group(self, id: str) -> Reading | None:
        folder = self._boots.limits.folders(id).get("memory")
        file = "memory.current" if self._boots.limits.version == "2" else "memory.usage_in_bytes"
        if folder is None:
            return None
        with contextlib.suppress(OSError, ValueError):
            used = int((folder / file).read_text())
            return Reading(metric=Metric.MEMORY, value=used, source=f"cgroup v{self._boots.limits.version} {file}")
        return None

    def _disk(self, id: str, folder: Path, at: datetime) -> Reading:
        """Walked through, so the larger a disk the seldomer; an older count says when it was made."""
        began = self._monotonic()
        known = self._walks.get(id)
        if known is not None and began < known.next_at:
            return known.reading
        reading = used_disk(folder)
        cost = self._monotonic() - began
        self._walks[id] = Walk(reading=replace(reading, at=at), next_at=began + cost * SPARED)
        return reading


def look_at_trees(roots: list[int]) -> dict[int, Tree]:
    """Every process belongs to the nearest of these above it. Ended children count with whoever collected them."""
    parents: dict[int, int] = {}
    used: dict[int, tuple[float, int]] = {}
    for pid, fields in all_stats():
        parents[pid] = int(fields[1])
        used[pid] = (sum(int(ticks) for ticks in fields[11:15]) / TICKS, int(fields[21]) * PAGE)
    wanted = set(roots)
    totals = {root: [0, 0.0, 0] for root in wanted if root in parents}
    for pid, (seconds, resident) in used.items():
        above = pid
        while above and above not in wanted:
            above = parents.get(above, 0)
        if above in totals:
            total = totals[above]
            total[0], total[1], total[2] = total[0] + 1, total[1] + seconds, total[2] + resident
    return {
        root: Tree(processes=int(count), cpu_seconds=seconds, resident_bytes=int(resident))
        for root, (count, seconds, resident) in totals.items()
    }


def all_stats() -> Iterator[tuple[int, list[str]]]:
    """/proc/<pid>/stat behind the name, which may hold anything."""
    for pid in pids():
        with contextlib.suppress(OSError, IndexError):
            text = (PROC / str(pid) / "stat").read_bytes().decode(errors="replace")
            yield pid, text.rsplit(")", 1)[1].split()


def used_disk(folder: Path) -> Reading:
    """Blocks in use below a folder. Never follows a link, whatever is swapped for what while it looks."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return Reading(metric=Metric.DISK, source="its files", unavailable=f"its disk cannot be read: {error.strerror}")
    count = Count()
    try:
        count.walk(descriptor, 0)
    finally:
        os.close(descriptor)
    source = "blocks of its files" if not count.skipped else f"blocks of its files; {count.skipped} folders not read"
    return Reading(metric=Metric.DISK, value=count.used, source=source)


class Count:
    def __init__(self) -> None:
        self.used, self.files, self.skipped = 0, 0, 0
        self._linked: set[int] = set()

    def walk(self, descriptor: int, depth: int) -> None:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    facts = entry.stat(follow_symlinks=False)
                    self.files += 1
                    if facts.st_nlink == 1 or facts.st_ino not in self._linked:
                        self.used += facts.st_blocks * BLOCK
                    if facts.st_nlink > 1:
                        self._linked.add(facts.st_ino)
                    if entry.is_dir(follow_symlinks=False):
                        self._below(descriptor, entry.name, depth)

    def _below(self, above: int, name: str, depth: int) -> None:
        if depth >= DEEPEST or self.files > MOST_FILES:
            self.skipped += 1
            return
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        except OSError:
            self.skipped += 1
            return
        try:
            self.walk(descriptor, depth + 1)
        finally:
            os.close(descriptor)


def free_disk(folder: Path) -> Reading:
    try:
        found = os.statvfs(folder)
    except OSError as error:
        return Reading(metric=Metric.DISK_FREE, source="statvfs", unavailable=f"not readable: {error.strerror}")
    return Reading(metric=Metric.DISK_FREE, value=found.f_bavail * found.f_frsize, source="statvfs of the node's disk")


def network(pid: int, *, is_own: bool) -> Iterator[Reading]:
    source = "/proc/<pid 1>/net/dev"
    metrics = (Metric.NETWORK_RECEIVED, Metric.NETWORK_SENT)
    if not is_own:
        why = "the network is shared with the machine: nobody counts whose bytes are whose"
        yield from (Reading(metric=metric, source=source, unavailable=why) for metric in metrics)
        return
    try:
        lines = (PROC / str(pid) / "net" / "dev").read_text().splitlines()[2:]
    except OSError as error:
        why = f"its counters cannot be read: {error.strerror}"
        yield from (Reading(metric=metric, source=source, unavailable=why) for metric in metrics)
        return
    received = sent = 0
    for line in lines:
        name, _, numbers = line.partition(":")
        if name.strip() != "lo":
            fields = numbers.split()
            received, sent = received + int(fields[0]), sent + int(fields[8])
    yield Reading(metric=Metric.NETWORK_RECEIVED, value=received, source=source)
    yield Reading(metric=Metric.NETWORK_SENT, value=sent, source=source)


def gpus(spec: EnvironmentSpec, nvml: Nvml | str) -> Iterator[Reading]:
    for slot in spec.slots:
        device = str(slot.index)
        if spec.simulated:
            yield from none_of_gpu(device, "simulated", SIMULATED)
        elif isinstance(nvml, str):
            yield from none_of_gpu(device, "NVML", nvml)
        else:
            yield from gpu(device, slot.gpu_uuid, nvml)


def gpu(device: str, gpu_uuid: str, nvml: Nvml) -> Iterator[Reading]:
    try:
        state = nvml.state(gpu_uuid)
    except NvmlError as error:
        yield from none_of_gpu(device, "NVML", f"GPU {gpu_uuid} does not answer: {error}")
        return
    values = (state.utilisation_percent, state.memory_used_bytes, state.temperature_celsius)
    for metric, value in zip(GPU_METRICS, values, strict=True):
        yield Reading(metric=metric, device=device, value=value, source="NVML")


def none_of_gpu(device: str, source: str, why: str) -> Iterator[Reading]:
    return (Reading(metric=metric, device=device, source=source, unavailable=why) for metric in GPU_METRICS)
