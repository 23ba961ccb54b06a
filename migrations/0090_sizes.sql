-- A size states its root disk and what runs as pid 1. Environments that exist have what engines gave everybody: 20 GiB, init plain.
set role gpuaas_owner;

alter table sku_sizes
    add column disk_gib int not null default 20 check (disk_gib > 0),
    add column init text not null default 'plain' check (init in ('plain', 'systemd'));
alter table allocations
    add column disk_gib int not null default 20 check (disk_gib > 0),
    add column init text not null default 'plain' check (init in ('plain', 'systemd'));
alter table resizes
    add column disk_gib int not null default 20 check (disk_gib > 0),
    add column init text not null default 'plain' check (init in ('plain', 'systemd'));

-- What a node has, for placement: read from the facts that its agent reported last.
alter table nodes
    add column vcpus int generated always as (least(greatest((facts ->> 'vcpus')::numeric, 0), 1000000)::int) stored,
    add column memory_mib int generated always as (
        least(greatest((facts ->> 'memory_mib')::numeric, 0), 1000000000)::int) stored,
    add column has_systemd boolean generated always as (
        coalesce((facts -> 'capabilities' ->> 'systemd')::boolean, false)) stored;

-- As before, with the root disk and the init that the record names.
create or replace function adopt_environment(unknown text, operation text, other_holder text, other_name text, actor text,
    at timestamptz, correlation text) returns text
    language plpgsql volatile security definer set search_path = public as $$
declare
    u unknown_environments;
    node nodes;
    record jsonb;
    holder text;
    called text;
    slot_ids text[];
begin
    if not fence_is_operator() then return 'Only operators adopt environments.'; end if;
    select n.* into node from nodes n where n.id = (select node_id from unknown_environments where id = unknown) for update;
    select e.* into u from unknown_environments e where e.id = unknown for update;
    record := u.environment -> 'ownership';
    holder := coalesce(other_holder, record ->> 'holder_id');
    called := coalesce(other_name, record ->> 'name');
    if exists (select from allocations where id = u.environment_id) then
        return 'The database knows this allocation meanwhile; nothing is to be adopted.';
    elsif u.gone_at is not null then
        return 'The node no longer reports this environment.';
    elsif u.removal_requested_at is not null then
        return 'Its removal was requested.';
    elsif record is null or jsonb_typeof(record) <> 'object' then
        return 'It carries no ownership record, because an older version made it. It can only be removed.';
    elsif u.environment ->> 'state' = 'broken' or jsonb_typeof(u.environment -> 'devices') <> 'array' then
        return 'It is broken. It can only be removed.';
    elsif not exists (select from projects p where p.id = record ->> 'project_id' and p.tenant_id = record ->> 'tenant_id') then
        return format('The database has no project %s in tenant %s.', record ->> 'project_id', record ->> 'tenant_id');
    elsif not works_in(holder, record ->> 'project_id') then
        return format('%s does not work in the project. Name a holder who does.', holder);
    elsif not exists (select from prices p join skus k on k.key = p.sku_key where p.id = record ->> 'price_id'
            and k.sku = record ->> 'sku' and p.currency = record ->> 'currency') then
        return format('The database has no price %s of SKU %s.', record ->> 'price_id', record ->> 'sku');
    elsif exists (select from allocations a where a.project_id = record ->> 'project_id' and a.name = called
            and a.status not in ('released', 'failed')) then
        return format('The project has a live allocation named %s. Give another name.', called);
    end if;
    select array_agg(s.id order by s.id) into slot_ids from slots s
    where s.node_id = u.node_id and s.gpu_uuid in (select jsonb_array_elements_text(u.environment -> 'devices'));
    if coalesce(cardinality(slot_ids), 0) <> jsonb_array_length(u.environment -> 'devices')
        or jsonb_array_length(u.environment -> 'devices') = 0 then
        return 'Not every device it uses is a slot of its node.';
    elsif exists (select from claims c where c.released_at is null and c.node_id = u.node_id
            and (c.slot_id = any (slot_ids) or c.kind = 'node_exclusive')) then
        return 'Another allocation has a claim on a device it uses. Wait for its cleanup, or release it.';
    elsif exists (select from allocations a where a.node_id = u.node_id and a.cleanup_proven_at is null
            and a.port = (u.environment ->> 'port')::int) then
        return 'Another allocation has its port.';
    end if;
    insert into allocations (id, tenant_id, project_id, name, sku, shape, gpu_count, size, vcpus, memory_mib, simulated,
        node_id, region, price_id, price_minor_per_hour, currency, requested_by, holder_id, status, status_since,
        status_reason, operation_id, boot, observed_boot, username, ssh_host, port, host_key, isolation, created_at,
        active_at, last_progress_at, disk_gib, init)
    values (u.environment_id, record ->> 'tenant_id', record ->> 'project_id', called, record ->> 'sku', record ->> 'shape',
        (record ->> 'gpu_count')::int, record ->> 'size', (record ->> 'vcpus')::int, (record ->> 'memory_mib')::int,
        (record ->> 'simulated')::boolean, u.node_id, node.region, record ->> 'price_id',
        (record ->> 'price_minor_per_hour')::bigint, record ->> 'currency',
        coalesce((select id from users where id = record ->> 'requested_by'), holder), holder, 'active', at,
        'adopted from its node', operation, (u.environment ->> 'boot')::int, (u.environment ->> 'boot')::int,
        record ->> 'username', node.ssh_host, (u.environment ->> 'port')::int, u.environment ->> 'host_key',
        nullif(u.environment -> 'isolation', 'null'), (record ->> 'created_at')::timestamptz,
        (record ->> 'created_at')::timestamptz, at, coalesce((record ->> 'disk_gib')::int, 20),
        coalesce(record ->> 'init', 'plain'));
    insert into claims (allocation_id, tenant_id, node_id, slot_id, kind, claimed_at)
    select u.environment_id, record ->> 'tenant_id', u.node_id, slot_id, 'slot', at from unnest(slot_ids) as slot_id;
    if record ->> 'shape' = 'baremetal' then
        insert into claims (allocation_id, tenant_id, node_id, kind, claimed_at)
        values (u.environment_id, record ->> 'tenant_id', u.node_id, 'node_exclusive', at);
    end if;
    insert into operations (id, tenant_id, project_id, kind, subject_kind, subject_id, status, requested_by, started_at,
        ended_at, last_progress_at, correlation_id)
    values (operation, record ->> 'tenant_id', record ->> 'project_id', 'adopt', 'allocation', u.environment_id, 'succeeded',
        actor, at, at, at, correlation);
    -- The holder's keys that admitted, and no others: shared access is not restored. The set is newer than the node's.
    insert into allocation_keys (allocation_id, tenant_id, ssh_key_id)
    select u.environment_id, record ->> 'tenant_id', k.id from ssh_keys k where k.user_id = holder
        and k.fingerprint in (select jsonb_array_elements_text(coalesce(u.environment -> 'admitted', '[]')));
    insert into allocation_keysets (allocation_id, tenant_id, generation, body)
    values (u.environment_id, record ->> 'tenant_id', (u.environment ->> 'key_generation')::int + 1, '[]');
    perform render_keyset(u.environment_id);
    delete from device_holds where node_id = u.node_id and environment_id = u.environment_id;
    update nodes set unknown_environments = array_remove(unknown_environments, u.environment_id) where id = u.node_id;
    update unknown_environments set adopted_at = at, adopted_by = actor where id = unknown;
    return null;
end $$;
