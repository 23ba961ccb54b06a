"""SQL for resizes in progress: claims of both sizes are held until the environment runs with the new one."""

from datetime import datetime

import asyncpg
from msgspec import Struct
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import Raced
from gpuaas.domain.capacity.store import CAPACITY
from gpuaas.wire.environments import Init


class Resize(Struct, frozen=True, kw_only=True):
    """The size that an allocation will have after its restart."""

    gpu_count: int
    size: str
    vcpus: int
    memory_mib: int
    disk_gib: int
    init: Init
    price_id: str
    price_minor_per_hour: int
    slot_ids: list[str]


class Machine(Struct, frozen=True, kw_only=True):
    """The allocation whose size changes, and its node."""

    allocation_id: str
    tenant_id: str
    node_id: str
    gpu_family: str


async def begin(tx: Tx, machine: Machine, resize: Resize, now: datetime) -> None:
    """Claim added slots; removed slots stay claimed until the environment runs without them."""
    place = (machine.allocation_id, machine.tenant_id, machine.node_id)
    try:
        begun = await tx.value(BEGIN, *place, *astuple(resize), machine.gpu_family, now)
    except asyncpg.UniqueViolationError as error:
        raise Raced("Another request took these resources first. Try again.") from error
    if not begun:
        raise Raced("The node changed in the meantime. Try again.")
    tx.hint(CAPACITY, machine.node_id)


async def held_slots(tx: Tx, allocation_id: str) -> list[str]:
    return await tx.column("select slot_id from claims where allocation_id = $1 and released_at is null", allocation_id)


async def under_way(tx: Tx, allocation_id: str) -> Resize | None:
    return await tx.maybe(Resize, "select * from resizes where allocation_id = $1", allocation_id)


async def finish(tx: Tx, allocation_id: str, node_id: str, now: datetime) -> Resize | None:
    """The environment runs with the new size only; release all other slots."""
    done = await tx.maybe(Resize, FINISH, allocation_id, now)
    if done:
        tx.hint(CAPACITY, node_id)
    return done


# Only added slots must be for sale; an allocation may always give slots back.
BEGIN = """
    with added as materialized (
        select coalesce(array_agg(wanted.slot_id), '{}') as ids from unnest($12::text[]) as wanted (slot_id)
        where not exists (select from claims c where c.allocation_id = $1 and c.slot_id = wanted.slot_id
            and c.released_at is null)
    ), ready as materialized (
        select ids from added where ids = '{}' or claimable($3, ids, $13, false)
    ), claimed as (
        insert into claims (allocation_id, tenant_id, node_id, slot_id, kind, claimed_at)
        select $1, $2, $3, slot_id, 'slot', $14 from ready, unnest(ids) as slot_id order by slot_id
    )
    insert into resizes (allocation_id, tenant_id, gpu_count, size, vcpus, memory_mib, disk_gib, init, price_id,
        price_minor_per_hour, slot_ids)
    select $1, $2, $4, $5, $6, $7, $8, $9, $10, $11, $12 from ready
    on conflict (allocation_id) do update set gpu_count = excluded.gpu_count, size = excluded.size,
        vcpus = excluded.vcpus, memory_mib = excluded.memory_mib, disk_gib = excluded.disk_gib,
        init = excluded.init, price_id = excluded.price_id,
        price_minor_per_hour = excluded.price_minor_per_hour, slot_ids = excluded.slot_ids
    returning true
"""
FINISH = """
    with done as (
        delete from resizes where allocation_id = $1 returning *
    ), freed as (
        update claims c set released_at = $2 from done
        where c.allocation_id = $1 and c.released_at is null and c.slot_id <> all (done.slot_ids)
    )
    select * from done
"""
