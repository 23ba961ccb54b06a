"""Metrics of an environment: each reading with its unit, source and time, or the reason why it is unavailable."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from gpuaas.wire.common import Dated, Moment

SAMPLE_SECONDS = 10.0
SAMPLES_PER_MESSAGE = 64  # a node with more environments sends several messages


class Metric(StrEnum):
    CPU = "cpu"
    MEMORY = "memory"
    DISK = "disk"
    DISK_FREE = "disk_free"
    NETWORK_RECEIVED = "network_received"
    NETWORK_SENT = "network_sent"
    PROCESSES = "processes"
    SSH_SESSIONS = "ssh_sessions"
    GPU_UTILISATION = "gpu_utilisation"
    GPU_MEMORY = "gpu_memory"
    GPU_TEMPERATURE = "gpu_temperature"


UNITS = {
    Metric.CPU: "seconds",
    Metric.MEMORY: "bytes",
    Metric.DISK: "bytes",
    Metric.DISK_FREE: "bytes",
    Metric.NETWORK_RECEIVED: "bytes",
    Metric.NETWORK_SENT: "bytes",
    Metric.PROCESSES: "processes",
    Metric.SSH_SESSIONS: "sessions",
    Metric.GPU_UTILISATION: "percent",
    Metric.GPU_MEMORY: "bytes",
    Metric.GPU_TEMPERATURE: "celsius",
}
# Counters, which only rise during a boot; people see them as rates.
COUNTERS = {Metric.CPU: "cores", Metric.NETWORK_RECEIVED: "bytes/s", Metric.NETWORK_SENT: "bytes/s"}
GPU_METRICS = (Metric.GPU_UTILISATION, Metric.GPU_MEMORY, Metric.GPU_TEMPERATURE)


class Reading(Dated, frozen=True, kw_only=True):
    """Either `value`, or `unavailable` with the reason."""

    metric: Metric
    source: str
    value: float | None = None
    unavailable: str = ""
    device: str = ""  # the slot's number, for metrics per GPU; the path of a volume
    at: Moment | None = None  # if it is older than its sample

    @property
    def key(self) -> str:
        return f"{self.metric}:{self.device}" if self.device else str(self.metric)


class MemoryKills(Dated, frozen=True, kw_only=True):
    """Processes that the kernel ended for lack of memory since the last boot, and when the last was noticed."""

    count: int
    at: Moment


class Sample(Dated, frozen=True, kw_only=True):
    """All readings of one environment at one time."""

    allocation_id: str
    boot: int
    at: Moment
    readings: tuple[Reading, ...]
    memory_kills: MemoryKills | None = None  # None: none recently
    broken_views: tuple[str, ...] = ()  # files that should show its size and cannot be read


class Samples(Struct, frozen=True, kw_only=True, tag="samples"):
    """The samples of a node's environments; sent without a request, and dropped while the link is closed or full."""

    samples: list[Sample]


class Point(Struct, frozen=True, kw_only=True):
    """`low` and `high` are the extremes of the samples behind it; equal to `value` for a single sample."""

    at: datetime
    value: float
    low: float
    high: float


class Series(Struct, frozen=True, kw_only=True):
    """One metric over time. Without points, `unavailable` has the reason; old points may accompany a reason."""

    metric: Metric
    device: str
    unit: str
    source: str
    latest: float | None
    latest_at: datetime | None
    age_seconds: float | None
    unavailable: str
    points: list[Point]


class Metrics(Struct, frozen=True, kw_only=True):
    allocation_id: str
    range: str
    step_seconds: int
    sampled_at: datetime | None
    age_seconds: float | None
    unavailable: str
    series: list[Series]


class HealthReason(Struct, frozen=True, kw_only=True):
    """An observation that a person should know, with its time and the next step."""

    code: str
    words: str
    since: datetime
    next_step: str


class AllocationHealth(Struct, frozen=True, kw_only=True):
    allocation_id: str
    health: str
    reasons: list[HealthReason]
    sampled_at: datetime | None
    age_seconds: float | None
