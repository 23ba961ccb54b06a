"""SQL for personal public keys, keys of allocations, and grants."""

from dataclasses import replace
from datetime import datetime

import asyncpg
from msgspec import Struct
from msgspec.structs import asdict

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, StaleWrite
from gpuaas.core.logs import correlation_id
from gpuaas.core.paging import Paging
from gpuaas.domain.access.keys import PublicKey
from gpuaas.domain.access.kinds import AUDIT, GRANT
from gpuaas.domain.access.own_keys.store import WARNING
from gpuaas.domain.allocations.environments.store import KEYSET
from gpuaas.domain.allocations.store import KEYS, AllocationRow
from gpuaas.domain.identity.callers import Placed
from gpuaas.domain.tasks.store import TaskRow
from gpuaas.domain.timeline.statements.parameters import numbered
from gpuaas.domain.timeline.statements.store import created
from gpuaas.domain.timeline.store import EVENTS
from gpuaas.domain.timeline.transitions import store as transitions
from gpuaas.domain.timeline.transitions.store import Act
from gpuaas.wire.access import AccessGrant, AllocationKeys, GrantStatus, OpenedMachine, SshKey
from gpuaas.wire.environments import KeySet


class SshKeyRow(Struct, frozen=True, kw_only=True):
    id: str
    user_id: str
    title: str
    type: str
    blob: str
    fingerprint: str
    created_at: datetime
    token_id: str | None = None
    ends_at: datetime | None = None  # the end of the token that added it
    opens: list[OpenedMachine] = []  # read with the row where a person sees it

    def view(self) -> SshKey:
        return SshKey(
            id=self.id,
            title=self.title,
            type=self.type,
            fingerprint=self.fingerprint,
            public_key=f"{self.type} {self.blob}",
            created_at=self.created_at,
            opens=self.opens,
            token_id=self.token_id,
            ends_at=self.ends_at,
        )


class GrantRow(Struct, frozen=True, kw_only=True):
    id: str
    tenant_id: str
    project_id: str
    allocation_id: str
    user_id: str
    ssh_key_id: str | None
    key_fingerprint: str | None
    status: GrantStatus
    status_since: datetime
    status_reason: str
    version: int
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    # Read with the row where a person sees it.
    allocation_name: str = ""
    email: str = ""
    installed: bool = False
    applied: bool = False

    def view(self, reader_id: str, notice: str = "") -> AccessGrant:
        """Only the grantee sees which of their keys it is; others see its fingerprint."""
        fields = {field: getattr(self, field) for field in AccessGrant.__struct_fields__ if field != "notice"}
        fields["ssh_key_id"] = self.ssh_key_id if reader_id == self.user_id else None
        return AccessGrant(**fields, notice=notice)


class NewGrant(Struct, frozen=True, kw_only=True):
    """Each field is a parameter of the statement."""

    id: str
    tenant_id: str
    project_id: str
    allocation_id: str
    user_id: str
    status: GrantStatus
    status_reason: str
    created_by: str
    created_at: datetime
    ssh_key_id: str | None = None
    expires_at: datetime | None = None


class GrantChange(Struct, frozen=True, kw_only=True):
    """The columns that a move sets in addition to the status."""

    ssh_key_id: str | None
    expires_at: datetime | None


class Seen(Struct, frozen=True, kw_only=True):
    """The facts for a decision about the keys of an allocation."""

    row: AllocationRow
    keys: KeySet
    observed_generation: int
    reported: int  # the highest generation that a task delivered and confirmed here
    task: TaskRow | None  # the newest of the lane


async def add(
    tx: Tx, id: str, user_id: str, title: str, key: PublicKey, *, token_id: str | None, now: datetime
) -> SshKeyRow:
    try:
        return await tx.one(SshKeyRow, ADD, id, user_id, title, key.type, key.blob, key.fingerprint, now, token_id)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"You have this key already ({key.fingerprint}).", fingerprint=key.fingerprint) from error


async def get(tx: Tx, id: str) -> SshKeyRow:
    row = await tx.maybe(SshKeyRow, f"{KEY} where k.id = $1", id)
    if row is None:
        raise NotFound("ssh_key")
    return row


