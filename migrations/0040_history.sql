-- Every operation ends, operations know their node, and events keep their order across a restore or a failover.
set role gpuaas_owner;

-- A row names the operation that works on it. When the row takes another operation, or goes away, the former one has
-- nothing left to work on: it ends here, so that no caller can forget it.
create function end_former_operation() returns trigger
    language plpgsql volatile security definer set search_path = public as $$
declare later text;
begin
    if tg_op = 'UPDATE' then
        select kind into later from operations where id = new.operation_id;
    end if;
    update operations set status = 'failed', ended_at = clock_timestamp(), last_progress_at = clock_timestamp(),
        reason = coalesce('superseded by ' || replace(later, '_', ' '), 'its subject was removed')
    where id = old.operation_id and status = 'running';
    return null;
end $$;
revoke execute on function end_former_operation() from public;

do $$
declare name text;
begin
    foreach name in array array['allocations', 'storage_attachments', 'volumes', 'volume_snapshots',
        'allocation_runtimes', 'node_bundles', 'session_ends'] loop
        execute format('create trigger one_operation after update of operation_id on %I for each row
            when (old.operation_id is distinct from new.operation_id) execute function end_former_operation()', name);
        execute format('create trigger no_operation after delete on %I for each row
            execute function end_former_operation()', name);
    end loop;
end $$;

-- The node that an operation works on, where there is one; written with the operation.
alter table operations add column node_id text;

-- Transaction ids order events within one timeline of one cluster. The epoch orders them across clusters: it is the
-- WAL timeline, which a promotion raises, plus a base, which note_cluster() raises when the database finds itself in
-- another cluster. Entries from before this migration have epoch 0.
create function history_epoch() returns int language plpgsql stable as $$
begin
    return 0 + case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
        else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end;
end $$;
alter table timeline_entries add column epoch int not null default 0;
alter table timeline_entries alter column epoch set default history_epoch();
alter table task_logs add column epoch int not null default 0;
alter table task_logs alter column epoch set default history_epoch();

-- Called at start and by a worker. Returns whether the database has moved to another cluster since the last call.
create function note_cluster() returns boolean
    language plpgsql volatile security definer set search_path = public as $$
declare
    here text := (select system_identifier::text from pg_control_system());
    known text;
    base int;
begin
    select value into known from platform where key = 'cluster';
    if known = here then return false; end if;
    perform pg_advisory_xact_lock(7142002);
    select value into known from platform where key = 'cluster';
    if known = here then return false; end if;
    if known is not null then
        -- Room for promotions that the dump does not know of.
        select 1000 + greatest((select max(epoch) from timeline_entries), (select max(epoch) from task_logs), 0)
        into base;
        execute format($body$
            create or replace function history_epoch() returns int language plpgsql stable as $epoch$
            begin
                return %s + case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
                    else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end;
            end $epoch$ $body$, base);
    end if;
    insert into platform (key, value) values ('cluster', here) on conflict (key) do update set value = excluded.value;
    return known is not null;
end $$;
revoke execute on function note_cluster() from public;
grant execute on function note_cluster() to gpuaas_worker;
