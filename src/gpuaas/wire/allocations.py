"""An allocation: one environment on one node, for one project."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gpuaas.wire.capacity import Shape
from gpuaas.wire.common import Moment, Money, Name, Reason, Reference
from gpuaas.wire.environments import Init, Isolation
from gpuaas.wire.images import AllocationImage
from gpuaas.wire.metrics import HealthReason
from gpuaas.wire.permissions import Permissions
from gpuaas.wire.runtimes import RuntimeSummary
from gpuaas.wire.storage import Attachment, LaunchAttachment
from gpuaas.wire.timeline import Entry
from gpuaas.wire.usage import Cost


class Status(StrEnum):
    REQUESTED = "requested"
    PROVISIONING = "provisioning"
    ACTIVE = "active"
    RESTARTING = "restarting"
    RESTART_FAILED = "restart_failed"
    RELEASING = "releasing"
    RELEASE_FAILED = "release_failed"
    RELEASED = "released"
    FAILED = "failed"


class Health(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


class BillingState(StrEnum):
    NOT_STARTED = "not_started"
    RUNNING = "running"
    STOPPED = "stopped"


IdleMinutes = Annotated[int, Meta(ge=5, le=43_200, description="released after so many minutes without work")]


class CreateAllocation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A launch request; with `count` above one a group, all or none."""

    sku: Reference
    ssh_key_ids: Annotated[list[Reference], Meta(min_length=1, max_length=20)]
    project_id: Reference | None = None
    name: Name | None = None
    gpu_count: Annotated[int, Meta(ge=1, le=1024)] = 1
    size: Reference | None = None
    count: Annotated[int, Meta(ge=1, le=64)] = 1
    region: Reference | None = None
    expires_at: Moment | None = None
    idle_minutes: IdleMinutes | None = None
    runtime_bundle_slug: Reference | None = None
    runtime_bundle_id: Reference | None = None
    storage_attachments: Annotated[list[LaunchAttachment], Meta(max_length=16)] = []


class AllocationNode(Struct, frozen=True, kw_only=True):
    id: str
    region: str


class AllocationSlot(Struct, frozen=True, kw_only=True):
    index: int
    gpu_uuid: str
    numa: int | None = None


class SshConnection(Struct, frozen=True, kw_only=True):
    """How to log in. Host, port and host key of `connection` never change while the allocation exists;
    `early_connection` may differ from it.
    """

    host: str
    port: int
    username: str
    host_key: str
    command: str
    known_hosts: str


class PendingResize(Struct, frozen=True, kw_only=True):
    """The size after the restart. After a failure, a restart completes the resize, and another resize can revert it."""

    gpu_count: int
    size: str
    price_per_hour: Money


class Limits(Struct, frozen=True, kw_only=True):
    """When the allocation ends automatically, if it does; people are warned before."""

    expires_at: datetime | None = None
    expiry_warned_at: datetime | None = None
    idle_minutes: int | None = None
    idle_warned_at: datetime | None = None


class UseSignal(Struct, frozen=True, kw_only=True):
    """A signal of use: when it last showed work, or why that is unknown."""

    kind: str
    last_at: datetime | None
    unavailable: str = ""


class LimitsNow(Struct, frozen=True, kw_only=True):
    """When the allocation ends automatically, as of now. It is idle only if every required signal can be read."""

    limits: Limits
    expires_in_seconds: float | None
    idle_since: datetime | None
    idle_ends_at: datetime | None
    idle_ends_in_seconds: float | None
    signals: list[UseSignal]


class Billing(Struct, frozen=True, kw_only=True):
    state: BillingState
    started_at: datetime | None = None
    stopped_at: datetime | None = None


class HeldBy(StrEnum):
    """Project admins hold an allocation whose holder no longer works in the project."""

    HOLDER = "holder"
    PROJECT_ADMINS = "project_admins"


