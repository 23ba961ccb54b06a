-- Operators adopt an unknown volume by the ownership record beside its data.
set role gpuaas_owner;

-- Makes the volume that the record names; returns why not, or null. Nothing is taken from the request but the name.
-- Usage counts against quotas as always, and no quota refuses an adoption: the data is there already.
create function adopt_volume(unknown text, operation text, other_name text, actor text, at timestamptz, correlation text)
    returns text language plpgsql volatile security definer set search_path = public as $$
declare
    u unknown_volumes;
    record jsonb;
    called text;
begin
    if not fence_is_operator() then return 'Only operators adopt volumes.'; end if;
    select v.* into u from unknown_volumes v where v.id = unknown for update;
    record := u.seen -> 'ownership';
    called := coalesce(other_name, record ->> 'name');
    if exists (select from volumes where id = u.volume_id) then
        return 'The database knows a volume of this id meanwhile; nothing is to be adopted.';
    elsif u.gone_at is not null then
        return 'No node reports this volume any more.';
    elsif u.removal_requested_at is not null then
        return 'Its removal was requested.';
    elsif record is null or jsonb_typeof(record) <> 'object' then
        return 'It has no ownership record that can be read. It can only be removed.';
    elsif record ->> 'backend' <> u.backend then
        return format('Its record names %s storage, and it is on %s storage.', record ->> 'backend', u.backend);
    elsif not exists (select from projects p where p.id = record ->> 'project_id' and p.tenant_id = record ->> 'tenant_id') then
        return format('The database has no project %s in tenant %s.', record ->> 'project_id', record ->> 'tenant_id');
    elsif exists (select from volumes v where v.project_id = record ->> 'project_id' and v.name = called
            and v.status <> 'deleted') then
        return format('The project has a volume named %s. Give another name.', called);
    end if;
    insert into volumes (id, tenant_id, project_id, name, size_gib, backend, write_policy, durability, node_id, status,
        status_since, status_reason, operation_id, protected, quota, snapshot_id, created_at, created_by, record_stale_since)
    values (u.volume_id, record ->> 'tenant_id', record ->> 'project_id', called, (record ->> 'size_gib')::int, u.backend,
        record ->> 'write_policy', case when u.place = 'shared' then 'shared' else 'node_bound' end,
        nullif(u.place, 'shared'), 'available', at, 'adopted from its node', operation, (record ->> 'protected')::boolean,
        u.seen ->> 'quota', (select id from volume_snapshots where id = record ->> 'snapshot_id'),
        (record ->> 'created_at')::timestamptz,
        coalesce((select id from users where id = record ->> 'created_by'), actor), at);
    insert into operations (id, tenant_id, project_id, kind, subject_kind, subject_id, status, requested_by, started_at,
        ended_at, last_progress_at, correlation_id)
    values (operation, record ->> 'tenant_id', record ->> 'project_id', 'volume.adopt', 'volume', u.volume_id, 'succeeded',
        actor, at, at, at, correlation);
    update unknown_volumes set adopted_at = at, adopted_by = actor where id = unknown;
    return null;
end $$;
revoke execute on function adopt_volume(text, text, text, text, timestamptz, text) from public;
grant execute on function adopt_volume(text, text, text, text, timestamptz, text) to gpuaas_operator;

-- Attachments of an adopted environment, from the mounts that its node reported of it: one for each volume of the same
-- project that is available and never had an attachment there. `new_ids` are used in the order of the mounts. A second
-- writer of a volume that has one is not restored.
create function restore_attachments(allocation text, new_ids text[], operation text, actor text, at timestamptz)
    returns table (attachment_id text, volume_id text, mount_path text)
    language plpgsql volatile security definer set search_path = public as $$
#variable_conflict use_column
begin
    if not fence_is_operator() then return; end if;
    return query
    with restored as (
        insert into storage_attachments (id, tenant_id, project_id, allocation_id, volume_id, write_policy, mount_path,
            access_mode, operation_id, created_at, created_by, status, status_since, status_reason, observed_boot,
            observed_at)
        select new_ids[m.number], a.tenant_id, a.project_id, a.id, v.id, v.write_policy, m.mount ->> 'mount_path',
            case when (m.mount ->> 'read_only')::boolean then 'read_only' else 'read_write' end, operation, at,
            actor, 'attached', at, 'adopted from its node', (u.environment ->> 'boot')::int, at
        from allocations a
            join unknown_environments u on u.node_id = a.node_id and u.environment_id = a.id and u.adopted_at is not null,
            jsonb_array_elements(u.environment -> 'mounts') with ordinality as m (mount, number)
            join volumes v on v.id = m.mount ->> 'volume_id'
        where a.id = allocation and a.status not in ('releasing', 'release_failed', 'released', 'failed')
            and v.project_id = a.project_id and v.status = 'available' and (v.node_id is null or v.node_id = a.node_id)
            and not exists (select from storage_attachments t where t.allocation_id = a.id and t.volume_id = v.id)
            and m.mount ->> 'mount_path' ~ '^/' and m.mount ->> 'mount_path' !~ '//|/\.|/$'
        on conflict do nothing returning *
    ), held as (
        insert into holds select allocation_id, 'volume', id from restored on conflict do nothing
    )
    select id, volume_id, mount_path from restored;
end $$;
revoke execute on function restore_attachments(text, text[], text, text, timestamptz) from public;
grant execute on function restore_attachments(text, text[], text, text, timestamptz) to gpuaas_operator;

-- An unknown environment that has a volume mounted for writing is its writer too, until it is adopted or removed.
create function refuse_second_writer() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if exists (select from unknown_environments u where u.gone_at is null and u.adopted_at is null and u.removed_at is null
            and u.environment -> 'mounts' @> jsonb_build_array(jsonb_build_object('volume_id', new.volume_id,
                'read_only', false))) then
        raise exception 'an unknown environment writes to the volume'
            using errcode = 'unique_violation', constraint = 'storage_attachments_one_writer';
    end if;
    return new;
end $$;
create trigger unknown_writer before insert on storage_attachments for each row
    when (new.access_mode = 'read_write' and new.write_policy = 'single_writer' and new.status = 'attaching')
    execute function refuse_second_writer();
