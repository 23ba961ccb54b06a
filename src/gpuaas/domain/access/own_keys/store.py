"""SQL for the own key file of an allocation: whether it is allowed, and which keys the node found in it."""

from collections.abc import Mapping
from datetime import datetime

from gpuaas.core.db import Tx
from gpuaas.core.paging import Paging
from gpuaas.domain.allocations.store import KEYS
from gpuaas.wire.access import OwnKeyFile
from gpuaas.wire.link import Report

WARNING = (
    "Keys in ~/.ssh/authorized_keys of the allocation give access too. Anybody who can write that file can admit "
    "anybody: a revoke does not remove such keys, and the platform does not know whose keys they are."
)


async def admit(tx: Tx, allocation_id: str, *, by: str | None, now: datetime) -> bool:
    """Allow the file on behalf of a person, or refuse it (None); returns whether anything changed. The permission
    lasts as long as the person holds the allocation: `render_keyset` withdraws it.
    """
    changed = bool(await tx.run(ADMIT, allocation_id, by, now))
    tx.hint(KEYS, allocation_id)
    return changed


async def end_of(tx: Tx, project_id: str, user_id: str) -> list[str]:
    """End every permission that this person gave in the project and return its allocations. This also works while the
    person is suspended, when rendering does not withdraw it.
    """
    return [str(id) for id in await tx.column(END_OF, project_id, user_id)]


async def of_project(tx: Tx, project_id: str, paging: Paging) -> list[OwnKeyFile]:
    """The allocations of a project that admit their own key file."""
    return await tx.all(OwnKeyFile, OF_PROJECT, project_id, paging.before, paging.limit + 1)


async def observe(tx: Tx, told: Mapping[str, Report]) -> None:
    """Store reported keys. The statement skips allocations of other nodes, so a node cannot report on them. Most
    reports contain no own keys.
    """
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
    update allocation_keysets set admits_own = $2::text is not null, admits_own_by = $2,
        admits_own_since = case when $2::text is not null then $3::timestamptz end, generation = generation + 1,
        own_keys = '{}', own_keys_at = null, refused_own = '{}'
    where allocation_id = $1 and admits_own_by is distinct from $2
"""
END_OF = """
    update allocation_keysets k set admits_own = false, admits_own_by = null, generation = k.generation + 1,
        own_keys = '{}', own_keys_at = null, refused_own = '{}'
    from allocations a where a.id = k.allocation_id and a.project_id = $1 and k.admits_own_by = $2
    returning a.id
"""
# Released and failed allocations admit nobody.
OF_PROJECT = """
    select a.id as allocation_id, a.name as allocation_name, a.project_id, k.admits_own_by as allowed_by,
        coalesce(name_of_person(k.admits_own_by), '') as allowed_by_email, k.admits_own_since as allowed_at,
        k.observed_generation >= k.generation as installed, k.own_keys as fingerprints,
        k.refused_own as refused_fingerprints, k.own_keys_at as observed_at
    from allocations a join allocation_keysets k on k.allocation_id = a.id
    where a.project_id = $1 and k.admits_own and a.status not in ('released', 'failed') and a.id < $2
    order by a.id desc limit $3
"""
# Return those whose file contains a key of a registered person: that person's permissions decide about the key.
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
