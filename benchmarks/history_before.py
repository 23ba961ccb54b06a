"""The statements and indexes of before, for benchmarks/history.py: the same rows, read as they were read then."""

from gpuaas.domain.allocations.store import SEEN
from gpuaas.domain.timeline.store import ACTOR_NAME

PLACED_ENTRY = f"""
    select xid::text::bigint as xid, id, subject_kind, subject_id, project_id, operation_id, phase, outcome, at, actor,
        {ACTOR_NAME}, note, evidence
    from timeline_entries
"""
RECENT = f"""
    {PLACED_ENTRY} where project_id = $1 and (xid, id) < ($2::bigint::text::xid8, $3)
    order by xid desc, id desc limit $4
"""
FOLLOW = f"""
    {PLACED_ENTRY} where project_id = $1 and ($2::text is null or subject_id = $2)
        and (xid, id) > ($3::bigint::text::xid8, $4) and xid < pg_snapshot_xmin(pg_current_snapshot())
    order by xid, id limit $5
"""
LIST_PROJECT = f"""
    {SEEN} where a.project_id = $1 and ($2::text is null or a.status = $2) and ($3::text is null or a.name = $3)
        and a.id < $4 order by a.id desc limit $5
"""
LIST_FLEET = f"""
    {SEEN} where ($1::text is null or a.status = $1) and ($2::text is null or a.node_id = $2)
        and a.id < $3 order by a.id desc limit $4
"""
RUNTIMES_DUE = """
    select r.allocation_id as id from allocation_runtimes r join allocations a on a.id = r.allocation_id
    where (r.state in ('applying', 'clearing') and a.status not in ('requested', 'provisioning', 'restarting'))
        or (a.status = 'active' and r.observed_boot < a.boot and r.bundle_id is not null)
"""
COUNTS = """
    select (
        select jsonb_agg(to_jsonb(q)) from (
            select 'node_tasks' as name, count(*) as waiting,
                extract(epoch from clock_timestamp() - min(created_at))::float8 as oldest_seconds
            from node_tasks where status in ('queued', 'sent')
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
            select count(*) filter (where status = 'running') as running,
                extract(epoch from clock_timestamp() - min(started_at) filter (where status = 'running'))::float8
                    as oldest_running_seconds,
                count(*) filter (where status <> 'running') as ended_last_hour,
                count(*) filter (where status = 'failed') as failed_last_hour
            from operations where status = 'running' or ended_at > clock_timestamp() - interval '1 hour'
        ) o
    ) as operations, (
        select coalesce(jsonb_object_agg(state, count), '{}') from (
            select intent as state, count(*) from nodes group by intent
            union all
            select 'offline', count(*) from nodes
            where offline_since is not null and intent in ('active', 'draining', 'quarantined')
        ) n
    ) as nodes, (
        select to_jsonb(c) from (
            select count(*) as approved, count(*) filter (where is_claimed) as claimed,
                count(*) filter (where not is_claimed and is_blocked) as blocked,
                count(*) filter (where not is_claimed and not is_blocked) as free
            from (
                select exists (select from claims c where c.slot_id = s.id and c.released_at is null) as is_claimed,
                    s.disabled_at is not null or s.cleanup_blocked_at is not null or n.intent <> 'active'
                        or n.offline_since is not null as is_blocked
                from slots s join nodes n on n.id = s.node_id
                where s.approved_at is not null and n.intent <> 'retired'
            ) slot
        ) c
    ) as capacity, (
        select coalesce(jsonb_object_agg(status, count), '{}') from (
            select status, count(*) from allocations
            where status not in ('released', 'failed') or status_since > clock_timestamp() - interval '1 day'
            group by status
        ) a
    ) as allocations, (select count(*) from links) as links,
    (select count(*) from replicas where seen_at > clock_timestamp() - interval '10 seconds') as replicas
"""
NEW_INDEXES = (
    *("timeline_project_order", "timeline_subject_order", "task_logs_operation_order", "task_logs_allocation_order"),
    *("allocations_project_status", "allocations_project_name", "allocations_status", "allocations_node"),
    *("allocations_ended", "operations_running", "operations_ended", "operations_status", "operations_kind"),
    *("operations_node",),
)
OLD_INDEXES = """
    create index timeline_subject on timeline_entries (subject_id, id);
    create index timeline_project on timeline_entries (project_id, xid, id);
    create index task_logs_allocation on task_logs (allocation_id, at, seq);
    create index task_logs_followed on task_logs (operation_id, xid, id);
"""
