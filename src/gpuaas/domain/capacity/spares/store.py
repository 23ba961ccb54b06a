"""Chooses the spares of a node: for each slot that is sold alone, the most likely environment."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.wire.environments import Init, SlotDevice
from gpuaas.wire.spares import SpareForm, SpareReport


class _Row(Struct, frozen=True, kw_only=True):
    node_id: str
    index: int
    gpu_uuid: str
    gpu_pci: str
    numa: int | None
    vcpus: int
    memory_mib: int
    disk_gib: int
    init: Init
    simulated: bool


async def wanted(tx: Tx, node_ids: Sequence[str]) -> dict[str, list[SpareForm]]:
    """By node. Includes claimed slots: the node itself knows which of its devices are in use."""
    found: dict[str, list[SpareForm]] = {}
    for row in await tx.all(_Row, WANTED, node_ids):
        slot = SlotDevice(index=row.index, gpu_uuid=row.gpu_uuid, gpu_pci=row.gpu_pci, numa=row.numa)
        size = {name: getattr(row, name) for name in ("vcpus", "memory_mib", "disk_gib", "init", "simulated")}
        form = SpareForm(slots=(slot,), **size)
        found.setdefault(row.node_id, []).append(form)
    return found


async def observed(tx: Tx, reports: Mapping[str, SpareReport]) -> None:
    if reports:
        await tx.run(OBSERVED, list(reports), list(reports.values()))


# Take the first SKU that sells a single slot, and its default size.
WANTED = """
    select n.id as node_id, s.index, s.gpu_uuid, s.gpu_pci, s.numa, sold.vcpus, sold.memory_mib,
        sold.disk_gib, sold.init, sold.simulated
    from nodes n join slots s on s.node_id = n.id cross join lateral (
        select z.vcpus, z.memory_mib, z.disk_gib, z.init, k.simulated
        from skus k join sku_sizes z on z.sku = k.sku and z.gpu_count = 1
        where k.active and k.shape = 'gpu_slice' and k.gpu_family = s.gpu_family and 1 = any (k.allowed_counts)
            and k.simulated = n.simulated
        order by k.key, z.position limit 1
    ) sold
    where n.id = any ($1) and n.intent = 'active' and s.approved_at is not null and s.disabled_at is null
        and s.cleanup_blocked_at is null
    order by n.id, s.index
"""
OBSERVED = """
    update nodes n set spares = told.spares from unnest($1::text[], $2::jsonb[]) as told (id, spares)
    where n.id = told.id
"""
