"""Allocations as nodes tell of them, by what they report or by their silence."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.domain.allocations.store import SEEN, AllocationRow


class OfflineNode(Struct, frozen=True, kw_only=True):
    offline_since: datetime | None
    offline_for: timedelta
    fleet: int
    fleet_offline: int


async def live_on_node(tx: Tx, node_id: str) -> list[AllocationRow]:
    return await tx.all(AllocationRow, LIVE_ON_NODE, node_id)


async def on_nodes(tx: Tx, node_ids: list[str], reported: list[str]) -> list[AllocationRow]:
    """What stands on the nodes by our records, and of what they report, all we ever heard of as their own."""
    return await tx.all(AllocationRow, ON_NODES, node_ids, reported)


async def set_unknown_environments(tx: Tx, by_node: Mapping[str, list[str]]) -> None:
    await tx.run(SET_UNKNOWN, by_node)


async def count_offline(tx: Tx, node_id: str, now: datetime, at_most: timedelta) -> OfflineNode:
    """How long the node has been away while we were there, and how much of the fleet with it."""
    return await tx.one(OfflineNode, COUNT_OFFLINE, node_id, now, at_most)


LIVE_ON_NODE = f"""
    {SEEN} where a.node_id = $1 and a.cleanup_proven_at is null and a.status not in ('released', 'failed')
        order by a.id
"""
ON_NODES = f"""
    {SEEN} where a.node_id = any ($1::text[]) and (a.cleanup_proven_at is null or a.id = any ($2::text[])) order by a.id
"""
SET_UNKNOWN = """
    update nodes n set unknown_environments = told.ids
    from (
        select key as node_id, array(select jsonb_array_elements_text(value)) as ids from jsonb_each($1::jsonb)
    ) as told
    where n.id = told.node_id and n.unknown_environments <> told.ids
"""
# Back online counts as zero again; offline adds what passed since the last look, if that was lately.
COUNT_OFFLINE = """
    with counted as (
        update nodes set
            offline_for = case when offline_since is null then interval '0'
                else offline_for + least($3::interval, $2 - coalesce(offline_counted_at, offline_since)) end,
            offline_counted_at = case when offline_since is null then null else $2::timestamptz end
        where id = $1 returning offline_since, offline_for
    )
    select offline_since, offline_for, (select count(*) from nodes where intent in ('active', 'draining')) as fleet,
        (select count(*) from nodes where intent in ('active', 'draining') and offline_since is not null)
            as fleet_offline
    from counted
"""
