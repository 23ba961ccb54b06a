-- Quotas: limits set by operators, and the usage they are compared with. Usage is counted by triggers that run when a
-- transaction commits, so a counter row is locked only for the commit itself (docs/design/quotas.md).
set role gpuaas_owner;

create table quota_limits (
    scope_id text not null, -- a tenant, a project or a person; 'platform' for the defaults
    scope text not null check (scope in ('platform', 'tenant', 'project', 'user')),
    dimension text not null,
    amount bigint check (amount >= 0), -- null: no limit
    tenant_id text references tenants, -- of a tenant's or a project's limit
    set_by text not null,
    set_at timestamptz not null,
    reason text not null default '',
    primary key (scope_id, dimension),
    check ((scope = 'platform') = (scope_id = 'platform')),
    check ((scope in ('tenant', 'project')) = (tenant_id is not null)),
    check (case dimension
        when 'projects' then scope in ('platform', 'tenant')
        when 'tokens' then scope in ('platform', 'user')
        when 'ssh_keys' then scope in ('platform', 'user')
        when 'streams' then scope in ('platform', 'user')
        else dimension in ('allocations', 'gpus', 'vcpus', 'memory_mib', 'volumes', 'storage_gib', 'snapshots')
            and scope <> 'user' end)
);
insert into quota_limits (scope_id, scope, dimension, amount, set_by, set_at, reason)
select 'platform', 'platform', dimension, amount, 'system', clock_timestamp(), 'shipped default'
from (values ('allocations', 8), ('gpus', 8), ('vcpus', 256), ('memory_mib', 2097152), ('volumes', 16),
    ('storage_gib', 1024), ('snapshots', 32), ('projects', 8), ('tokens', 32), ('ssh_keys', 32), ('streams', 64)
) as shipped (dimension, amount);
-- Tenants that were there before quotas keep what they had: an upgrade refuses nobody. Clear these rows to apply the defaults.
insert into quota_limits (scope_id, scope, dimension, amount, tenant_id, set_by, set_at, reason)
select t.id, 'tenant', dimension, null, t.id, 'system', clock_timestamp(), 'tenant existed before quotas'
from tenants t, unnest(array['allocations', 'gpus', 'vcpus', 'memory_mib', 'volumes', 'storage_gib', 'snapshots',
    'projects']) as dimension;

-- One row per tenant and per project. An allocation counts until its cleanup is proven, a volume or snapshot until it is deleted.
create table quota_usage (
    scope_id text primary key,
    tenant_id text not null references tenants,
    allocations bigint not null,
    gpus bigint not null,
    vcpus bigint not null,
    memory_mib bigint not null,
    volumes bigint not null,
    storage_gib bigint not null,
    snapshots bigint not null,
    projects bigint not null
) with (fillfactor = 25);

-- What a resize that is under way adds to the size the allocation has: both are held until it ends.
alter table resizes
    add column added_gpus bigint not null default 0,
    add column added_vcpus bigint not null default 0,
    add column added_memory_mib bigint not null default 0;
update resizes r set added_gpus = greatest(r.gpu_count - a.gpu_count, 0),
    added_vcpus = greatest(r.vcpus - a.vcpus, 0), added_memory_mib = greatest(r.memory_mib - a.memory_mib, 0)
from allocations a where a.id = r.allocation_id and a.cleanup_proven_at is null;

-- The usage as the rows themselves say it; the counters must always equal it.
create view quota_truth with (security_invoker) as
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
        select tenant_id, project_id, 0, 0, 0, 0, 0, 0, 1, 0 from volume_snapshots where status <> 'deleted'
        union all
        select tenant_id, null, 0, 0, 0, 0, 0, 0, 0, 1 from projects
    )
    select scope_id, min(tenant_id) as tenant_id, sum(allocations)::bigint as allocations, sum(gpus)::bigint as gpus,
        sum(vcpus)::bigint as vcpus, sum(memory_mib)::bigint as memory_mib, sum(volumes)::bigint as volumes,
        sum(storage_gib)::bigint as storage_gib, sum(snapshots)::bigint as snapshots, sum(projects)::bigint as projects
    from (select tenant_id as scope_id, * from held union all
        select project_id, * from held where project_id is not null) as counted
    group by scope_id;
