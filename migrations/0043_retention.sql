-- Retention: what happened is deleted only by its age, in batches, through this function. Workers cannot delete it otherwise.
set role gpuaas_owner;

create function expire_history(what text, before timestamptz, most int) returns int
    language plpgsql volatile security definer set search_path = public as $$
declare
    expired int;
    ids text[];
begin
    if before > clock_timestamp() - interval '1 day' then
        raise exception 'history younger than a day is kept' using errcode = 'check_violation';
    end if;
    case what
    when 'timeline' then -- numbered as they happen, so the oldest are the first of the primary key
        delete from timeline_entries where id in (
            select id from (select id, at from timeline_entries order by id limit most) oldest where at < before);
    when 'proofs' then
        delete from cleanup_proofs p using (
            select q.allocation_id, q.item, q.at from cleanup_proofs q join allocations a on a.id = q.allocation_id
            where q.at < before and a.cleanup_proven_at < before order by q.at limit most) oldest
        where (p.allocation_id, p.item, p.at) = (oldest.allocation_id, oldest.item, oldest.at);
    when 'operations' then -- with their log lines; one that a row still names stays
        with gone as (
            select o.id from operations o where o.ended_at < before
                and not exists (select from allocations a where a.id = o.subject_id and a.operation_id = o.id)
                and not exists (select from allocation_runtimes r
                    where r.allocation_id = o.subject_id and r.operation_id = o.id)
                and not exists (select from node_bundles b where b.node_id = o.subject_id and b.operation_id = o.id)
            order by o.ended_at limit most
        ) select array_agg(id) into ids from gone;
        delete from task_logs where operation_id = any (ids);
        delete from operations where id = any (ids);
    else
        raise exception 'no history is called %', what;
    end case;
    get diagnostics expired = row_count;
    return expired;
end $$;
revoke execute on function expire_history(text, timestamptz, int) from public;
grant execute on function expire_history(text, timestamptz, int) to gpuaas_worker;

-- Each reference would be a scan of all tasks per deleted operation, and is a trigger per queued task. A task copies
-- the operation from the row that asks for it.
alter table node_tasks drop constraint node_tasks_operation_id_fkey;
