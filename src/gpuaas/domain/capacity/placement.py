"""Chooses slots for a request: a pure function of a snapshot of the fleet. It only proposes; one SQL statement
claims.

Best fit: choose the node with the fewest free slots that can hold the whole request, so that whole nodes stay free.
Within the node, prefer the smallest NUMA node that suffices. A request never spans nodes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from gpuaas.wire.capacity import Fit, Placement, Shape, Unavailable
from gpuaas.wire.environments import Init

NUMA_TRIES = 8  # nodes of one bucket checked for a NUMA fit before any node is accepted


class Blocked(StrEnum):
    """Why an unclaimed slot is not for sale now."""

    NODE_OFFLINE = "node_offline"
    NODE_NOT_ACTIVE = "node_not_active"
    MISSING_REQUIREMENTS = "missing_requirements"  # its node lacks something that environments need
    NOT_APPROVED = "not_approved"
    DISABLED = "disabled"
    CLEANUP_BLOCKED = "cleanup_blocked"
    UNKNOWN_ENVIRONMENT = "unknown_environment"
    NO_FABRIC = "no_fabric"
    DISK_LOW = "disk_low"


class Misfit(StrEnum):
    """Why a size cannot be placed on a node."""

    NO_SYSTEMD = "no node offers systemd"
    TOO_FEW_CPUS = "no node has as many CPUs"
    TOO_LITTLE_MEMORY = "no node has as much memory"
    TOO_SMALL_DISK = "no node has as large a disk"


@dataclass(frozen=True, slots=True)
class SlotView:
    id: str
    numa: int | None
    claimed: bool
    blocked: Blocked | None


@dataclass(frozen=True, slots=True)
class NodeView:
    id: str
    region: str
    gpu_family: str
    slots: tuple[SlotView, ...]
    blocked: Blocked | None = None  # the whole node
    vcpus: int | None = None  # unknown: not compared
    memory_mib: int | None = None
    has_systemd: bool = False
    disk_for_sale_gib: int | None = None
    disk_left_gib: int | None = None  # of the disk for sale; unknown: disk is not counted


@dataclass(frozen=True, slots=True)
class Ask:
    shape: Shape
    gpu_family: str
    gpu_count: int
    region: str | None = None
    node_id: str | None = None  # only this node, because it has the requested data
    vcpus: int = 0
    memory_mib: int = 0
    disk_gib: int = 0  # root disk, and volumes that are created with it on the node
    init: Init = Init.PLAIN

    def misfit(self, node: NodeView) -> Misfit | None:
        """Why this node can never host an environment of this size, whatever is free there."""
        if self.init is Init.SYSTEMD and not node.has_systemd:
            return Misfit.NO_SYSTEMD
        if node.vcpus is not None and self.vcpus > node.vcpus:
            return Misfit.TOO_FEW_CPUS
        if node.memory_mib is not None and self.memory_mib > node.memory_mib:
            return Misfit.TOO_LITTLE_MEMORY
        if node.disk_for_sale_gib is not None and self.disk_gib > node.disk_for_sale_gib:
            return Misfit.TOO_SMALL_DISK
        return None


@dataclass(frozen=True, slots=True)
class Proposal:
    node_id: str
    region: str
    slot_ids: tuple[str, ...]  # sorted: claims in one order cannot deadlock
    whole: bool
    disk_gib: int = 0


@dataclass(slots=True)
class _Node:
    view: NodeView
    free: dict[str, int | None]  # slot id → NUMA node
    total: int
    disk_taken_gib: int = 0  # since the read, or proposed and not yet committed

    @property
    def disk_left_gib(self) -> int | None:
        left = self.view.disk_left_gib
        return None if left is None else max(0, left - self.disk_taken_gib)

    def suits(self, ask: Ask) -> bool:
        left = self.disk_left_gib
        return ask.misfit(self.view) is None and (left is None or ask.disk_gib <= left)

    def can_be_whole(self, gpu_count: int) -> bool:
        """Whether it has exactly this many GPUs and all of them are free."""
        return self.total == len(self.free) == gpu_count

    def room(self, ask: Ask) -> int:
        """How many environments of this size fit now."""
        if not self.suits(ask):
            return 0
        if ask.shape is Shape.BAREMETAL:
            return int(self.can_be_whole(ask.gpu_count))
        by_gpus, left = len(self.free) // ask.gpu_count, self.disk_left_gib
        return by_gpus if left is None or not ask.disk_gib else min(by_gpus, left // ask.disk_gib)


@dataclass(slots=True)
class _Pool:
    """Nodes of one GPU family in one region, by their number of free slots."""

    buckets: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    largest: int = 0


class Fleet:
    """An index of nodes that proposes in constant time; `put`, `take` and `settle` keep it current."""

    def __init__(self, nodes: Iterable[NodeView] = ()) -> None:
        self._nodes: dict[str, _Node] = {}
        self._pools: dict[tuple[str, str], _Pool] = defaultdict(_Pool)
        self._taken: set[str] = set()  # proposed, and not yet committed
        self._disk_taken: dict[str, int] = defaultdict(int)  # the same for disk, by node
        for node in nodes:
            self.put(node)

    def put(self, view: NodeView) -> None:
        """Store a node as read; slots that were taken here and are not committed yet stay taken."""
        self.drop(view.id)
        free = {
            slot.id: slot.numa
            for slot in view.slots
            if not slot.claimed and not slot.blocked and slot.id not in self._taken and not view.blocked
        }
        node = self._nodes[view.id] = _Node(view, free, len(view.slots), self._disk_taken.get(view.id, 0))
        self._file(node)

    def drop(self, node_id: str) -> None:
        if node := self._nodes.pop(node_id, None):
            self._unfile(node)

    def propose(self, ask: Ask) -> Proposal | None:
        if ask.node_id:
            return self._propose_on(self._nodes.get(ask.node_id), ask)
        for pool in self._pools_for(ask):
            node = self._whole(pool, ask) if ask.shape is Shape.BAREMETAL else self._tightest(pool, ask)
            if node:
                return _proposal(node, ask)
        return None

    def _propose_on(self, node: _Node | None, ask: Ask) -> Proposal | None:
        if node is None or node.view.gpu_family != ask.gpu_family or ask.region not in (None, node.view.region):
            return None
        return _proposal(node, ask) if node.room(ask) else None

    def take(self, proposal: Proposal) -> None:
        """Reserve in this process until the claim commits or fails."""
        node = self._nodes[proposal.node_id]
        self._unfile(node)
        for slot_id in proposal.slot_ids:
            node.free.pop(slot_id, None)
            self._taken.add(slot_id)
        node.disk_taken_gib += proposal.disk_gib
        self._disk_taken[proposal.node_id] += proposal.disk_gib
        self._file(node)

    def settle(self, proposal: Proposal, *, claimed: bool) -> None:
        """The claim committed, so the slots stay taken; or it failed, so they may be free again."""
        self._taken.difference_update(proposal.slot_ids)
        self._disk_taken[proposal.node_id] -= proposal.disk_gib
        node = self._nodes.get(proposal.node_id)
        if node is None or claimed:
            return
        self._unfile(node)
        node.disk_taken_gib = max(0, node.disk_taken_gib - proposal.disk_gib)
        numa = {slot.id: slot.numa for slot in node.view.slots}
        node.free.update({slot_id: numa[slot_id] for slot_id in proposal.slot_ids if slot_id in numa})
        self._file(node)

    def node_ids(self) -> set[str]:
        return set(self._nodes)

    def views(self) -> Iterator[NodeView]:
        return (node.view for node in self._nodes.values())

    def room(self, ask: Ask) -> dict[str, int]:
        """How many environments of this size fit now, by region; regions without nodes of this family are absent."""
        found: dict[str, int] = {}
        for node in self._nodes.values():
            if node.view.gpu_family == ask.gpu_family and ask.region in (None, node.view.region):
                found[node.view.region] = found.get(node.view.region, 0) + node.room(ask)
        return dict(sorted(found.items()))

    def _pools_for(self, ask: Ask) -> Iterator[_Pool]:
        for (region, family), pool in self._pools.items():
            if family == ask.gpu_family and ask.region in (None, region):
                yield pool

    def _whole(self, pool: _Pool, ask: Ask) -> _Node | None:
        for node_id in pool.buckets.get(ask.gpu_count, ()):
            node = self._nodes[node_id]
            if node.room(ask):
                return node
        return None

    def _tightest(self, pool: _Pool, ask: Ask) -> _Node | None:
        for free in range(ask.gpu_count, pool.largest + 1):
            suitable = (self._nodes[node_id] for node_id in pool.buckets.get(free, ()))
            tried = list(islice((node for node in suitable if node.suits(ask)), NUMA_TRIES + 1))
            if tried:
                return next((node for node in tried if _fits_one_numa(node.free, ask.gpu_count)), tried[0])
        return None

    def _file(self, node: _Node) -> None:
        pool = self._pools[node.view.region, node.view.gpu_family]
        pool.buckets[len(node.free)][node.view.id] = None
        pool.largest = max(pool.largest, len(node.free))

    def _unfile(self, node: _Node) -> None:
        self._pools[node.view.region, node.view.gpu_family].buckets[len(node.free)].pop(node.view.id, None)


def _proposal(node: _Node, ask: Ask) -> Proposal:
    whole = ask.shape is Shape.BAREMETAL
    slots = list(node.free) if whole else _pick(node.free, ask.gpu_count)
    return Proposal(node.view.id, node.view.region, tuple(sorted(slots)), whole, ask.disk_gib)


def _by_numa(free: dict[str, int | None]) -> dict[int | None, list[str]]:
    groups: dict[int | None, list[str]] = defaultdict(list)
    for slot_id, numa in free.items():
        groups[numa].append(slot_id)
    return groups


def _fits_one_numa(free: dict[str, int | None], gpu_count: int) -> bool:
    return any(len(group) >= gpu_count for group in _by_numa(free).values())


def _pick(free: dict[str, int | None], gpu_count: int) -> list[str]:
    """From the smallest NUMA node that holds all; otherwise from those with the most free slots first, to span the
    fewest.
    """
    groups = sorted(_by_numa(free).values(), key=len)
    for group in groups:
        if len(group) >= gpu_count:
            return sorted(group)[:gpu_count]
    spread = [slot_id for group in reversed(groups) for slot_id in sorted(group)]
    return spread[:gpu_count]


def reshape(node: NodeView, held: set[str], gpu_count: int) -> tuple[str, ...] | None:
    """The slots of another size on the same node: as many of the held slots as possible, then the nearest free ones."""
    numa = {slot.id: slot.numa for slot in node.slots}
    kept = _pick({slot_id: numa[slot_id] for slot_id in held}, min(gpu_count, len(held)))
    free = {
        slot.id: slot.numa
        for slot in node.slots
        if slot.id not in held and not slot.claimed and not slot.blocked and not node.blocked
    }
    wanted = gpu_count - len(kept)
    if wanted > len(free):
        return None
    home = {numa[slot_id] for slot_id in kept}
    nearest = sorted(free, key=lambda slot_id: (free[slot_id] not in home, str(free[slot_id]), slot_id))
    return tuple(sorted([*kept, *nearest[:wanted]]))


def explain(nodes: list[NodeView], ask: Ask, *, count: int, others: list[Ask]) -> Placement:
    """Where `count` allocations would go, or why they cannot be placed, and which of `others` would fit instead."""
    fleet = Fleet(nodes)
    regions: list[str] = []
    for _ in range(count):
        proposal = fleet.propose(ask)
        if proposal is None:
            return _refusal(nodes, ask, count=count, placed=len(regions), others=others)
        fleet.take(proposal)
        regions.append(proposal.region)
    return Placement(fits=True, regions=regions)


def _refusal(nodes: list[NodeView], ask: Ask, *, count: int, placed: int, others: list[Ask]) -> Placement:
    fitting = [node for node in nodes if node.gpu_family == ask.gpu_family and ask.region in (None, node.region)]
    blocked: dict[str, int] = defaultdict(int)
    free = 0
    for node in fitting:
        for slot in node.slots:
            why = slot.blocked or node.blocked
            free += not slot.claimed and not why
            if why and not slot.claimed:
                blocked[why.value] += 1
    kind, detail = _why(fitting, ask, count, free)
    if placed:
        detail += f" {placed} of the {count} allocations would fit."
    would_fit = [
        Fit(gpu_count=other.gpu_count, count=fitting_count, region=region)
        for other in sorted(others, key=lambda one: -one.gpu_count)
        for region, fitting_count in Fleet(nodes).room(replace(other, region=None)).items()
        if ask.shape is Shape.GPU_SLICE and fitting_count
    ]
    return Placement(fits=False, kind=kind, detail=detail, blocked=dict(blocked), would_fit=would_fit)


def _why(nodes: list[NodeView], ask: Ask, count: int, free: int) -> tuple[Unavailable, str]:
    """Checks the size first, then GPUs, then disk, so that the reason names what must change."""
    need, without_disk = ask.gpu_count, replace(ask, disk_gib=0)
    if nodes and (why := misfit(nodes, ask)):
        return Unavailable.SIZE_NOT_OFFERED, f"This size cannot be placed: {why}."
    if _places(nodes, without_disk) >= count > _places(nodes, ask):
        lacking = f"Nodes with free GPUs have too little disk left. Each allocation needs {ask.disk_gib} GiB."
        return Unavailable.NO_DISK, lacking
    if free >= need * count:
        whole = ask.shape is Shape.BAREMETAL
        no_node = f"no node of {need} GPUs has all of them free" if whole else f"no single node has {need} of them"
        return Unavailable.NO_SINGLE_NODE_FITS, f"{free} GPUs are free, but {no_node}."
    if _places([_ready(node) for node in nodes], without_disk) >= count:
        return Unavailable.READINESS_BLOCKS, _unready(nodes)
    detail = f"Free GPUs of this kind: {free or 'none'}. This needs {need * count}."
    return Unavailable.NO_CAPACITY, detail


def misfit(nodes: Iterable[NodeView], ask: Ask) -> str:
    """Why none of these nodes can ever host this size; empty if some node can."""
    found = ""
    for node in nodes:
        why = ask.misfit(node)
        if why is None:
            return ""
        found = found or why.value
    return found


def _places(nodes: list[NodeView], ask: Ask) -> int:
    return sum(Fleet(nodes).room(ask).values())


def _ready(node: NodeView) -> NodeView:
    """The node without anything that blocks its slots."""
    return replace(node, blocked=None, slots=tuple(replace(slot, blocked=None) for slot in node.slots))


def _unready(nodes: list[NodeView]) -> str:
    if any(node.blocked is Blocked.MISSING_REQUIREMENTS for node in nodes):
        return "Suitable GPUs exist, but their node lacks something that environments need."
    if any(node.blocked is Blocked.DISK_LOW for node in nodes):
        return "Suitable GPUs exist, but the disk of their node is almost full, so it sells nothing now."
    return "Suitable GPUs exist, but they are not ready for sale now."
