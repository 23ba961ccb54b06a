"""Measures resource use of environments from their control groups and root disks."""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import processes
from gpuaas.engines.node.records import Record, Records
from gpuaas.engines.nvml import Nvml, NvmlClosedError, NvmlError
from gpuaas.engines.oci import exits
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.environments import Running
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.storage.mount_tables import MountTables
from gpuaas.wire.environments import Connection, EnvironmentSpec
from gpuaas.wire.metrics import GPU_METRICS, MemoryKills, Metric, Reading, Sample

KILLS_TOLD = timedelta(minutes=15)
SIMULATED = "simulated GPU: there is nothing to measure"
Connections = Callable[[str | None], Awaitable[list[Connection]]]


class OciSamples:
    """The facet `engine.samples`."""

    def __init__(
        self,
        running: Mapping[str, Running],
        records: Records,
        containers: Containers,
        *,
        connections: Connections,
        nvml: Callable[[], Nvml | str],
        tables: MountTables,
    ) -> None:
        self._running, self._records, self._containers = running, records, containers
        self._connections, self._nvml, self._tables = connections, nvml, tables
        self._kills: dict[str, tuple[int, int, MemoryKills | None]] = {}  # boot and count at the last observation

    async def take(self, at: datetime) -> list[Sample]:
        try:
            counts: Counter[str] | None = Counter(one.allocation_id for one in await self._connections(None))
        except EngineError:
            counts = None
        return await asyncio.to_thread(lambda: list(self._take(counts, at)))

    def _take(self, counts: Counter[str] | None, at: datetime) -> Iterator[Sample]:
        for id, running in list(self._running.items()):
            record = self._records.read(id)
            if isinstance(record, Record):
                readings = [
                    *self._usage(Folder(self._records.folder(id)).container),
                    *disk(running.pid),
                    *volumes(running.pid, self._tables),
                    *network(running.pid),
                    _connections(counts, id),
                    *gpus(record.spec, self._nvml()),
                ]
                yield Sample(
                    allocation_id=id,
                    boot=record.boot,
                    at=at,
                    readings=tuple(readings),
                    memory_kills=self._memory_kills(id, record, at),
                    broken_views=tuple(f"/{name}" for name in self._containers.views.broken(running.pid)),
                )
        self._kills = {id: kills for id, kills in self._kills.items() if id in self._running}

    def _memory_kills(self, id: str, record: Record, at: datetime) -> MemoryKills | None:
        """OOM kills, reported for 15 minutes after the last one. A new agent ignores earlier kills unless the boot is
        younger than that."""
        count = exits.out_of_memory(Folder(self._records.folder(id)).container, self._containers.limits)
        boot, known, told = self._kills.get(id, (-1, count, None))
        if boot != record.boot:
            is_young = boot >= 0 or at - record.started_at < KILLS_TOLD
            known, told = (0 if is_young else count), None
        if count > known:
            told = MemoryKills(count=count, at=at)
        elif told is not None and at - told.at > KILLS_TOLD:
            told = None
        self._kills[id] = (record.boot, count, told)
        return told

    def _usage(self, container: str) -> Iterator[Reading]:
        limits = self._containers.limits
        folders = limits.folders(container)
        if limits.version == "2":
            cpu, memory = ("cpu", "cpu.stat", _usage_usec), ("memory", "memory.current", float)
        else:
            cpu, memory = ("cpu", "cpuacct.usage", _nanoseconds), ("memory", "memory.usage_in_bytes", float)
            folders = {**folders, "cpu": _beside(folders.get("cpu"), "cpuacct")}
        yield _reading(Metric.CPU, folders, limits.version, cpu)
        yield _reading(Metric.MEMORY, folders, limits.version, memory)
        yield _reading(Metric.PROCESSES, folders, limits.version, ("pids", "pids.current", float))


def _beside(folder: Path | None, controller: str) -> Path:
    """The same group in another hierarchy of cgroup v1; also works if both share one."""
    if folder is None:
        return Path("/nonexistent")
    return folder.parents[2] / controller / folder.parent.name / folder.name


