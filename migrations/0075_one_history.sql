-- A database has one history as long as nothing that it acknowledged is lost. Its name is the cluster, the timeline and
-- the database in it. One function notes a new history, for deadlines (resumed_at) and for the order of events.
set role gpuaas_owner;

create function database_history() returns text
    language sql volatile security definer set search_path = public as $$
    select case when not pg_is_in_recovery() then (select system_identifier from pg_control_system())::text
        || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
        || '/' || (select oid from pg_database where datname = current_database()) end
$$;

-- From the name that was noted before, so that a restore followed by this migration is noticed.
insert into platform (key, value)
select 'history', value || '/' || (select oid from pg_database where datname = current_database())
from platform where key = 'incarnation';

-- Whether this history is new, and another one was noted before. `went_back`: its name is the same, but writes are missing.
create function note_history(went_back boolean) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
declare here text := database_history(); noted text;
begin
    if here is null then return false; end if;
    perform note_cluster();
    select value into noted from platform where key = 'history' for update;
    if here = noted and not went_back then return false; end if;
    insert into platform (key, value) values ('history', here) on conflict (key) do update set value = excluded.value;
    if noted is null then return false; end if;
    insert into platform (key, value) values ('resumed_at', clock_timestamp()::text)
    on conflict (key) do update set value = excluded.value;
    return true;
end $$;

-- Null unless the database has another history than before; now while no replica has noted that.
create or replace function resumed_at() returns timestamptz
    language sql volatile security definer set search_path = public as $$
    select case when noted.history <> database_history() then clock_timestamp() else noted.resumed_at::timestamptz end
    from (select (select value from platform where key = 'history') as history,
        (select value from platform where key = 'resumed_at') as resumed_at) as noted
$$;
revoke execute on function database_history(), note_history(boolean) from public;
grant execute on function database_history() to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant execute on function note_history(boolean) to gpuaas_worker;

drop function database_incarnation();
drop table database_histories;
delete from platform where key = 'incarnation';
