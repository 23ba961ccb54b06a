"""SQL for the parts of an environment's desired state that the allocation row does not hold: GPUs and keys."""

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.wire.environments import KeySet, SlotDevice


class Wanted(Struct, frozen=True, kw_only=True):
    devices: tuple[SlotDevice, ...]
    keys: KeySet


async def keyset(tx: Tx, allocation_id: str) -> KeySet:
    return await tx.one(KeySet, KEYSET, allocation_id)


async def wanted(tx: Tx, allocation_id: str) -> Wanted:
    return await tx.one(Wanted, WANTED, allocation_id)


async def keys_observed(tx: Tx, allocation_id: str, generation: int) -> None:
    await tx.run(KEYS_OBSERVED, allocation_id, generation)


async def devices(tx: Tx, allocation_id: str) -> tuple[SlotDevice, ...]:
    return tuple(await tx.all(SlotDevice, DEVICES, allocation_id))


KEYSET = """
    select generation, body as keys, admits_own and not is_suspended(allocation_id) as admits_own, refused_own
    from allocation_keysets where allocation_id = $1
"""
KEYS_OBSERVED = """
    update allocation_keysets set observed_generation = least($2, generation)
    where allocation_id = $1 and observed_generation < least($2, generation)
"""  # a node cannot confirm a newer key set than exists
DEVICES = """
    select s.index, s.gpu_uuid, s.gpu_pci, s.numa from claims c join slots s on s.id = c.slot_id
    where c.allocation_id = $1 and c.released_at is null and not exists (
        select from resizes r where r.allocation_id = $1 and c.slot_id <> all (r.slot_ids))
    order by s.index
"""
WANTED = f"""
    select to_jsonb(k) as keys,
        (select coalesce(jsonb_agg(to_jsonb(d) order by d.index), '[]') from ({DEVICES}) as d) as devices
    from ({KEYSET}) as k
"""
