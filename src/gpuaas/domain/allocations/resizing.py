"""Resizes an allocation on its node: the same disk, other slots, with a restart."""

from datetime import datetime

from msgspec.structs import asdict

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, Problem
from gpuaas.core.ids import Ids
from gpuaas.domain.allocations import store
from gpuaas.domain.allocations.authority import Action, authorize
from gpuaas.domain.allocations.commands import boot_again
from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.allocations.views import view
from gpuaas.domain.capacity.commands import ask_of, choose_size, explain_placement
from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.capacity.index import Index
from gpuaas.domain.capacity.placement import Blocked, Misfit, NodeView, reshape
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.resizes import store as resizes
from gpuaas.domain.skus import store as skus
from gpuaas.domain.timeline.store import audit
from gpuaas.wire.allocations import Allocation, ResizeAllocation
from gpuaas.wire.capacity import AskPlacement, Placement, Shape, Size

NOT_NOW: dict[Blocked | None, str] = {
    Blocked.NODE_OFFLINE: "is offline and gives out no GPUs until it is back",
    Blocked.NODE_NOT_ACTIVE: "gives out no more GPUs, because an operator takes it out of service",
    Blocked.MISSING_REQUIREMENTS: "lacks something that environments need; an operator has to provide it",
    Blocked.DISK_LOW: "is almost out of disk space and gives out nothing more",
}
NODE_LACKS = {
    Misfit.NO_SYSTEMD: "it does not offer systemd",
    Misfit.TOO_FEW_CPUS: "it has fewer CPUs",
    Misfit.TOO_LITTLE_MEMORY: "it has less memory",
    Misfit.TOO_SMALL_DISK: "its disk is smaller",
}


class ResizeUnavailable(Problem):
    """The size does not fit on this node. The facts list the sizes that fit here, and where a new allocation of that
    size would fit.
    """

    status, code = 409, "resize_unavailable"

    def __init__(self, gpu_count: int, blocked: Blocked | None, here: list[int], elsewhere: Placement) -> None:
        why = NOT_NOW.get(blocked, f"has no room for {gpu_count} GPUs")
        fits_here = f"It has room for {', '.join(map(str, here))}." if here else "No other size fits there now."
        new = "would fit" if elsewhere.fits else "has no room"
        super().__init__(
            f"The node of this allocation {why}. {fits_here} A new allocation of that size {new}.",
            fits_here=here,
            elsewhere=elsewhere.regions,
            would_fit=elsewhere.would_fit,
        )


async def resize(
    tx: Tx, caller: Caller, id: str, data: ResizeAllocation, *, index: Index, ids: Ids, now: datetime
) -> Allocation:
    """Old and new claims are held together until the environment is up; the price changes then."""
    row = await authorize(tx, caller, id, Action.RESIZE)
    if row.shape is Shape.BAREMETAL:
        raise Conflict("A baremetal allocation has no other size. Release it and create another.", shape=row.shape)
    sku = await skus.get(tx, row.sku)
    size = choose_size(sku, data.gpu_count, data.size)
    if row.resize is None and (size.gpu_count, size.name) == (row.gpu_count, row.size):
        raise Conflict(f"The allocation already has the size {row.size} with {row.gpu_count} GPUs.")
    await _check_disk(tx, row, size)
    node = await index.read_node(row.node_id)
    if node and (misfit := ask_of(sku, size).misfit(node)):
        raise Conflict(
            f"The node of this allocation cannot host the size {size.name}: {NODE_LACKS[misfit]}.", size=size.name
        )
    held = set(await resizes.held_slots(tx, row.id))
    slot_ids = reshape(node, held, size.gpu_count) if node else None
    if slot_ids is None:
        elsewhere = await explain_placement(tx, AskPlacement(sku=row.sku, gpu_count=size.gpu_count), index)
        here = _fitting(node, held, row, sku.allowed_counts)
        raise ResizeUnavailable(size.gpu_count, node.blocked if node else None, here, elsewhere)
    wanted = resizes.Resize(
        gpu_count=size.gpu_count,
        size=size.name,
        vcpus=size.vcpus,
        memory_mib=size.memory_mib,
        disk_gib=size.disk_gib,
        init=size.init,
        price_id=sku.price_id,
        price_minor_per_hour=sku.amount_minor * size.gpu_count,
        slot_ids=list(slot_ids),
    )
    machine = resizes.Machine(
        allocation_id=row.id, tenant_id=row.tenant_id, node_id=row.node_id, gpu_family=sku.gpu_family
    )
    await resizes.begin(tx, machine, wanted, now)
    why = data.reason or f"from {row.gpu_count} to {size.gpu_count} GPUs"
    await boot_again(tx, row, "resize", actor=caller.actor, why=why, ids=ids, now=now)
    await audit(tx, row.subject, "allocation.resize", actor=caller.actor, at=now, facts=asdict(wanted))
    return view(await store.get(tx, id), caller)


async def _check_disk(tx: Tx, row: AllocationRow, size: Size) -> None:
    """A root disk only grows. Disk space that a failed resize still holds counts as available to its retry."""
    if size.disk_gib < row.disk_gib:
        raise Conflict(
            f"The size {size.name} has a root disk of {size.disk_gib} GiB; the allocation has {row.disk_gib} GiB. "
            "A root disk cannot shrink. Move your data to a volume and create a new allocation.",
            disk_gib=row.disk_gib,
            wanted_disk_gib=size.disk_gib,
        )
    pending = await resizes.under_way(tx, row.id)
    held_gib = max(row.disk_gib, pending.disk_gib if pending else 0)
    await disks.check_left(tx, row.node_id, size.disk_gib - held_gib)


def _fitting(node: NodeView | None, held: set[str], row: AllocationRow, allowed_counts: list[int]) -> list[int]:
    if node is None:
        return []
    return [count for count in allowed_counts if count != row.gpu_count and reshape(node, held, count)]
