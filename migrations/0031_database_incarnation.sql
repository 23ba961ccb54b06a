-- A failover starts a new timeline, a restore may start in a new cluster: either can take the database back in time.
-- Deadlines that ran out meanwhile say nothing about the nodes, so they count from the moment the database resumed.
set role gpuaas_owner;

create function database_incarnation() returns text
    language sql volatile security definer set search_path = public as $$
    select case when not pg_is_in_recovery() then (select system_identifier from pg_control_system())::text
        || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end
$$;

-- Null unless the database was replaced; now while no replica has noted that it was.
create function resumed_at() returns timestamptz
    language sql volatile security definer set search_path = public as $$
    select case when noted.incarnation <> database_incarnation() then clock_timestamp()
        else noted.resumed_at::timestamptz end
    from (select (select value from platform where key = 'incarnation') as incarnation,
        (select value from platform where key = 'resumed_at') as resumed_at) as noted
$$;
revoke execute on function database_incarnation(), resumed_at() from public;
grant execute on function database_incarnation(), resumed_at() to gpuaas_api, gpuaas_operator, gpuaas_worker;
