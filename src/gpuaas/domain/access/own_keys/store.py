"""Rows of what a machine's own ~/.ssh/authorized_keys may do, and of what was found in it."""

from collections.abc import Mapping

from gpuaas.core.db import Tx
from gpuaas.domain.allocations.store import KEYS
from gpuaas.wire.link import Report

WARNING = (
    "Keys of the machine's own ~/.ssh/authorized_keys enter too. Whoever can write that file lets in whom they like: a "
    "revoke does not shut them out, and the platform does not know whose keys they are."
)


async def admit(tx: Tx, allocation_id: str, *, by: str | None) -> bool:
    """Allow the file in the name of this person, or refuse it (None); whether that changed anything. The permission
    lasts as long as the person holds the allocation: `render_keyset` takes it back."""
    changed = bool(await tx.run(ADMIT, allocation_id, by))
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
        for id in await tx.column(OBSERVE, *map(list, zip(*found, strict=True))):
            await tx.run("select render_keyset($1)", id)
            tx.hint(KEYS, str(id))


ADMIT = """
    update allocation_keysets set admits_own = $2::text is not null, admits_own_by = $2, generation = generation + 1,
        own_keys = '{}', own_keys_at = null
    where allocation_id = $1 and admits_own <> ($2::text is not null)
"""
# Those whose file holds a key that belongs to somebody here: whether that person may enter decides about the key.
OBSERVE = """
    with seen as (
        update allocation_keysets k set own_keys = told.keys, own_keys_at = told.at
        from (
            select s.id, s.node_id, s.at, array(select jsonb_array_elements_text(s.body -> 'keys')) as keys
            from unnest($1::text[], $2::text[], $3::jsonb[], $4::timestamptz[]) as s (id, node_id, body, at)
        ) told join allocations a on a.id = told.id and a.node_id = told.node_id
        where k.allocation_id = a.id and k.admits_own
            and (k.own_keys_at is null or (k.own_keys_at < told.at and k.own_keys <> told.keys))
        returning k.allocation_id, k.own_keys, k.refused_own
    )
    select allocation_id from seen where refused_own <> '{}'
        or exists (select from ssh_keys s where s.fingerprint = any (seen.own_keys))
"""  # house: project-filter because a node tells of every project on it
