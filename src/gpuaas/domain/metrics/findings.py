"""What a sample says about health. Pure: same sample, same findings."""

from gpuaas.domain.metrics.store import Finding
from gpuaas.wire.metrics import Metric, Reading, Sample

SOURCE = "samples"
NEARLY_FULL_BYTES = 1 << 30
NEARLY_FULL_SHARE = 0.05
HOT_CELSIUS = 95


def findings(sample: Sample) -> list[Finding]:
    return [*_disk(sample.readings), *_gpus(sample.readings)]


def _disk(readings: tuple[Reading, ...]) -> list[Finding]:
    free = next((one.value for one in readings if one.metric is Metric.DISK_FREE), None)
    used = next((one.value for one in readings if one.metric is Metric.DISK), None) or 0.0
    if free is None or free > max(NEARLY_FULL_BYTES, (free + used) * NEARLY_FULL_SHARE):
        return []
    return [
        Finding(
            code="disk_nearly_full",
            words=f"The local disk has {free / (1 << 20):.0f} MiB left.",
            next_step="Delete what you do not need, or move data to a volume.",
        )
    ]


def _gpus(readings: tuple[Reading, ...]) -> list[Finding]:
    """A simulated GPU and a machine without NVML say nothing of health; a GPU that was asked and refused does."""
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
                next_step="Restart the allocation; if it stays so, release it and tell an operator.",
            )
        )
    if hot:
        found.append(
            Finding(
                code="gpu_hot",
                words=f"GPU {', '.join(hot)} is at {HOT_CELSIUS} °C or more.",
                next_step="Lower its load; if it stays so, tell an operator.",
            )
        )
    return found


def _by_number(device: str) -> tuple[int, str]:
    return (int(device) if device.isdecimal() else 0, device)
