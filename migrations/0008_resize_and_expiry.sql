-- A machine changes its size: what it will have. Old and new claims are held together until it has.
set role gpuaas_owner;

create table resizes (
    allocation_id text primary key references allocations,
    tenant_id text not null references tenants,
    gpu_count int not null,
    size text not null,
    vcpus int not null,
    memory_mib int not null,
    price_id text not null references prices,
    price_minor_per_hour bigint not null,
    slot_ids text[] not null
);
alter table resizes enable row level security;
create policy tenant on resizes to gpuaas_api using (tenant_id = any (fence_tenants()));
create policy operator on resizes for select to gpuaas_operator using (fence_is_operator());
create policy worker on resizes to gpuaas_worker using (true);
grant select, insert, update on resizes to gpuaas_api;
grant select on resizes to gpuaas_operator;
grant select, insert, update, delete on resizes to gpuaas_worker;

-- When a machine ends by itself, and that its people were told.
alter table allocations
    add column expires_at timestamptz,
    add column expiry_warned_at timestamptz,
    add column idle_minutes int check (idle_minutes > 0),
    add column idle_warned_at timestamptz;
create index allocations_limited on allocations (id)
    where (expires_at is not null or idle_minutes is not null) and status not in ('released', 'failed');