async def list_of(tx: Tx, user_id: str, paging: Paging) -> list[SshKeyRow]:
    return await tx.all(SshKeyRow, LIST, user_id, paging.before, paging.limit + 1)


async def count_of(tx: Tx, user_id: str) -> int:
    return int(await tx.value("select count(*) from ssh_keys where user_id = $1", user_id))


async def keys_of_token(tx: Tx, user_id: str, token_id: str) -> list[str]:
    return await tx.column(
        "select id from ssh_keys where user_id = $1 and token_id = $2 order by id", user_id, token_id
    )


async def remove(tx: Tx, id: str) -> None:
    await tx.run("delete from ssh_keys where id = $1", id)


async def allocations_opened_by(tx: Tx, key_id: str) -> list[str]:
    return [str(id) for id in await tx.column(OPENED_BY, key_id)]


# Keys of an allocation


async def allocation_keys(tx: Tx, allocation_id: str) -> AllocationKeys:
    return await tx.one(AllocationKeys, ALLOCATION_KEYS, allocation_id, WARNING)


async def set_allocation_keys(tx: Tx, row: AllocationRow, ssh_key_ids: list[str]) -> None:
    """Store the holder's choice. The node gets it only after `render`."""
    await tx.run("delete from allocation_keys where allocation_id = $1 and ssh_key_id <> all ($2)", row.id, ssh_key_ids)
    await tx.run(ADD_ALLOCATION_KEYS, row.id, row.tenant_id, ssh_key_ids)


async def remove_keys_of(tx: Tx, project_id: str, user_id: str) -> list[str]:
    """Remove a person's keys from every allocation of the project that they were chosen for; returns those
    allocations.
    """
    return [str(id) for id in await tx.column(REMOVE_KEYS_OF, project_id, user_id)]


async def are_keys_of(tx: Tx, ssh_key_ids: list[str], user_id: str) -> bool:
    """Runs past row-level security, and therefore reveals only yes or no."""
    return all([await tx.value("select key_fingerprint($1, $2) is not null", id, user_id) for id in ssh_key_ids])


async def works_in(tx: Tx, row: Placed, user_id: str) -> bool:
    """Whether this person may have access: project members above viewer, and tenant admins."""
    return bool(await tx.value("select works_in($2, $1)", row.project_id, user_id))


async def lock_role(tx: Tx, row: Placed, user_id: str) -> bool:
    """Like `works_in`, and the answer holds until this transaction ends: a concurrent removal or demotion waits, and
    then sees the new access. Call it before a write that gives this person access.
    """
    return bool(await tx.value("select lock_role($2, $1)", row.project_id, user_id))


async def render(tx: Tx, allocation_id: str) -> None:
    """Compute the complete key set again, in the transaction of the change that affects it."""
    await tx.run("select render_keyset($1)", allocation_id)
    tx.hint(KEYS, allocation_id)


async def render_of(tx: Tx, user_id: str, project_id: str | None) -> list[str]:
    """Render every live allocation whose key set depends on this person's permissions."""
    return _rendered(tx, await tx.column("select * from render_keysets_of($1, $2)", user_id, project_id))


async def render_with(tx: Tx, fingerprint: str) -> list[str]:
    """Render every allocation whose own key file contains this key."""
    return _rendered(tx, await tx.column("select * from render_keysets_with($1)", fingerprint))


def _rendered(tx: Tx, ids: list[str]) -> list[str]:
    for id in ids:
        tx.hint(KEYS, id)
    return ids


async def set_holder(tx: Tx, row: AllocationRow, user_id: str) -> None:
    """The node receives its record of the holder with the next key set, so this creates a new generation."""
    if not await tx.run(SET_HOLDER, row.id, row.version, user_id):
        raise StaleWrite("allocation")
    await tx.run("update allocation_keysets set generation = generation + 1 where allocation_id = $1", row.id)
    tx.hint(KEYS, row.id)


async def look(tx: Tx, allocation_id: str) -> Seen:
    """One statement, so that all facts are from one snapshot."""
    return await tx.one(Seen, LOOK, allocation_id, KEYS)


# Grants


