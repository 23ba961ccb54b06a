-- What nodes measure of environments. History is two rings of fixed length per allocation, ten seconds for an hour and a minute for
-- a day: a new sample takes the place of the oldest, so rows are bounded by their key and nothing has to be deleted. The slot stands
-- first in the key, so that a roll-up of one minute reads six ranges, and a chart of one allocation as many keys as it has points.
set role gpuaas_owner;

create table samples (
    slot int not null check (slot between 0 and 359),
    allocation_id text not null,
    tenant_id text not null,
    at timestamptz not null,
    boot int not null,
    numbers jsonb not null, -- metric, or metric:device → value
    primary key (slot, allocation_id)
) with (fillfactor = 80);

create table sample_minutes (
    slot int not null check (slot between 0 and 1439),
    allocation_id text not null,
    tenant_id text not null,
    at timestamptz not null,
    boot int not null,
    numbers jsonb not null, -- metric, or metric:device → [last, mean, low, high]
    primary key (slot, allocation_id)
) with (fillfactor = 80);

-- The newest sample whole, with units, sources and reasons, and when each of its signals last showed work.
create table newest_samples (
    allocation_id text primary key references allocations,
    tenant_id text not null references tenants,
    node_id text not null,
    boot int not null,
    at timestamptz not null,
    received_at timestamptz not null default clock_timestamp(),
    readings jsonb not null,
    cpu float8,
    cpu_active_at timestamptz,
    gpu_active_at timestamptz,
    ssh_active_at timestamptz
) with (fillfactor = 80);

-- Signs of use that overlays observe themselves: terminals, workloads.
create table activity (
    allocation_id text not null references allocations,
    tenant_id text not null references tenants,
    kind text not null,
    last_at timestamptz not null,
    primary key (allocation_id, kind)
);

-- Why an allocation is not well, by whoever observed it; gone again when it is.
create table health_findings (
    allocation_id text not null references allocations,
    tenant_id text not null references tenants,
    source text not null,
    code text not null,
    words text not null,
    next_step text not null,
    since timestamptz not null,
    primary key (allocation_id, source, code)
);

-- A tail of the log is followed like the timeline: by transaction, so that no line of a slower writer is lost.
alter table task_logs add column id bigint generated always as identity;
alter table task_logs add column xid xid8 not null default pg_current_xact_id();
alter table task_logs add column allocation_id text;
update task_logs l set allocation_id = o.subject_id from operations o
    where o.id = l.operation_id and o.subject_kind = 'allocation';
create index task_logs_allocation on task_logs (allocation_id, at, seq);
create index task_logs_followed on task_logs (operation_id, xid, id);

do $$
declare name text;
begin
    foreach name in array array['samples', 'sample_minutes', 'newest_samples', 'activity', 'health_findings'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy tenant on %I to gpuaas_api using (tenant_id = any (fence_tenants()))', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select on %I to gpuaas_api, gpuaas_operator', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
    end loop;
end $$;
grant insert, update on activity to gpuaas_api; -- whoever opens a terminal or starts a workload shows use
