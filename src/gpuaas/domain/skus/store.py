"""SQL for SKUs, their sizes and current prices."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.wire.capacity import Shape, Size, Sku
from gpuaas.wire.common import Money
from gpuaas.wire.environments import Confinement, Init


class SkuRow(Struct, frozen=True, kw_only=True):
    sku: str
    title: str
    shape: Shape
    gpu_family: str
    allowed_counts: list[int]
    simulated: bool
    sizes: list[Size]
    price_id: str
    amount_minor: int
    currency: str

    def view(self) -> Sku:
        return Sku(
            sku=self.sku,
            title=self.title,
            shape=self.shape,
            gpu_family=self.gpu_family,
            allowed_counts=self.allowed_counts,
            sizes=self.sizes,
            price_per_gpu_hour=Money(amount_minor=self.amount_minor, currency=self.currency),
            simulated=self.simulated,
        )


class _ConfinementRow(Struct, frozen=True, kw_only=True):
    init: str
    confinement: Confinement | None


async def list_sold(tx: Tx, only: str | None = None) -> list[SkuRow]:
    return await tx.all(SkuRow, SKUS, only)


async def get(tx: Tx, name: str) -> SkuRow:
    rows = await list_sold(tx, name)
    if not rows:
        raise NotFound("sku")
    return rows[0]


async def add(tx: Tx, row: SkuRow, now: datetime) -> None:
    key = await tx.value(ADD_SKU, row.sku, row.title, row.shape, row.gpu_family, row.allowed_counts, row.simulated)
    sizes = [
        (row.sku, position, size.name, size.gpu_count, size.vcpus, size.memory_mib, size.disk_gib, size.init)
        for position, size in enumerate(row.sizes)
    ]
    await tx.run_many(ADD_SIZE, sizes)
    await tx.run(ADD_PRICE, row.price_id, key, row.amount_minor, row.currency, now)


async def keep_confinement(tx: Tx, init: Init, found: Confinement, node_id: str, now: datetime) -> None:
    """Store only the fields that all environments with this init share."""
    kept = Confinement(**{name: getattr(found, name) for name in Confinement.__struct_fields__})
    await tx.run(KEEP_CONFINEMENT, init, kept, node_id, now)


async def confinements(tx: Tx) -> dict[str, Confinement | None]:
    """By init; None where the nodes differ."""
    return {row.init: row.confinement for row in await tx.all(_ConfinementRow, "select * from agreed_confinements()")}


SKUS = """
    select k.sku, k.title, k.shape, k.gpu_family, k.allowed_counts, k.simulated, p.id as price_id, p.amount_minor,
        p.currency, (
            select coalesce(jsonb_agg(jsonb_build_object('name', z.name, 'gpu_count', z.gpu_count, 'vcpus', z.vcpus,
                'memory_mib', z.memory_mib, 'disk_gib', z.disk_gib, 'init', z.init) order by z.position), '[]')
            from sku_sizes z where z.sku = k.sku
        ) as sizes
    from skus k join prices p on p.sku_key = k.key and p.valid @> clock_timestamp()
    where k.active and ($1::text is null or k.sku = $1) order by k.key
"""
ADD_SKU = """
    insert into skus (sku, title, shape, gpu_family, allowed_counts, simulated) values ($1, $2, $3, $4, $5, $6)
    returning key
"""
ADD_SIZE = """
    insert into sku_sizes (sku, position, name, gpu_count, vcpus, memory_mib, disk_gib, init)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
"""
ADD_PRICE = """
    insert into prices (id, sku_key, amount_minor, currency, valid) values ($1, $2, $3, $4, tstzrange($5, null))
"""
KEEP_CONFINEMENT = """
    insert into node_confinements as c (init, confinement, node_id, read_at) values ($1, $2, $3, $4)
    on conflict (init, node_id) do update set confinement = excluded.confinement, read_at = excluded.read_at
    where c.confinement <> excluded.confinement
"""
