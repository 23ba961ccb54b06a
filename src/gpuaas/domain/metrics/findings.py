"""Derives health findings from a sample. Pure: same sample, same findings."""

from gpuaas.domain.metrics.store import Finding
from gpuaas.wire.metrics import MemoryKills, Metric, Reading, Sample

SOURCE = "samples"
ROOT = "/"
FULL_BYTES = 16 << 20  # below this, programs cannot work
NEARLY_FULL_BYTES = 1 << 30
NEARLY_FULL_SHARE = 0.1
HOT_CELSIUS = 95


def findings(sample: Sample) -> list[Finding]:
    return [
        *_memory(sample.memory_kills),
        *_disk(sample.readings),
        *_gpus(sample.readings),
        *_views(sample.broken_views),
    ]


def _memory(kills: MemoryKills | None) -> list[Finding]:
    if kills is None:
        return []
    noun = "process" if kills.count == 1 else "processes"
    return [
        Finding(
            code="out_of_memory",
            words=f"The kernel killed {kills.count} {noun} for lack of memory since the last boot, "
            f"most recently at {kills.at:%Y-%m-%d %H:%M:%S} UTC.",
            next_step="Use less memory at a time, or resize the allocation. Other processes keep running.",
        )
    ]


def _disk(readings: tuple[Reading, ...]) -> list[Finding]:
    """A full disk, root disk or volume, is named by its path. The root disk also has a finding when it is nearly
    full.
    """
    free = {one.device or ROOT: one.value for one in readings if one.metric is Metric.DISK_FREE}
    full = sorted(path for path, left in free.items() if left is not None and left < FULL_BYTES)
    found = []
    if full:
        what = "The disk at {} is full." if len(full) == 1 else "The disks at {} are full."
        found.append(
            Finding(
                code="disk_full",
                words=what.format(", ".join(full)),
                next_step="Delete what you do not need there, or move data to a volume with space.",
            )
        )
    left, used = free.get(ROOT), next((one.value for one in readings if one.metric is Metric.DISK), None) or 0.0
    if left is not None and ROOT not in full and left < min(NEARLY_FULL_BYTES, (left + used) * NEARLY_FULL_SHARE):
        found.append(
            Finding(
                code="disk_nearly_full",
                words=f"The root disk (/) has {left / (1 << 20):.0f} MiB left.",
                next_step="Delete what you do not need, or move data to a volume.",
            )
        )
    return found


def _gpus(readings: tuple[Reading, ...]) -> list[Finding]:
    """A simulated GPU, or a node without NVML, is not a finding; a GPU that returns an error is."""
    erring = sorted({one.device for one in readings if one.unavailable.startswith("GPU ")}, key=_by_number)
    hot = sorted(
        {one.device for one in readings if one.metric is Metric.GPU_TEMPERATURE and (one.value or 0.0) >= HOT_CELSIUS},
        key=_by_number,
    )
    found = []
    if erring:
        found.append(
            Finding(
                code="gpu_not_answering",
                words=f"GPU {', '.join(erring)} does not answer.",
                next_step="Restart the allocation; if the problem persists, release it and contact an operator.",
            )
        )
    if hot:
        found.append(
            Finding(
                code="gpu_hot",
                words=f"GPU {', '.join(hot)} is at {HOT_CELSIUS} °C or more.",
                next_step="Lower its load; if the problem persists, contact an operator.",
            )
        )
    return found


def _views(broken: tuple[str, ...]) -> list[Finding]:
    if not broken:
        return []
    return [
        Finding(
            code="views_broken",
            words=f"Programs cannot read {', '.join(broken)}: the service that provides them on the node ended.",
            next_step="Restart the allocation. Its files and its address stay.",
        )
    ]


def _by_number(device: str) -> tuple[int, str]:
    return (int(device) if device.isdecimal() else 0, device)
