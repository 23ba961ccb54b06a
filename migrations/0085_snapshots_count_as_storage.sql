-- A snapshot may be a full copy of its volume, so it uses the GiB quota as its volume did when it was taken.
set role gpuaas_owner;

alter table volume_snapshots add column size_gib int;
update volume_snapshots s set size_gib = v.size_gib from volumes v where v.id = s.volume_id;
alter table volume_snapshots alter column size_gib set not null;

create or replace view quota_truth with (security_invoker) as
    with held as (
        select tenant_id, project_id, 1 as allocations, gpu_count as gpus, vcpus, memory_mib, 0 as volumes,
            0 as storage_gib, 0 as snapshots, 0 as projects
        from allocations where cleanup_proven_at is null
        union all
        select a.tenant_id, a.project_id, 0, r.added_gpus, r.added_vcpus, r.added_memory_mib, 0, 0, 0, 0
        from resizes r join allocations a on a.id = r.allocation_id
        union all
        select tenant_id, project_id, 0, 0, 0, 0, 1, size_gib, 0, 0 from volumes where status <> 'deleted'
        union all
        select tenant_id, project_id, 0, 0, 0, 0, 0, size_gib, 1, 0 from volume_snapshots where status <> 'deleted'
        union all
        select tenant_id, null, 0, 0, 0, 0, 0, 0, 0, 1 from projects
    )
    select scope_id, min(tenant_id) as tenant_id, sum(allocations)::bigint as allocations, sum(gpus)::bigint as gpus,
        sum(vcpus)::bigint as vcpus, sum(memory_mib)::bigint as memory_mib, sum(volumes)::bigint as volumes,
        sum(storage_gib)::bigint as storage_gib, sum(snapshots)::bigint as snapshots, sum(projects)::bigint as projects
    from (select tenant_id as scope_id, * from held union all
        select project_id, * from held where project_id is not null) as counted
    group by scope_id;

lock table volume_snapshots, volumes in share row exclusive mode;
update quota_usage u set storage_gib = t.storage_gib from quota_truth t where t.scope_id = u.scope_id;

create or replace function count_snapshot() returns trigger
    language plpgsql security definer set search_path = public as $$
declare pieces bigint := 0; gib bigint := 0;
begin
    if tg_op <> 'INSERT' and old.status <> 'deleted' then pieces := -1; gib := -old.size_gib; end if;
    if tg_op <> 'DELETE' and new.status <> 'deleted' then pieces := pieces + 1; gib := gib + new.size_gib; end if;
    perform quota_count(coalesce(new.tenant_id, old.tenant_id), coalesce(new.project_id, old.project_id),
        array[0, 0, 0, 0, 0, gib, pieces, 0]);
    return null;
end $$;
