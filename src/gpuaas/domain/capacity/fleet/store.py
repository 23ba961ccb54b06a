"""Reads the fleet for placement, from nodes, slots, claims and disks."""

from collections.abc import Iterable

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.domain.capacity.placement import Blocked, NodeView, SlotView

NODE_FIELDS = ("vcpus", "memory_mib", "has_systemd", "disk_for_sale_gib", "disk_left_gib")


class _SlotRow(Struct, frozen=True):
    node_id: str
    region: str
    node_ready: bool
    node_online: bool
    node_capable: bool
    gpu_family: str
    slot_id: str
    numa: int | None
    approved: bool
    disabled: bool
    cleanup_blocked: bool
    fabric: bool
    held: bool
    claimed: bool
    vcpus: int | None
    memory_mib: int | None
    has_systemd: bool
    disk_low: bool
    disk_for_sale_gib: int | None
    disk_left_gib: int | None


async def node_views(tx: Tx, node_ids: Iterable[str] | None = None) -> list[NodeView]:
    """The fleet, or some of its nodes, for placement. Only approved slots are ever free."""
    rows = await tx.all(_SlotRow, NODE_VIEWS, None if node_ids is None else list(node_ids))
    nodes: dict[str, list[_SlotRow]] = {}
    for row in rows:
        nodes.setdefault(row.node_id, []).append(row)
    return [_node_view(slots) for slots in nodes.values()]


def _node_view(rows: list[_SlotRow]) -> NodeView:
    first = rows[0]
    blocked = None
    if not first.node_ready:
        blocked = Blocked.NODE_NOT_ACTIVE
    elif not first.node_online:
        blocked = Blocked.NODE_OFFLINE
    elif not first.node_capable:
        blocked = Blocked.MISSING_REQUIREMENTS
    elif first.disk_low:
        blocked = Blocked.DISK_LOW
    slots = tuple(SlotView(row.slot_id, row.numa, row.claimed, _slot_blocked(row)) for row in rows)
    fields = {name: getattr(first, name) for name in NODE_FIELDS}
    return NodeView(first.node_id, first.region, first.gpu_family, slots, blocked, **fields)


def _slot_blocked(row: _SlotRow) -> Blocked | None:
    if not row.approved:
        return Blocked.NOT_APPROVED
    if row.disabled:
        return Blocked.DISABLED
    if row.cleanup_blocked:
        return Blocked.CLEANUP_BLOCKED
    if row.held:
        return Blocked.UNKNOWN_ENVIRONMENT
    return None if row.fabric else Blocked.NO_FABRIC


NODE_VIEWS = """
    select n.id as node_id, n.region, n.intent = 'active' as node_ready, n.offline_since is null as node_online,
        n.is_capable as node_capable, s.gpu_family, s.id as slot_id, s.numa, s.approved_at is not null as approved,
        s.disabled_at is not null as disabled, s.cleanup_blocked_at is not null as cleanup_blocked,
        s.fabric_vf is not null as fabric, exists (select from device_holds h where h.slot_id = s.id) as held,
        exists (select from claims c where c.slot_id = s.id and c.released_at is null) as claimed,
        n.vcpus, n.memory_mib, n.has_systemd, disk_is_low(d.size_gib, d.free_gib, d.overcommit) as disk_low,
        disk_for_sale(d.size_gib, d.overcommit) as disk_for_sale_gib, disk_left(d) as disk_left_gib
    from nodes n join slots s on s.node_id = n.id join node_disks d on d.node_id = n.id
    where n.intent not in ('retired', 'enrolling') and ($1::text[] is null or n.id = any ($1))
    order by n.id, s.index
"""
