"""What an environment's node has to know of its allocation, should this database forget it."""

from gpuaas.domain.allocations.store import AllocationRow
from gpuaas.domain.resizes.store import Resize
from gpuaas.wire.environments import Ownership


def ownership(row: AllocationRow, resize: Resize | None = None) -> Ownership:
    """Of an allocation that is resized, as it will be."""
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