async def grant(tx: Tx, allocation_id: str, id: str) -> GrantRow:
    row = await tx.maybe(GrantRow, f"{SEEN} where g.id = $1 and g.allocation_id = $2", id, allocation_id)
    if row is None:
        raise NotFound("access_grant")
    return row


async def live_grant(tx: Tx, allocation_id: str, user_id: str) -> GrantRow | None:
    return await tx.maybe(
        GrantRow, f"{SEEN} where g.allocation_id = $1 and g.user_id = $2 and {LIVE}", allocation_id, user_id
    )


async def grants_of_allocation(tx: Tx, allocation_id: str, paging: Paging) -> list[GrantRow]:
    sql = f"{SEEN} where g.allocation_id = $1 and g.id < $2 order by g.id desc limit $3"
    return await tx.all(GrantRow, sql, allocation_id, paging.before, paging.limit + 1)


async def grants_of_project(tx: Tx, project_id: str, paging: Paging) -> list[GrantRow]:
    """Live grants only."""
    sql = f"{SEEN} where g.project_id = $1 and {LIVE} and g.id < $2 order by g.id desc limit $3"
    return await tx.all(GrantRow, sql, project_id, paging.before, paging.limit + 1)


async def live_grants_of(tx: Tx, project_id: str, user_id: str) -> list[GrantRow]:
    return await tx.all(GrantRow, f"{SEEN} where g.project_id = $1 and g.user_id = $2 and {LIVE}", project_id, user_id)


async def active_grants_by_key(tx: Tx, key_id: str) -> list[GrantRow]:
    sql = f"{SEEN} where g.ssh_key_id = $1 and g.status = 'active'"  # house: project-filter because a key is a person's
    return await tx.all(GrantRow, sql, key_id)


async def grants_to_end(tx: Tx, allocation_id: str) -> list[GrantRow]:
    return await tx.all(GrantRow, f"{SEEN} where g.allocation_id = $1 and {LIVE} order by g.id", allocation_id)


async def add_grant(tx: Tx, new: NewGrant) -> None:
    act = {"actor": new.created_by, "now": new.created_at, "at": new.created_at, "correlation": correlation_id.get()}
    statement = ADD_GRANT[new.status]
    try:
        await tx.run(statement.sql, *statement.values({**asdict(new), **act}))
    except asyncpg.UniqueViolationError as error:
        raise Conflict(
            "This person already has a grant or an open request for this allocation. Change its end or key instead."
        ) from error
    tx.hint(EVENTS, new.project_id)


async def move(
    tx: Tx, row: GrantRow, to: GrantStatus, *, actor: str, note: str, now: datetime, change: GrantChange | None = None
) -> None:
    wanted = change or GrantChange(ssh_key_id=row.ssh_key_id, expires_at=row.expires_at)
    await transitions.move(tx, GRANT, row, to, Act(actor=actor, now=now, note=note), change=wanted)
    tx.hint(EVENTS, row.project_id)


async def change(tx: Tx, row: GrantRow, to: GrantChange, *, actor: str, note: str, now: datetime) -> None:
    """Change the key or the end; the status stays."""
    audit = replace(AUDIT, action=AUDIT.action.format(status=row.status))
    act, columns = Act(actor=actor, now=now, note=note, audit=audit), tuple(GRANT.facts)
    await transitions.restate(tx, GRANT, row, f"access_{row.status}", act, change=to, columns=columns)
    tx.hint(EVENTS, row.project_id)


