"""SKUs, nodes and slots, and whether a request fits."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from gpuaas.wire.common import Money, Name, Reason, Reference
from gpuaas.wire.environments import DEFAULT_DISK_GIB, Confinement, Init, NodeFacts
from gpuaas.wire.images import CurrentImage
from gpuaas.wire.quotas import QuotaLine
from gpuaas.wire.spares import SpareReport


class Shape(StrEnum):
    BAREMETAL = "baremetal"
    GPU_SLICE = "gpu_slice"


class Size(Struct, frozen=True, kw_only=True):
    """The resources of a GPU count; the first size of a count is its default."""

    name: str
    gpu_count: int
    vcpus: int
    memory_mib: int
    disk_gib: int = DEFAULT_DISK_GIB  # of the root disk
    init: Init = Init.PLAIN
    shares_cpus: bool = False  # its node may sell more vCPUs than it has CPUs
    not_placeable: str = ""  # why no node can ever host it; empty: some node can


class Availability(Struct, frozen=True, kw_only=True):
    """How many allocations of this GPU count fit now in a region. The numbers of several counts are independent."""

    region: str
    gpu_count: int
    free: int


class Sku(Struct, frozen=True, kw_only=True):
    sku: str
    title: str
    shape: Shape
    gpu_family: str
    allowed_counts: list[int]
    sizes: list[Size]
    price_per_gpu_hour: Money
    simulated: bool
    availability: list[Availability] = []
    confinement: dict[str, Confinement] = {}  # by init of its sizes, if all nodes agree; missing: none has run yet
    confinement_differs: list[str] = []  # inits whose confinement differs between nodes


class Intent(StrEnum):
    """The state that operators want for a node; whether it is online is `offline_since`."""

    ENROLLING = "enrolling"
    ACTIVE = "active"
    DRAINING = "draining"
    QUARANTINED = "quarantined"
    RETIRED = "retired"


class SlotStatus(StrEnum):
    """Derived, never stored: the first value that applies."""

    CLAIMED = "claimed"
    CANDIDATE = "candidate"
    DISABLED = "disabled"
    CLEANUP_BLOCKED = "cleanup_blocked"
    UNKNOWN_ENVIRONMENT = "unknown_environment"  # an unknown environment uses its device
    MISSING_REQUIREMENTS = "missing_requirements"  # its node lacks something that environments need
    FREE = "free"


class Slot(Struct, frozen=True, kw_only=True):
    id: str
    node_id: str
    index: int
    status: SlotStatus
    gpu_family: str
    gpu_pci: str
    gpu_uuid: str
    fabric_vf: str | None
    nvme: str | None
    mac: str | None
    address: str | None
    numa: int | None
    vcpus: int
    memory_mib: int
    wipe_policy: str
    approved_by: str | None
    disabled_at: datetime | None
    cleanup_blocked_at: datetime | None
    allocation_id: str | None


class SlotMark(Struct, frozen=True, kw_only=True):
    """A slot as a square on a map of its node."""

    index: int
    status: SlotStatus
    gpu_family: str
    cleanup_blocked: bool  # also while it is claimed: its last environment is not proven removed
    allocation_id: str | None


class NodeDisk(Struct, frozen=True, kw_only=True):
    """The disk of a node: its size, the part for sale, and the part sold as root disks, volumes and snapshots."""

    size_gib: int | None  # None: its agent reported no disk, and disk is not counted there
    free_gib: int | None
    reported_at: datetime | None
    overcommit: float
    for_sale_gib: int | None
    sold_gib: int
    is_low: bool  # it sells more than it has, and is almost full: nothing is sold there now


class SetOvercommit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much disk a node sells for each GiB that it has; 1 sells no more than there is."""

    overcommit: Annotated[float, Meta(ge=1, le=10)]
    reason: Reason = ""


class Node(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    region: str
    intent: Intent
    intent_since: datetime
    intent_reason: str
    offline_since: datetime | None
    last_seen_at: datetime | None
    engine: str
    simulated: bool
    agent_version: str
    slots_free: int
    slots_claimed: int
    slots_blocked: int
    slots: list[SlotMark] = []
    unknown_environments: list[str]  # unknown environments; they hold their devices
    facts: NodeFacts | None = None
    disk: NodeDisk | None = None
    contested_at: datetime | None = None  # two live agents used its key
    contested_detail: str = ""
    key_changed_at: datetime | None = None
    spares: SpareReport | None = None  # environments prepared in advance, as last reported by the node
    image: CurrentImage | None = None  # what new environments start from, as last reported by the node


class ChangeNode(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class ChangeSlot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: Reason = ""


class CreateEnrolmentToken(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    node_name: Name
    region: Name = "local"
    ttl_seconds: Annotated[int, Meta(ge=10, le=300)] = 300


class EnrolmentToken(Struct, frozen=True, kw_only=True):
    """Shown once; valid for one node and for minutes."""

    token: str
    node_id: str
    expires_at: datetime


class AskPlacement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The compute part of a possible request."""

    sku: Reference
    gpu_count: Annotated[int, Meta(ge=1, le=1024)] = 1
    size: Reference | None = None
    count: Annotated[int, Meta(ge=1, le=64)] = 1
    region: Reference | None = None
    project_id: Reference | None = None  # shows the remaining quota


class Unavailable(StrEnum):
    NO_CAPACITY = "no_capacity"
    NO_SINGLE_NODE_FITS = "no_single_node_fits"
    READINESS_BLOCKS = "readiness_blocks"
    NO_DISK = "no_disk"
    SIZE_NOT_OFFERED = "size_not_offered"  # no node can host it, whatever is free


class Fit(Struct, frozen=True, kw_only=True):
    gpu_count: int
    count: int
    region: str


class Placement(Struct, frozen=True, kw_only=True):
    """Where a request would be placed; or why it cannot be, and what would fit instead."""

    fits: bool
    regions: list[str] = []
    kind: Unavailable | None = None
    detail: str = ""
    blocked: dict[str, int] = {}  # reason → number of slots that it blocks
    would_fit: list[Fit] = []
    quota: list[QuotaLine] = []  # of the named project
