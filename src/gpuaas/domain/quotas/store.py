"""SQL for quota limits and usage. The database counts the usage (migrations/0055_quotas.sql)."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.paging import Paging
from gpuaas.wire.quotas import DIMENSIONS, Dimension, QuotaLimit, QuotaScope

PLATFORM = "platform"  # the scope id of the defaults


class Place(Struct, frozen=True, kw_only=True):
    """A tenant, a project or a person that limits are set for."""

    scope: QuotaScope
    id: str
    tenant_id: str | None


class Counted(Struct, frozen=True, kw_only=True):
    """One dimension of one place: its current limit and usage."""

    scope: QuotaScope
    dimension: Dimension
    amount: int | None
    used: int | None
    is_default: bool


DEFAULTS = Place(scope=QuotaScope.PLATFORM, id=PLATFORM, tenant_id=None)


async def place(tx: Tx, scope: QuotaScope, id: str) -> Place:
    """Only places that the caller may see."""
    found = await tx.maybe(Place, PLACE[scope], id)
    if found is None:
        raise NotFound(scope.value)
    return found


async def counted(tx: Tx, place: Place) -> list[Counted]:
    """In the order in which a refusal checks them."""
    wanted = sorted(DIMENSIONS[place.scope], key=list(Dimension).index)
    sql = COUNTED_OF_USER if place.scope is QuotaScope.USER else COUNTED
    return await tx.all(Counted, sql, place.scope.value, place.id, [one.value for one in wanted])


async def limit_of_person(tx: Tx, user_id: str, dimension: Dimension) -> int | None:
    limit = await tx.value("select quota_limit('user', $1, $2)", user_id, dimension.value)
    return None if limit is None else int(limit)


async def limits(tx: Tx, scope_id: str | None, paging: Paging) -> list[QuotaLimit]:
    """The limits that operators have set, including the defaults."""
    return await tx.all(QuotaLimit, LIMITS, scope_id, paging.before, paging.limit + 1)


async def set_limit(
    tx: Tx, place: Place, dimension: Dimension, amount: int | None, *, by: str, reason: str, now: datetime
) -> None:
    await tx.run(SET, place.id, place.scope.value, dimension.value, amount, place.tenant_id, by, now, reason)


async def clear_limits(tx: Tx, place: Place, dimensions: list[Dimension]) -> int:
    wanted = [one.value for one in dimensions]
    return await tx.run("delete from quota_limits where scope_id = $1 and dimension = any ($2)", place.id, wanted)


PLACE = {
    QuotaScope.TENANT: "select 'tenant' as scope, id, id as tenant_id from tenants where id = $1",
    QuotaScope.PROJECT: "select 'project' as scope, id, tenant_id from projects where id = $1",
    QuotaScope.USER: "select 'user' as scope, id, null as tenant_id from users where id = $1",
}
LIMIT = """
    left join lateral (
        select amount, scope_id = 'platform' as is_default from quota_limits q
        where q.dimension = d.dimension and (q.scope_id = $2 or ($1 <> 'project' and q.scope_id = 'platform'))
        order by q.scope_id = 'platform' limit 1
    ) as l on true
"""
COUNTED = f"""
    select $1 as scope, d.dimension, l.amount, coalesce((to_jsonb(u) ->> d.dimension)::bigint, 0) as used,
        coalesce(l.is_default, false) as is_default
    from unnest($3::text[]) with ordinality as d (dimension, place) left join quota_usage u on u.scope_id = $2 {LIMIT}
    order by d.place
"""
COUNTED_OF_USER = f"""
    select $1 as scope, d.dimension, l.amount, case d.dimension
        when 'tokens' then (select count(*) from tokens t where t.user_id = $2 and t.revoked_at is null
            and t.expires_at > clock_timestamp())
        when 'ssh_keys' then (select count(*) from ssh_keys k where k.user_id = $2) end as used,
        coalesce(l.is_default, false) as is_default
    from unnest($3::text[]) with ordinality as d (dimension, place) {LIMIT}
    order by d.place
"""
LIMITS = """
    select scope, scope_id, dimension, amount, set_by, set_at, reason from quota_limits
    where ($1::text is null or scope_id = $1) and scope_id || ' ' || dimension < $2
    order by scope_id || ' ' || dimension desc limit $3
"""
SET = """
    insert into quota_limits (scope_id, scope, dimension, amount, tenant_id, set_by, set_at, reason)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (scope_id, dimension) do update set amount = excluded.amount, set_by = excluded.set_by,
        set_at = excluded.set_at, reason = excluded.reason
"""
