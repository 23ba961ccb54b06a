"""Where a request goes: a pure choice over a snapshot of the fleet. Only proposes; the claim itself is one statement.

Best fit: the node with the fewest free slots that still holds the whole request, so that whole nodes stay free; within
it the slots of one NUMA node if they suffice, the tightest such. A request never spans nodes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from gpuaas.wire.capacity import Fit, Placement, Shape, Unavailable

FreeSlots = dict[tuple[str, str], list[int]]  # (region, family) → free slots of each node that has any
NUMA_TRIES = 8  # nodes of one bucket looked at for a NUMA fit before any node of it will do


class Blocked(StrEnum):
    """Why a slot that exists is not for sale now, besides being sold."""

    NODE_OFFLINE = "node_offline"
    NODE_NOT_ACTIVE = "node_not_active"
    NOT_APPROVED = "not_approved"
    DISABLED = "disabled"
    CLEANUP_BLOCKED = "cleanup_blocked"
    UNKNOWN_ENVIRONMENT = "unknown_environment"
    NO_FABRIC = "no_fabric"


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


@dataclass(frozen=True, slots=True)
class Ask:
    shape: Shape
    gpu_family: str
    gpu_count: int
    region: str | None = None
    node_id: str | None = None  # only there: data on its disk is wanted


@dataclass(frozen=True, slots=True)
class Proposal:
    node_id: str
    region: str
    slot_ids: tuple[str, ...]  # sorted: claims in one order cannot deadlock
    whole: bool


@dataclass(slots=True)
class _Node:
    view: NodeView
    free: dict[str, int | None]  # slot id → NUMA node
    total: int


@dataclass(slots=True)
class _Pool:
    """Nodes of one family in one region, by how many slots they have free."""

    buckets: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    largest: int = 0


class Fleet:
    """An index over nodes that proposes in constant time; kept true by `put`, `take` and `settle`."""

    def __init__(self, nodes: Iterable[NodeView] = ()) -> None:
        self._nodes: dict[str, _Node] = {}
        self._pools: dict[tuple[str, str], _Pool] = defaultdict(_Pool)
        self._taken: set[str] = set()  # proposed, and not yet known to be claimed
        for node in nodes:
            self.put(node)

    def put(self, view: NodeView) -> None:
        """The node as read; slots taken here and not yet committed stay taken."""
        self.drop(view.id)
        free = {
            slot.id: slot.numa
            for slot in view.slots
            if not slot.claimed and not slot.blocked and slot.id not in self._taken and not view.blocked
        }
        node = self._nodes[view.id] = _Node(view, free, len(view.slots))
        self._file(node)

    def drop(self, node_id: str) -> None:
        if node := self._nodes.pop(node_id, None):
            self._unfile(node)

    def propose(self, ask: Ask) -> Proposal | None:
        if ask.node_id:
            return self._propose_on(self._nodes.get(ask.node_id), ask)
        for pool in self._pools_for(ask):
            node = self._whole(pool, ask) if ask.shape is Shape.BAREMETAL else self._tightest(pool, ask.gpu_count)
            if node:
                slots = list(node.free) if ask.shape is Shape.BAREMETAL else _pick(node.free, ask.gpu_count)
                whole = ask.shape is Shape.BAREMETAL
                return Proposal(node.view.id, node.view.region, tuple(sorted(slots)), whole)
        return None

    def _propose_on(self, node: _Node | None, ask: Ask) -> Proposal | None:
        if node is None or node.view.gpu_family != ask.gpu_family or ask.region not in (None, node.view.region):
            return None
        whole = ask.shape is Shape.BAREMETAL
        if len(node.free) < ask.gpu_count or (whole and not node.total == len(node.free) == ask.gpu_count):
            return None
        slots = list(node.free) if whole else _pick(node.free, ask.gpu_count)
        return Proposal(node.view.id, node.view.region, tuple(sorted(slots)), whole)

    def take(self, proposal: Proposal) -> None:
        """Reserved in this process until given back or read as claimed."""
        node = self._nodes[proposal.node_id]
        self._unfile(node)
        for slot_id in proposal.slot_ids:
            node.free.pop(slot_id, None)
            self._taken.add(slot_id)
        self._file(node)

    def settle(self, proposal: Proposal, *, claimed: bool) -> None:
        """The claim committed, and the slots are somebody's; or it did not, and they may be free again."""
        self._taken.difference_update(proposal.slot_ids)
        node = self._nodes.get(proposal.node_id)
        if node is None or claimed:
            return
        self._unfile(node)
        numa = {slot.id: slot.numa for slot in node.view.slots}
        node.free.update({slot_id: numa[slot_id] for slot_id in proposal.slot_ids if slot_id in numa})
        self._file(node)

    def node_ids(self) -> set[str]:
        return set(self._nodes)

    def free_by_pool(self) -> FreeSlots:
        return {
            key: [free for free, nodes in pool.buckets.items() for _ in nodes if free]
            for key, pool in self._pools.items()
        }

    def _pools_for(self, ask: Ask) -> Iterator[_Pool]:
        for (region, family), pool in self._pools.items():
            if family == ask.gpu_family and ask.region in (None, region):
                yield pool

    def _whole(self, pool: _Pool, ask: Ask) -> _Node | None:
        for node_id in pool.buckets.get(ask.gpu_count, ()):
            node = self._nodes[node_id]
            if node.total == len(node.free) == ask.gpu_count:
                return node
        return None

    def _tightest(self, pool: _Pool, gpu_count: int) -> _Node | None:
        for free in range(gpu_count, pool.largest + 1):
            bucket = pool.buckets.get(free)
            if not bucket:
                continue
            first = None
            for tried, node_id in enumerate(bucket):
                node = self._nodes[node_id]
                first = first or node
                if _fits_one_numa(node.free, gpu_count):
                    return node
                if tried == NUMA_TRIES:
                    break
            return first
        return None

    def _file(self, node: _Node) -> None:
        pool = self._pools[node.view.region, node.view.gpu_family]
        pool.buckets[len(node.free)][node.view.id] = None
        pool.largest = max(pool.largest, len(node.free))

    def _unfile(self, node: _Node) -> None:
        self._pools[node.view.region, node.view.gpu_family].buckets[len(node.free)].pop(node.view.id, None)


