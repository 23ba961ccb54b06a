-- The audit log is sealed: a worker adds seals over rows in commit order, each with the hash of the one before, signed with a
-- key that the database does not have. Rows are only added; repeated refusals are counted in a table of their own.
set role gpuaas_owner;

alter table audit add column epoch int not null default 0, add column xid xid8 not null default '0';
alter table audit alter column epoch set default history_epoch(), alter column xid set default pg_current_xact_id();

create table audit_seals (
    number bigint primary key,
    to_epoch int not null,
    to_xid xid8 not null,
    to_id bigint not null,
    rows int not null check (rows > 0),
    sealed_at timestamptz not null,
    prev_hash text not null,
    hash text not null,
    signature text not null,
    signer text not null
);
create table audit_repeats (
    audit_id bigint primary key,
    repeats int not null
);

alter table audit_seals enable row level security;
create policy worker on audit_seals to gpuaas_worker using (true);
create policy operator on audit_seals for select to gpuaas_operator using (fence_is_operator());
alter table audit_repeats enable row level security;
create policy worker on audit_repeats to gpuaas_worker using (true);
create policy operator on audit_repeats for select to gpuaas_operator using (fence_is_operator());
create policy tenant on audit_repeats for select to gpuaas_api
    using (exists (select from audit a where a.id = audit_id and a.tenant_id = any (fence_tenants())));
grant select, insert on audit_seals to gpuaas_worker;
grant select, insert, update on audit_repeats to gpuaas_worker;
grant select on audit_seals, audit_repeats to gpuaas_operator;
grant select on audit_repeats to gpuaas_api;
revoke update (repeats) on audit from gpuaas_worker;