insert into quota_usage select * from quota_truth;

-- A person's own limit or the tenant's, else the platform's default; a project has only its own. Null: no limit.
create function quota_limit(kind text, id text, wanted text) returns bigint
    language sql stable security definer set search_path = public as $$
    select amount from quota_limits
    where dimension = wanted and (scope_id = id or (kind <> 'project' and scope_id = 'platform'))
    order by scope_id = 'platform' limit 1
$$;

-- What people ask for is refused; what operators and workers have to write (adoption, the end of a resize) only counts.
create function quota_refuse(kind text, id text, dimension text, most bigint, used bigint, requested bigint)
    returns void language plpgsql as $$
begin
    if current_setting('role') = 'gpuaas_api' then
        raise exception 'quota exceeded: %', dimension using errcode = 'GQ001', detail = jsonb_build_object(
            'scope', kind, 'scope_id', id, 'dimension', dimension, 'limit', most, 'used', used,
            'requested', requested)::text;
    end if;
end $$;

-- Adds to the counters of a tenant and a project, tenant first so that nobody deadlocks, and compares them with the limits.
create function quota_count(tenant text, project text, added bigint[]) returns void language plpgsql as $$
declare place record; now_used quota_usage; broken record;
begin
    for place in select * from (values ('tenant', tenant), ('project', project)) as p (kind, id)
    loop
        continue when place.id is null;
        insert into quota_usage as u values (place.id, tenant, added[1], added[2], added[3], added[4], added[5], added[6],
            added[7], added[8])
        on conflict (scope_id) do update set allocations = u.allocations + excluded.allocations,
            gpus = u.gpus + excluded.gpus, vcpus = u.vcpus + excluded.vcpus,
            memory_mib = u.memory_mib + excluded.memory_mib, volumes = u.volumes + excluded.volumes,
            storage_gib = u.storage_gib + excluded.storage_gib, snapshots = u.snapshots + excluded.snapshots,
            projects = u.projects + excluded.projects
        returning * into now_used;
        continue when 0 >= all (added);
        select d.dimension, l.amount, d.used - d.more as used, d.more into broken
        from (values ('allocations', now_used.allocations, added[1]), ('gpus', now_used.gpus, added[2]),
            ('vcpus', now_used.vcpus, added[3]), ('memory_mib', now_used.memory_mib, added[4]),
            ('volumes', now_used.volumes, added[5]), ('storage_gib', now_used.storage_gib, added[6]),
            ('snapshots', now_used.snapshots, added[7]), ('projects', now_used.projects, added[8])
        ) as d (dimension, used, more), lateral (
            select amount from quota_limits q where q.dimension = d.dimension
                and (q.scope_id = place.id or (place.kind = 'tenant' and q.scope_id = 'platform'))
            order by q.scope_id = 'platform' limit 1
        ) as l
        where d.more > 0 and d.used > l.amount limit 1;
        if found then
            perform quota_refuse(place.kind, place.id, broken.dimension, broken.amount, broken.used, broken.more);
        end if;
    end loop;
end $$;

