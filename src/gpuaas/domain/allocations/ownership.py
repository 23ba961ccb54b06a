"""Builds the ownership record that the node stores, in case this database loses the allocation."""

from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.resizes.store import Resize
from gpuaas.wire.environments import Ownership


def ownership(row: AllocationRow, resize: Resize | None = None) -> Ownership:
    """During a resize, the record has the new size."""
    shape = resize or row
    return Ownership(
        tenant_id=row.tenant_id,
        project_id=row.project_id,
        holder_id=row.holder_id,
        requested_by=row.requested_by,
        name=row.name,
        username=row.username,
        sku=row.sku,
        shape=row.shape.value,
        size=shape.size,
        gpu_count=shape.gpu_count,
        vcpus=shape.vcpus,
        memory_mib=shape.memory_mib,
        simulated=row.simulated,
        price_id=shape.price_id,
        price_minor_per_hour=shape.price_minor_per_hour,
        currency=row.currency,
        created_at=row.created_at,
        disk_gib=shape.disk_gib,
        init=shape.init,
    )
