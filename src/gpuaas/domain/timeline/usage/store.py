"""SQL for reading usage intervals. Transitions write them, and nothing changes a closed one."""

from datetime import datetime

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.paging import Paging
from gpuaas.wire.common import Page
from gpuaas.wire.usage import UsageInterval


class UsageSum(Struct, frozen=True, kw_only=True):
    """The sum of all intervals of a resource at one time of the database's clock."""

    amount_minor: int
    seconds: float
    runs: bool
    at: datetime


async def intervals(tx: Tx, resource_kind: str, resource_id: str, paging: Paging) -> Page[UsageInterval]:
    """Newest first."""
    rows = await tx.all(UsageInterval, INTERVALS, resource_kind, resource_id, _number(paging), paging.limit + 1)
    return paging.page(rows, lambda interval: str(interval.id))


def _number(paging: Paging) -> int | None:
    return int(paging.before) if paging.before.isdecimal() else None


COST = """
    u.quantity * u.rate_minor * extract(epoch from
        greatest(coalesce(u.ended, clock_timestamp()), u.started) - u.started) / 3600
"""
SECONDS = "extract(epoch from greatest(coalesce(u.ended, clock_timestamp()), u.started) - u.started)"
INTERVALS = f"""
    select u.id, u.source, u.unit, u.quantity, u.rate_minor, u.currency, u.started, u.ended, u.evidence,
        floor({COST})::bigint as amount_minor
    from usage_intervals u
    where u.resource_kind = $1 and u.resource_id = $2 and ($3::bigint is null or u.id < $3) order by u.id desc limit $4
"""  # house: project-filter because a resource is of one project
# A column for queries that read the resource.
SUM = f"""
    (select jsonb_build_object('amount_minor', coalesce(floor(sum({COST}))::bigint, 0),
        'seconds', coalesce(sum({SECONDS})::float8, 0), 'runs', coalesce(bool_or(u.ended is null), false),
        'at', clock_timestamp())
    from usage_intervals u where u.resource_kind = '{{kind}}' and u.resource_id = {{id}})
"""