class Allocation(Struct, frozen=True, kw_only=True):
    id: str
    resource_name: str
    project_id: str
    group_id: str | None
    name: str
    status: Status
    status_since: datetime
    status_reason: str
    health: Health
    sku: str
    gpu_count: int
    size: str
    vcpus: int
    memory_mib: int
    disk_gib: int  # of the root disk
    init: Init
    shape: Shape
    node: AllocationNode
    slots: list[AllocationSlot]
    connection: SshConnection | None
    boot: int
    price_per_hour: Money
    created_at: datetime
    active_at: datetime | None
    released_at: datetime | None
    last_progress_at: datetime
    requested_by: str
    holder: str  # the recorded holder
    billing: Billing
    cleanup_proven: bool
    simulated: bool
    operation_id: str | None = None
    early_connection: SshConnection | None = None  # until it is active, if a spare was ready; a login there waits
    isolation: Isolation | None = None
    image: AllocationImage | None = None  # None: its node did not report it
    attachments: list[Attachment] = []  # volumes that are or should be attached
    health_reasons: list[HealthReason] = []
    resize: PendingResize | None = None
    limits: Limits = Limits()
    runtime: RuntimeSummary | None = None  # null: never had a runtime
    held_by: HeldBy = HeldBy.HOLDER
    cost_so_far: Cost | None = None  # None: the server is older than usage intervals
    retry: CreateAllocation | None = None  # of a failed allocation: the request, ready to be sent again
    permissions: Permissions = []


class SubmittedAllocations(Struct, frozen=True, kw_only=True):
    allocations: list[Allocation]
    group_id: str | None
    operation_id: str


class ReleaseAllocation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class RestartAllocation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class ResizeAllocation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another GPU count or size of the same SKU, on the same node."""

    gpu_count: Annotated[int, Meta(ge=1, le=1024)]
    size: Reference | None = None
    reason: Reason = ""


class ExtendAllocation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields that are left out stay; null removes the limit. `hours` counts from the current end, or from now."""

    hours: Annotated[float, Meta(gt=0, le=8_760)] | UnsetType = UNSET
    expires_at: Moment | UnsetType | None = UNSET
    idle_minutes: IdleMinutes | UnsetType | None = UNSET


class Disruption(StrEnum):
    """Actions that end something of a live allocation."""

    RELEASE = "release"
    RESTART = "restart"
    RESIZE = "resize"


class Consequence(Struct, frozen=True, kw_only=True):
    """One thing that a disruption ends or keeps."""

    what: str
    detail: str
    ref: str | None = None  # the id of the resource, if it has one


class Consequences(Struct, frozen=True, kw_only=True):
    """The consequences of a disruption, for a person to read before confirming."""

    of: Disruption
    lost: list[Consequence]
    survives: list[Consequence]
    billing: str


class ForceCleanup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An operator's inspection: `runtime_verified_absent` frees the slots, otherwise they stay blocked."""

    runtime_verified_absent: bool
    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class AllocationGroup(Struct, frozen=True, kw_only=True):
    id: str
    project_id: str
    created_at: datetime
    allocations: list[Allocation]


class FleetFilter(StrEnum):
    """`on_node`: holds slots, because its cleanup is not proven. `unsettled`: those of them that are not active."""

    ON_NODE = "on_node"
    UNSETTLED = "unsettled"


class NodeTask(Struct, frozen=True, kw_only=True):
    """A node task for an allocation, with its complete result."""

    id: str
    kind: str
    seq: int
    boot: int
    status: str
    attempt: int
    created_at: datetime
    sent_at: datetime | None
    ended_at: datetime | None
    reason: str
    detail: str


class CleanupProof(Struct, frozen=True, kw_only=True):
    item: str
    ok: bool
    evidence: str
    at: datetime


class InspectedAllocation(Struct, frozen=True, kw_only=True):
    """All information about an allocation, for operators."""

    allocation: Allocation
    holder_email: str  # the contact
    timeline: list[Entry]
    tasks: list[NodeTask]
    proofs: list[CleanupProof]