create function count_allocation() returns trigger language plpgsql security definer set search_path = public as $$
declare before bigint[] := array[0, 0, 0, 0]; after bigint[] := array[0, 0, 0, 0]; row allocations;
begin
    if tg_op <> 'INSERT' then
        row := old;
        if old.cleanup_proven_at is null then before := array[1, old.gpu_count, old.vcpus, old.memory_mib]; end if;
    end if;
    if tg_op <> 'DELETE' then
        row := new;
        if new.cleanup_proven_at is null then after := array[1, new.gpu_count, new.vcpus, new.memory_mib]; end if;
    end if;
    perform quota_count(row.tenant_id, row.project_id, array[after[1] - before[1], after[2] - before[2],
        after[3] - before[3], after[4] - before[4], 0, 0, 0, 0]);
    if after[1] < before[1] then -- a resize that never ended ends with its allocation
        update resizes set added_gpus = 0, added_vcpus = 0, added_memory_mib = 0
        where allocation_id = row.id and (added_gpus > 0 or added_vcpus > 0 or added_memory_mib > 0);
    end if;
    return null;
end $$;
create constraint trigger count_new after insert or delete on allocations
    deferrable initially deferred for each row execute function count_allocation();
create constraint trigger count_change after update of cleanup_proven_at, gpu_count, vcpus, memory_mib on allocations
    deferrable initially deferred for each row
    when ((old.cleanup_proven_at is null) is distinct from (new.cleanup_proven_at is null)
        or (old.gpu_count, old.vcpus, old.memory_mib) is distinct from (new.gpu_count, new.vcpus, new.memory_mib))
    execute function count_allocation();

create function weigh_resize() returns trigger language plpgsql security definer set search_path = public as $$
begin
    select greatest(new.gpu_count - a.gpu_count, 0), greatest(new.vcpus - a.vcpus, 0),
        greatest(new.memory_mib - a.memory_mib, 0)
    into new.added_gpus, new.added_vcpus, new.added_memory_mib from allocations a where a.id = new.allocation_id;
    return new;
end $$;
create trigger weigh before insert or update of gpu_count, vcpus, memory_mib on resizes
    for each row execute function weigh_resize();

create function count_resize() returns trigger language plpgsql security definer set search_path = public as $$
declare before bigint[] := array[0, 0, 0]; after bigint[] := array[0, 0, 0]; of_id text; of_project text;
begin
    if tg_op <> 'INSERT' then
        before := array[old.added_gpus, old.added_vcpus, old.added_memory_mib];
        of_id := old.allocation_id;
    end if;
    if tg_op <> 'DELETE' then
        after := array[new.added_gpus, new.added_vcpus, new.added_memory_mib];
        of_id := new.allocation_id;
    end if;
    if after <> before then
        select project_id into of_project from allocations where id = of_id;
        perform quota_count(coalesce(new.tenant_id, old.tenant_id), of_project,
            array[0, after[1] - before[1], after[2] - before[2], after[3] - before[3], 0, 0, 0, 0]);
    end if;
    return null;
end $$;
create constraint trigger count_change after insert or update or delete on resizes
    deferrable initially deferred for each row execute function count_resize();

create function count_volume() returns trigger language plpgsql security definer set search_path = public as $$
declare pieces bigint := 0; gib bigint := 0;
begin
    if tg_op <> 'INSERT' and old.status <> 'deleted' then pieces := -1; gib := -old.size_gib; end if;
    if tg_op <> 'DELETE' and new.status <> 'deleted' then pieces := pieces + 1; gib := gib + new.size_gib; end if;
    perform quota_count(coalesce(new.tenant_id, old.tenant_id), coalesce(new.project_id, old.project_id),
        array[0, 0, 0, 0, pieces, gib, 0, 0]);
    return null;
end $$;
create constraint trigger count_new after insert or delete on volumes
    deferrable initially deferred for each row execute function count_volume();
create constraint trigger count_change after update of status, size_gib on volumes
    deferrable initially deferred for each row
    when ((old.status = 'deleted') <> (new.status = 'deleted') or old.size_gib <> new.size_gib)
    execute function count_volume();

create function count_snapshot() returns trigger language plpgsql security definer set search_path = public as $$
declare pieces bigint := 0;
begin
    if tg_op <> 'INSERT' and old.status <> 'deleted' then pieces := -1; end if;
    if tg_op <> 'DELETE' and new.status <> 'deleted' then pieces := pieces + 1; end if;
    perform quota_count(coalesce(new.tenant_id, old.tenant_id), coalesce(new.project_id, old.project_id),
        array[0, 0, 0, 0, 0, 0, pieces, 0]);
    return null;
