-- Histories of this database that replicas have seen; a new row means a failover that may have lost writes, or a restore.
set role gpuaas_owner;

create table database_histories (
    system_identifier text not null,
    timeline integer not null,
    database_oid bigint not null,
    noticed_at timestamptz not null default clock_timestamp(),
    primary key (system_identifier, timeline, database_oid)
);

alter table database_histories enable row level security;
create policy worker on database_histories to gpuaas_worker using (true);
grant select, insert on database_histories to gpuaas_worker;
