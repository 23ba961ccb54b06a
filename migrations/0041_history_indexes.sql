-- no transaction
-- Indexes that keep lists, timelines, counts and scrapes fast with a long history. Statements are separated by blank
-- lines and run one by one; each may run again.

set role gpuaas_owner

create index concurrently if not exists timeline_project_order on timeline_entries (project_id, epoch, xid, id)

create index concurrently if not exists timeline_subject_order on timeline_entries (subject_id, epoch, xid, id)

drop index concurrently if exists timeline_project

drop index concurrently if exists timeline_subject

create index concurrently if not exists task_logs_operation_order on task_logs (operation_id, epoch, xid, id)

create index concurrently if not exists task_logs_allocation_order on task_logs (allocation_id, epoch, xid, id)

drop index concurrently if exists task_logs_followed

drop index concurrently if exists task_logs_allocation

create index concurrently if not exists allocations_project_status on allocations (project_id, status, id)

create index concurrently if not exists allocations_project_name on allocations (project_id, name, id)

create index concurrently if not exists allocations_status on allocations (status, id)

create index concurrently if not exists allocations_node on allocations (node_id, id)

create index concurrently if not exists allocations_ended on allocations (status_since, status)
    where status in ('released', 'failed')

do $$
declare changed int;
begin
    loop
        update operations o set node_id = found.node_id from (
            select p.id, coalesce(a.node_id, n.id) as node_id from operations p
                left join allocations a on p.subject_kind = 'allocation' and a.id = p.subject_id
                left join nodes n on p.subject_kind = 'node' and n.id = p.subject_id
            where p.node_id is null and coalesce(a.node_id, n.id) is not null limit 10000
        ) found where o.id = found.id;
        get diagnostics changed = row_count;
        commit;
        exit when changed = 0;
    end loop;
end $$

create index concurrently if not exists operations_running on operations (started_at, id) where status = 'running'

create index concurrently if not exists operations_ended on operations (ended_at, status) where ended_at is not null

create index concurrently if not exists operations_status on operations (status, id)

create index concurrently if not exists operations_kind on operations (kind, id)

create index concurrently if not exists operations_node on operations (node_id, id) where node_id is not null