end $$;
create constraint trigger count_new after insert or delete on volume_snapshots
    deferrable initially deferred for each row execute function count_snapshot();
create constraint trigger count_change after update of status on volume_snapshots
    deferrable initially deferred for each row when ((old.status = 'deleted') <> (new.status = 'deleted'))
    execute function count_snapshot();

create function count_project() returns trigger language plpgsql security definer set search_path = public as $$
begin
    perform quota_count(coalesce(new.tenant_id, old.tenant_id), null,
        array[0, 0, 0, 0, 0, 0, 0, case when tg_op = 'INSERT' then 1 else -1 end]);
    return null;
end $$;
create constraint trigger count_new after insert or delete on projects
    deferrable initially deferred for each row execute function count_project();

-- A token also ends with time, which no trigger sees: what a person has is counted, one commit of theirs after another.
create function count_token() returns trigger language plpgsql security definer set search_path = public as $$
declare most bigint := quota_limit('user', new.user_id, 'tokens'); have bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended('quota ' || new.user_id, 0));
    select count(*) into have from tokens
    where user_id = new.user_id and revoked_at is null and expires_at > clock_timestamp();
    if have > most then perform quota_refuse('user', new.user_id, 'tokens', most, have - 1, 1); end if;
    return null;
end $$;
create constraint trigger count_new after insert on tokens
    deferrable initially deferred for each row execute function count_token();

create function count_ssh_key() returns trigger language plpgsql security definer set search_path = public as $$
declare most bigint := quota_limit('user', new.user_id, 'ssh_keys'); have bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended('quota ' || new.user_id, 0));
    select count(*) into have from ssh_keys where user_id = new.user_id;
    if have > most then perform quota_refuse('user', new.user_id, 'ssh_keys', most, have - 1, 1); end if;
    return null;
end $$;
create constraint trigger count_new after insert on ssh_keys
    deferrable initially deferred for each row execute function count_ssh_key();

do $$
declare name text;
begin
    foreach name in array array['quota_limits', 'quota_usage'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy tenant on %I for select to gpuaas_api using (tenant_id = any (fence_tenants()))', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
        execute format('grant select on %I to gpuaas_api, gpuaas_operator', name);
    end loop;
    foreach name in array array['quota_refuse(text, text, text, bigint, bigint, bigint)', 'quota_count(text, text, bigint[])',
        'count_allocation()', 'weigh_resize()', 'count_resize()', 'count_volume()', 'count_snapshot()', 'count_project()',
        'count_token()', 'count_ssh_key()', 'quota_limit(text, text, text)'] loop
        execute format('revoke execute on function %s from public', name);
    end loop;
end $$;
create policy own on quota_limits for select to gpuaas_api
    using ((scope = 'platform' and fence_user() <> '') or (scope = 'user' and scope_id = fence_user()));
grant insert, update, delete on quota_limits to gpuaas_operator;
grant execute on function quota_limit(text, text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant select on quota_truth to gpuaas_worker;

-- Operators set quotas for tenants, projects and people, so they see that these are there.
create policy operator on tenants for select to gpuaas_operator using (fence_is_operator());
create policy operator on projects for select to gpuaas_operator using (fence_is_operator());
create policy operator on tenant_members for select to gpuaas_operator using (fence_is_operator());
create policy operator on tokens for select to gpuaas_operator using (fence_is_operator());
create policy operator on ssh_keys for select to gpuaas_operator using (fence_is_operator());
grant select on tenants, projects, tenant_members to gpuaas_operator;
grant select (id, user_id, revoked_at, expires_at) on tokens to gpuaas_operator;
grant select (id, user_id) on ssh_keys to gpuaas_operator;
