"""An overview of the platform, for operators."""

from datetime import datetime

from msgspec import Struct

from gpuaas.wire.work import WorkerStatus


class Queue(Struct, frozen=True, kw_only=True):
    """Waiting work: how much, and the age of the oldest."""

    name: str
    waiting: int
    oldest_seconds: float | None


class Capacity(Struct, frozen=True, kw_only=True):
    """Approved slots by their use."""

    approved: int
    claimed: int
    free: int
    blocked: int


class Requests(Struct, frozen=True, kw_only=True):
    """Counts of the replica that answered, since it started; latencies are upper bounds of histogram buckets."""

    replica_started_at: datetime
    total: int
    server_errors: int
    refused: int
    raced: int
    p50_seconds: float | None
    p95_seconds: float | None
    p99_seconds: float | None


class Operations(Struct, frozen=True, kw_only=True):
    running: int
    oldest_running_seconds: float | None
    ended_last_hour: int
    failed_last_hour: int


class Alert(Struct, frozen=True, kw_only=True):
    """A condition on which an operator has to act."""

    code: str
    subject_kind: str
    subject_id: str
    subject_name: str
    since: datetime
    words: str


class Overview(Struct, frozen=True, kw_only=True):
    at: datetime
    queues: list[Queue]
    operations: Operations
    nodes: dict[str, int]  # by intent, and `offline` among those that should be online
    capacity: Capacity
    allocations: dict[str, int]  # by status; released and failed ones of the last day
    links: int
    replicas: int
    requests: Requests
    alerts: list[Alert] = []
    workers: list[WorkerStatus]
    invariant_violations: dict[str, int] = {}  # by kind, only those with violations
    unknown_environments: dict[str, int] = {}  # by node name; any is an alert: adopt or remove them
    unknown_volumes: dict[str, int] = {}  # by node name, and `shared` for shared storage
