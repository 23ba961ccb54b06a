"""Rows of what a machine's own ~/.ssh/authorized_keys may do, and of what was found in it."""

from collections.abc import Mapping

from gpuaas.core.db import Tx
from gpuaas.domain.allocations.store import KEYS
from gpuaas.wire.link import Report

WARNING = (
    "Keys of the machine's own ~/.ssh/authorized_keys enter too. Whoever can write that file lets in whom they like: a "
    "revoke does not shut them out, and the platform does not know whose keys they are."
)


async def admit(tx: Tx, allocation_id: str, *, allowed: bool) -> bool:
    """Whether that is another set than before; what was found in the file is forgotten with the permission."""
    changed = bool(await tx.run(ADMIT, allocation_id, allowed))
    tx.hint(KEYS, allocation_id)
    return changed


async def observe(tx: Tx, told: Mapping[str, Report]) -> None:
    """By node: what one says of another's machines is not written. Most have nothing to say of this."""
    found = [
        (one.allocation_id, node_id, {"keys": one.own_keys}, report.at)
        for node_id, report in told.items()
        for one in report.environments
        if one.own_keys is not None
    ]
    if found:
        await tx.run(OBSERVE, *map(list, zip(*found, strict=True)))


ADMIT = """
    update allocation_keysets set admits_own = $2, generation = generation + 1, own_keys = '{}', own_keys_at = null
    where allocation_id = $1 and admits_own <> $2
"""
OBSERVE = """
    update allocation_keysets k set own_keys = told.keys, own_keys_at = told.at
    from (
        select s.id, s.node_id, s.at, array(select jsonb_array_elements_text(s.body -> 'keys')) as keys
        from unnest($1::text[], $2::text[], $3::jsonb[], $4::timestamptz[]) as s (id, node_id, body, at)
    ) told join allocations a on a.id = told.id and a.node_id = told.node_id
    where k.allocation_id = a.id and k.admits_own
        and (k.own_keys_at is null or (k.own_keys_at < told.at and k.own_keys <> told.keys))
"""