def _by_numa(free: dict[str, int | None]) -> dict[int | None, list[str]]:
    groups: dict[int | None, list[str]] = defaultdict(list)
    for slot_id, numa in free.items():
        groups[numa].append(slot_id)
    return groups


def _fits_one_numa(free: dict[str, int | None], gpu_count: int) -> bool:
    return any(len(group) >= gpu_count for group in _by_numa(free).values())


def _pick(free: dict[str, int | None], gpu_count: int) -> list[str]:
    """From the tightest NUMA node that holds all; else from the fullest ones first, to span as few as possible."""
    groups = sorted(_by_numa(free).values(), key=len)
    for group in groups:
        if len(group) >= gpu_count:
            return sorted(group)[:gpu_count]
    spread = [slot_id for group in reversed(groups) for slot_id in sorted(group)]
    return spread[:gpu_count]


def reshape(node: NodeView, held: set[str], gpu_count: int) -> tuple[str, ...] | None:
    """The slots of another size on the same node: as many as possible of those held, then the nearest free ones."""
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


def explain(nodes: list[NodeView], ask: Ask, *, count: int, allowed_counts: list[int]) -> Placement:
    """Where `count` machines would go, or which of three reasons keeps them out, and what would fit instead."""
    fleet = Fleet(nodes)
    regions: list[str] = []
    for _ in range(count):
        proposal = fleet.propose(ask)
        if proposal is None:
            return _refusal(nodes, ask, count=count, placed=len(regions), allowed_counts=allowed_counts)
        fleet.take(proposal)
        regions.append(proposal.region)
    return Placement(fits=True, regions=regions)


def _refusal(nodes: list[NodeView], ask: Ask, *, count: int, placed: int, allowed_counts: list[int]) -> Placement:
    fitting = [node for node in nodes if node.gpu_family == ask.gpu_family and ask.region in (None, node.region)]
    blocked: dict[str, int] = defaultdict(int)
    free, would_free = [], []
    for node in fitting:
        states = [(slot.claimed, slot.blocked or node.blocked) for slot in node.slots]
        free.append(sum(1 for claimed, why in states if not claimed and not why))
        would_free.append(sum(1 for claimed, _ in states if not claimed))
        for claimed, why in states:
            if why and not claimed:
                blocked[why.value] += 1
    need = ask.gpu_count
    if sum(free) >= need * count:
        kind, detail = (
            Unavailable.NO_SINGLE_NODE_FITS,
            f"{sum(free)} GPUs are free, but no single node has {need} of them.",
        )
    elif sum(would // need for would in would_free) >= count:
        kind, detail = (
            Unavailable.READINESS_BLOCKS,
            "GPUs exist that could serve this, but they are not ready for sale now.",
        )
    else:
        kind, detail = (
            Unavailable.NO_CAPACITY,
            f"Of this kind {sum(free) or 'none'} of the {need * count} GPUs that this needs are free.",
        )
    if placed:
        detail += f" {placed} of the {count} machines would have fitted."
    would_fit = _would_fit(nodes, ask, allowed_counts)
    return Placement(fits=False, kind=kind, detail=detail, blocked=dict(blocked), would_fit=would_fit)


def _would_fit(nodes: list[NodeView], ask: Ask, allowed_counts: list[int]) -> list[Fit]:
    fits = []
    for (region, family), free in Fleet(nodes).free_by_pool().items():
        for gpu_count in sorted(allowed_counts, reverse=True):
            machines = sum(each // gpu_count for each in free)
            if family == ask.gpu_family and ask.shape is Shape.GPU_SLICE and machines:
                fits.append(Fit(gpu_count=gpu_count, count=machines, region=region))
    return fits