def _reading(
    metric: Metric, folders: Mapping[str, Path], version: str, where: tuple[str, str, Callable[[str], float]]
) -> Reading:
    controller, file, parse = where
    source = f"cgroup v{version} {file}"
    try:
        return Reading(metric=metric, value=parse((folders[controller] / file).read_text()), source=source)
    except (KeyError, OSError, ValueError) as error:
        return Reading(metric=metric, source=source, unavailable=f"cannot be read: {error}")


def _usage_usec(text: str) -> float:
    words = text.split()
    return int(words[words.index("usage_usec") + 1]) / 1e6


def _nanoseconds(text: str) -> float:
    return int(text) / 1e9


def disk(pid: int) -> Iterator[Reading]:
    """Usage of the root disk, through the root folder of pid 1."""
    source = "statvfs of its root disk"
    try:
        found = os.statvfs(f"/proc/{pid}/root")
    except OSError as error:
        why = f"its disk cannot be read: {error.strerror}"
        yield from (Reading(metric=one, source=source, unavailable=why) for one in (Metric.DISK, Metric.DISK_FREE))
        return
    yield Reading(metric=Metric.DISK, value=(found.f_blocks - found.f_bfree) * found.f_frsize, source=source)
    yield Reading(metric=Metric.DISK_FREE, value=_free(found), source=source)


def _free(found: os.statvfs_result) -> float:
    """Report a disk without free inodes as full, because no file can be created."""
    return 0.0 if found.f_files and not found.f_favail else found.f_bavail * found.f_frsize


def volumes(pid: int, tables: MountTables) -> Iterator[Reading]:
    """Usage of each local volume by its path inside. Links are not followed, because the holder controls the path.

    Other volumes are not sampled: a hanging share would block the samples of all environments."""
    with suppress(OSError):
        for mount in tables.local_mounts_in(pid):
            source = "statvfs of the volume"
            try:
                free = _free(_statvfs_inside(pid, mount.mount_path))
            except OSError as error:
                why = f"the volume cannot be read: {error.strerror}"
                yield Reading(metric=Metric.DISK_FREE, device=mount.mount_path, source=source, unavailable=why)
            else:
                yield Reading(metric=Metric.DISK_FREE, device=mount.mount_path, source=source, value=free)


def _statvfs_inside(pid: int, path: str) -> os.statvfs_result:
    flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    at = os.open(f"/proc/{pid}/root", flags)
    try:
        for name in Path(path).parts[1:]:
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        return os.fstatvfs(at)
    finally:
        os.close(at)


def _connections(counts: Counter[str] | None, id: str) -> Reading:
    source = "the SSH gateway"
    if counts is None:
        return Reading(metric=Metric.SSH_SESSIONS, source=source, unavailable="the SSH gateway does not answer")
    return Reading(metric=Metric.SSH_SESSIONS, value=counts[id], source=source)


def network(pid: int) -> Iterator[Reading]:
    source = "/proc/<pid 1>/net/dev"
    metrics = (Metric.NETWORK_RECEIVED, Metric.NETWORK_SENT)
    try:
        lines = (processes.PROC / str(pid) / "net" / "dev").read_text().splitlines()[2:]
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
    except NvmlClosedError as error:
        yield from none_of_gpu(device, "NVML", str(error))
        return
    except NvmlError as error:
        yield from none_of_gpu(device, "NVML", f"GPU {gpu_uuid} does not answer: {error}")
        return
    values = (state.utilisation_percent, state.memory_used_bytes, state.temperature_celsius)
    for metric, value in zip(GPU_METRICS, values, strict=True):
        yield Reading(metric=metric, device=device, value=value, source="NVML")


def none_of_gpu(device: str, source: str, why: str) -> Iterator[Reading]:
    return (Reading(metric=metric, device=device, source=source, unavailable=why) for metric in GPU_METRICS)
