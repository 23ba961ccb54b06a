"""SQL for counts over the whole platform, for operators and the metrics endpoint."""

from msgspec import Struct

from gpuaas.core.db import Tx
from gpuaas.wire.overview import Alert, Capacity, Operations, Queue


class Counts(Struct, frozen=True, kw_only=True):
    queues: list[Queue]
    operations: Operations
    nodes: dict[str, int]
    capacity: Capacity
    allocations: dict[str, int]
    links: int
    replicas: int
    unknown_environments: dict[str, int]
    unknown_volumes: dict[str, int]
    alerts: list[Alert]


async def counts(tx: Tx) -> Counts:
    """One statement, so that all counts are from one snapshot."""
    return await tx.one(Counts, COUNTS)


# statement_timestamp() instead of clock_timestamp(): a volatile function cannot be an index condition.
COUNTS = """
    select (
        select jsonb_agg(to_jsonb(q)) from (
            select 'node_tasks' as name, count(*) as waiting,
                extract(epoch from clock_timestamp() - min(created_at))::float8 as oldest_seconds
            from node_tasks where ended_at is null
            union all
            select 'work', count(*), extract(epoch from clock_timestamp() - min(next_at))::float8
            from work where next_at <= clock_timestamp() and (until is null or until < clock_timestamp())
            union all
            select 'work_failing', count(*), null from work where attempts > 0
            union all
            select 'outbox', count(*), extract(epoch from clock_timestamp() - min(created_at))::float8
            from outbox where delivered_at is null
        ) q
    ) as queues, (
        select to_jsonb(o) from (
            select *, extract(epoch from clock_timestamp() - oldest)::float8 as oldest_running_seconds
            from (select count(*) as running, min(started_at) as oldest from operations where status = 'running') r,
                (select count(*) as ended_last_hour, count(*) filter (where status = 'failed') as failed_last_hour
                from operations where ended_at > statement_timestamp() - interval '1 hour') e
        ) o
    ) as operations, (
        select coalesce(jsonb_object_agg(state, count), '{}') from (
            select intent as state, count(*) from nodes group by intent
            union all
            select 'offline', count(*) from nodes
            where offline_since is not null and intent in ('active', 'draining', 'quarantined')
            union all
            select 'missing_requirements', count(*) from nodes
            where not is_capable and intent in ('active', 'draining', 'quarantined')
            union all
            select 'contested', count(*) from nodes where contested_at is not null and intent <> 'retired'
        ) n
    ) as nodes, (
        select to_jsonb(c) from (
            select count(*) as approved, count(*) filter (where is_claimed) as claimed,
                count(*) filter (where not is_claimed and is_blocked) as blocked,
                count(*) filter (where not is_claimed and not is_blocked) as free
            from (
                select exists (select from claims c where c.slot_id = s.id and c.released_at is null) as is_claimed,
                    s.disabled_at is not null or s.cleanup_blocked_at is not null
                        or exists (select from device_holds h where h.slot_id = s.id) or n.intent <> 'active'
                        or n.offline_since is not null or not n.is_capable as is_blocked
                from slots s join nodes n on n.id = s.node_id
                where s.approved_at is not null and n.intent <> 'retired'
            ) slot
        ) c
    ) as capacity, (
        select coalesce(jsonb_object_agg(status, count), '{}') from (
            select status, count(*) from allocations
            where status in ('requested', 'provisioning', 'active', 'restarting', 'restart_failed', 'releasing',
                'release_failed') group by status
            union all
            select status, count(*) from allocations
            where status in ('released', 'failed') and status_since > statement_timestamp() - interval '1 day'
            group by status
        ) a
    ) as allocations, (select count(*) from links) as links,
    (select count(*) from replicas where seen_at > clock_timestamp() - interval '10 seconds') as replicas, (
        select coalesce(jsonb_object_agg(name, count), '{}') from (
            select n.name, count(*) from unknown_environments u join nodes n on n.id = u.node_id
            where u.gone_at is null and u.adopted_at is null group by n.name
        ) u
    ) as unknown_environments, (
        select coalesce(jsonb_object_agg(place, count), '{}') from (
            select coalesce(n.name, u.place) as place, count(*)
            from unknown_volumes u left join nodes n on n.id = u.place
            where u.gone_at is null and u.adopted_at is null and u.removed_at is null group by 1
        ) u
    ) as unknown_volumes, (
        select coalesce(jsonb_agg(jsonb_build_object('code', 'node_contested', 'subject_kind', 'node', 'subject_id', id,
            'subject_name', name, 'since', contested_at, 'words', contested_detail) order by contested_at), '[]')
        from nodes where contested_at is not null and intent <> 'retired'
    ) as alerts
"""  # house: project-filter because operators count the whole platform, and no row of a project is shown
