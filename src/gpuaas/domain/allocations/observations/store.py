"""SQL for what node reports, or missing reports, say about allocations."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.core.errors import StaleWrite
from gpuaas.domain.allocations.store import KEYS, OVERLAYS, SEEN, AllocationRow
from gpuaas.domain.capacity.store import CAPACITY
from gpuaas.wire.environments import Environment
from gpuaas.wire.images import BaseImage
from gpuaas.wire.link import Report

MOST_LOST = 1_000_000  # maximum lead of a node over a database that lost writes
HIGHEST = 1 << 30  # highest such number; no allocation comes near it, and as many numbers remain above
ANY_DEVICE = None  # of an environment whose devices are unknown: it holds every slot of its node


class SeenEnvironment(Struct, frozen=True):
    """An environment that a node reports and the database does not contain; `id` becomes its id if it is new."""

    id: str
    node_id: str
    environment: Environment


class OfflineNode(Struct, frozen=True, kw_only=True):
    offline_since: datetime | None
    offline_for: timedelta
    fleet: int
    fleet_offline: int


async def live_on_node(tx: Tx, node_id: str) -> list[AllocationRow]:
    return await tx.all(AllocationRow, LIVE_ON_NODE, node_id)


async def on_nodes(tx: Tx, node_ids: list[str], reported: list[str]) -> list[AllocationRow]:
    """The allocations that the database places on these nodes, and reported allocations that belong to them."""
    return await tx.all(AllocationRow, ON_NODES, node_ids, reported)


async def observe_unknown(
    tx: Tx, reports: Mapping[str, Report], unknown: Sequence[SeenEnvironment], *, now: datetime
) -> None:
    """Store the unknown environments of these nodes, and hold each slot whose device is used without a claim.

    A known environment can also use such a device, if its resize was among the lost writes.
    """
    strangers = {(seen.node_id, seen.environment.allocation_id) for seen in unknown}
    used: list[tuple[str, str, str | None]] = []
    for node_id, report in reports.items():
        for each in report.environments:
            if each.devices is not None:
                used += [(node_id, each.allocation_id, device) for device in each.devices]
            elif (node_id, each.allocation_id) in strangers:
                used.append((node_id, each.allocation_id, ANY_DEVICE))
    changed = await tx.column(
        OBSERVE_UNKNOWN,
        list(reports),
        [seen.id for seen in unknown],
        [seen.node_id for seen in unknown],
        [seen.environment.allocation_id for seen in unknown],
        [seen.environment for seen in unknown],
        *([each[field] for each in used] for field in range(3)),
        now,
    )
    for node_id in changed:
        tx.hint(CAPACITY, node_id)


async def raise_key_generations(tx: Tx, reports: Mapping[str, Report]) -> None:
    """A node ignores key sets older than its own: where it is ahead of this database, give ours a higher generation.

    Ignore a number that lost writes cannot explain: it would use up the numbers that later key sets need.
    """
    seen = [(node_id, each) for node_id, report in reports.items() for each in report.environments]
    raised = await tx.column(
        RAISE_GENERATIONS,
        [node_id for node_id, _ in seen],
        [each.allocation_id for _, each in seen],
        [each.key_generation for _, each in seen],
        MOST_LOST,
        HIGHEST,
    )
    for allocation_id in raised:
        tx.hint(KEYS, allocation_id)


async def raise_boot(tx: Tx, row: AllocationRow, boot: int) -> None:
    """The node is at a newer boot than this row: boots in between were lost, and the next one has to be newer."""
    if not await tx.run(RAISE_BOOT, row.id, row.version, boot):
        raise StaleWrite("allocation")
    tx.hint(OVERLAYS, row.id)


async def set_images(tx: Tx, found: Mapping[str, BaseImage]) -> None:
    if found:
        ids = sorted(found)  # one order for all replicas: no deadlock
        await tx.run(SET_IMAGES, ids, [found[id] for id in ids])


async def count_offline(tx: Tx, node_id: str, now: datetime, at_most: timedelta) -> OfflineNode:
    """Count how long the node has been offline while the control plane ran, and how much of the fleet is offline."""
    return await tx.one(OfflineNode, COUNT_OFFLINE, node_id, now, at_most)


LIVE_ON_NODE = f"""
    {SEEN} where a.node_id = $1 and a.cleanup_proven_at is null and a.status not in ('released', 'failed')
        order by a.id
"""
ON_NODES = f"""
    {SEEN} where a.node_id = any ($1::text[]) and (a.cleanup_proven_at is null or a.id = any ($2::text[])) order by a.id
"""
# Every change of a node's holds updates the node's row: that is the lock that `claimable` waits for.
OBSERVE_UNKNOWN = """
    with seen as (
        select * from unnest($2::text[], $3::text[], $4::text[], $5::jsonb[])
            as s (id, node_id, environment_id, environment)
    ), kept as (
        insert into unknown_environments (id, node_id, environment_id, environment, first_seen_at, last_seen_at)
        select id, node_id, environment_id, environment, $9, $9 from seen
        on conflict (node_id, environment_id)
            do update set environment = excluded.environment, last_seen_at = excluded.last_seen_at, gone_at = null,
                removed_at = null, adopted_at = null, removal_requested_at =
                    case when unknown_environments.removed_at is null then unknown_environments.removal_requested_at end
    ), gone as (
        update unknown_environments u set gone_at = $9
        where u.node_id = any ($1::text[]) and u.gone_at is null and not exists (
            select from seen s where s.node_id = u.node_id and s.environment_id = u.environment_id)
    ), wanted as (
        select distinct s.id as slot_id, used.environment_id, used.node_id
        from unnest($6::text[], $7::text[], $8::text[]) as used (node_id, environment_id, device)
            join slots s on s.node_id = used.node_id and (used.device is null or s.gpu_uuid = used.device)
        where not exists (select from claims c
            where c.slot_id = s.id and c.allocation_id = used.environment_id and c.released_at is null)
    ), held as (
        insert into device_holds (slot_id, environment_id, node_id, since)
        select slot_id, environment_id, node_id, $9 from wanted on conflict do nothing returning node_id
    ), freed as (
        delete from device_holds h where h.node_id = any ($1) and not exists (
            select from wanted w where w.slot_id = h.slot_id and w.environment_id = h.environment_id)
        returning h.node_id
    ), changed as (
        select node_id from held union select node_id from freed
    ), noted as (
        update nodes n set unknown_environments = told.ids
        from (
            select node.id, array(select s.environment_id from seen s where s.node_id = node.id order by 1) as ids
            from unnest($1) as node (id)
        ) as told
        where n.id = told.id and (n.unknown_environments <> told.ids or n.id in (select node_id from changed))
    )
    select node_id from changed
"""
RAISE_BOOT = """
    update allocations set boot = $3, observed_boot = $3, version = version + 1 where id = $1 and version = $2
"""
SET_IMAGES = """
    update allocations a set image = seen.image from unnest($1::text[], $2::jsonb[]) as seen (id, image)
    where a.id = seen.id
"""
RAISE_GENERATIONS = """
    update allocation_keysets k set generation = seen.generation + 1
    from unnest($1::text[], $2::text[], $3::int[]) as seen (node_id, allocation_id, generation)
        join allocations a on a.id = seen.allocation_id and a.node_id = seen.node_id
    where k.allocation_id = a.id and k.generation < seen.generation
        and seen.generation <= least(k.generation + $4::bigint, $5)
    returning k.allocation_id
"""
# A node that is online counts as zero again. An offline node adds the time since the last check, up to a limit.
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