ADD = """
    insert into ssh_keys (id, user_id, title, type, blob, fingerprint, created_at, token_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning *, key_ends_at(token_id) as ends_at
"""
KEY = """
    select k.*, key_ends_at(k.token_id) as ends_at, (
        select coalesce(jsonb_agg(jsonb_build_object('allocation_id', a.id, 'name', a.name,
            'project_id', a.project_id) order by a.id desc), '[]')
        from allocations a where a.status not in ('released', 'failed') and a.id in (
            select c.allocation_id from allocation_keys c where c.ssh_key_id = k.id
            union select g.allocation_id from access_grants g where g.ssh_key_id = k.id and g.status = 'active')
    ) as opens
    from ssh_keys k
"""
LIST = f"{KEY} where k.user_id = $1 and k.id < $2 order by k.id desc limit $3"
OPENED_BY = """
    select a.id from allocations a where a.status not in ('released', 'failed') and a.id in (
        select k.allocation_id from allocation_keys k where k.ssh_key_id = $1
        union select g.allocation_id from access_grants g where g.ssh_key_id = $1 and g.status = 'active')
"""
ALLOCATION_KEYS = """
    select k.allocation_id, k.generation, k.observed_generation >= k.generation as installed,
        k.admits_own as admits_own_keys, k.own_keys as own_fingerprints, k.own_keys_at as own_observed_at,
        k.refused_own as own_refused_fingerprints,
        case when k.admits_own then $2 else '' end as warning,
        array(select c.ssh_key_id from allocation_keys c where c.allocation_id = $1 order by 1) as ssh_key_ids,
        array(select e ->> 'fingerprint' from jsonb_array_elements(k.body) as e) as fingerprints
    from allocation_keysets k where k.allocation_id = $1
"""
ADD_ALLOCATION_KEYS = """
    insert into allocation_keys (allocation_id, tenant_id, ssh_key_id) select $1, $2, unnest($3::text[])
    on conflict do nothing
"""
SET_HOLDER = "update allocations set holder_id = $3, version = version + 1 where id = $1 and version = $2"
# A task confirms no newer set than it delivered, whatever its node answers. The newest task of a lane has the newest
# set.
LOOK = f"""
    select to_jsonb(a) as row, k.observed_generation,
        (select to_jsonb(keyset) from ({KEYSET.replace("$1", "a.id")}) as keyset) as keys,
        coalesce((select max(least((newest.result -> 'environment' ->> 'key_generation')::numeric,
                (coalesce(newest.wants -> 'keys', newest.wants -> 'spec' -> 'keys') ->> 'generation')::numeric))
            from unnest(array[$2, 'environment']) as lanes (name) cross join lateral (
                select t.wants, t.result from node_tasks t
                where t.allocation_id = a.id and t.lane = lanes.name and t.status = 'done' and t.boot = a.boot
                    and coalesce(t.wants -> 'keys', t.wants -> 'spec' -> 'keys') is not null
                    and t.result -> 'environment' ->> 'key_generation' is not null
                order by t.seq desc limit 1
            ) as newest), 0)::bigint as reported,
        (select to_jsonb(t) from node_tasks t where t.allocation_id = a.id and t.lane = $2 order by seq desc limit 1)
            as task
    from allocations a join allocation_keysets k on k.allocation_id = a.id where a.id = $1
"""
LIVE = "g.status in ('asked', 'awaiting_key', 'active')"
# `installed` needs more than a confirmed key set: the set has to contain the key of this grant.
SEEN = """
    select g.*, a.name as allocation_name, coalesce(u.email, '') as email,
        k.observed_generation >= k.generation as applied,
        k.observed_generation >= k.generation and g.status = 'active' and a.status not in ('released', 'failed')
            and coalesce(g.expires_at, 'infinity') > clock_timestamp()
            and k.body @> jsonb_build_array(jsonb_build_object('fingerprint', g.key_fingerprint)) as installed
    from access_grants g join allocations a on a.id = g.allocation_id
        join allocation_keysets k on k.allocation_id = g.allocation_id left join users u on u.id = g.user_id
"""
ADD_GRANT = {
    status: numbered(f"""
        with added as (
            insert into access_grants (id, tenant_id, project_id, allocation_id, user_id, status, status_reason,
                created_by, created_at, status_since, ssh_key_id, key_fingerprint, expires_at)
            values (:id, :tenant_id, :project_id, :allocation_id, :user_id, :status, :status_reason, :created_by,
                :created_at, :created_at, :ssh_key_id, key_fingerprint(:ssh_key_id, :user_id), :expires_at) returning *
        ), {created(GRANT, status, source="added", operation=None, audit=AUDIT)}
        select from added
    """)
    for status in GrantStatus
}
# Ownership of a key is checked past row-level security: only the owner can read the keys.
REMOVE_KEYS_OF = """
    delete from allocation_keys c using allocations a
    where a.project_id = $1 and a.id = c.allocation_id and a.status not in ('released', 'failed')
        and key_fingerprint(c.ssh_key_id, $2) is not null
    returning a.id
"""
