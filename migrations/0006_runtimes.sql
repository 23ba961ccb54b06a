-- Managed runtime bundles: the catalog, what is staged on which node, and what each allocation runs with.
set role gpuaas_owner;

create table managed_runtime_bundles (
    id text primary key,
    slug text not null,
    version text not null,
    product_name text not null,
    vendor text not null,
    runtime_family text not null check (runtime_family in ('cuda', 'rocm', 'cpu')),
    gpu_families text[] not null,
    driver_min text,
    driver_max text,
    support_level text not null check (support_level in ('supported', 'preview')),
    state text not null check (state in ('published', 'deprecated', 'retired')),
    state_since timestamptz not null,
    digest text not null,
    recipe jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    unique (slug, version)
);

-- Work on a node for nobody in particular has no tenant; only operators see it.
alter table operations alter column tenant_id drop not null;
alter table operations alter column project_id drop not null;
alter table task_logs alter column tenant_id drop not null;

create table node_bundles (
    id text primary key,
    node_id text not null references nodes,
    bundle_id text not null references managed_runtime_bundles,
    status text not null check (status in ('staging', 'staged', 'failed')),
    status_since timestamptz not null,
    reason text not null default '',
    operation_id text not null references operations,
    manifest text not null default '',
    health text not null default '',
    files int not null default 0,
    bytes bigint not null default 0,
    drift text[] not null default '{}',
    staged_at timestamptz,
    checked_at timestamptz,
    unique (node_id, bundle_id)
);
create index node_bundles_bundle on node_bundles (bundle_id);
create index node_bundles_unsettled on node_bundles (id) where status = 'staging';
create index node_tasks_node_lane on node_tasks (node_id, lane) where allocation_id is null;

-- Wanted on the allocation, and what was observed there at which boot. No bundle is raw compute.
create table allocation_runtimes (
    allocation_id text primary key references allocations,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    bundle_id text references managed_runtime_bundles,
    state text not null check (state in ('applying', 'applied', 'failed', 'clearing', 'cleared')),
    reason text not null default '',
    operation_id text not null references operations,
    asked_at timestamptz not null,
    wants_check boolean not null default false, -- its files are compared with their checksums before it is applied
    version int not null default 1,
    observed_bundle_id text references managed_runtime_bundles,
    previous_bundle_id text references managed_runtime_bundles,
    observed_boot int not null default 0,
    last_applied_at timestamptz,
    check (bundle_id is not null or state in ('clearing', 'cleared'))
);
create index allocation_runtimes_unsettled on allocation_runtimes (allocation_id) where state in ('applying', 'clearing');
create index allocation_runtimes_bundle on allocation_runtimes (bundle_id);

-- Of what a node was observed to be, that by which a bundle fits or does not: the rest of its facts is the operators'.
create function runtime_facts(node text) returns jsonb language sql stable security definer set search_path = public as $$
    select jsonb_build_object(
        'engine', engine,
        'gpu_families', (select coalesce(jsonb_agg(distinct gpu -> 'family'), '[]')
            from jsonb_array_elements(coalesce(facts -> 'gpus', '[]')) gpu),
        'simulated', simulated,
        'runtimes', facts #>> '{facts,runtimes,value}',
        'nvidia_driver', facts #>> '{facts,nvidia_driver,value}',
        'amd_driver', facts #>> '{facts,amd_driver,value}')
    from nodes where id = node
$$;
revoke execute on function runtime_facts(text) from public;
grant execute on function runtime_facts(text) to gpuaas_api, gpuaas_operator, gpuaas_worker;

do $$
declare name text;
begin
    foreach name in array array['managed_runtime_bundles', 'node_bundles', 'allocation_runtimes'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('grant select on %I to gpuaas_api, gpuaas_operator', name);
    end loop;
end $$;
create policy signed_in on managed_runtime_bundles for select to gpuaas_api using (fence_user() <> '');
create policy signed_in on node_bundles for select to gpuaas_api using (fence_user() <> '');
create policy tenant on allocation_runtimes to gpuaas_api using (tenant_id = any (fence_tenants()));
grant insert, update on allocation_runtimes to gpuaas_api;
grant insert, update on managed_runtime_bundles, node_bundles to gpuaas_operator;
