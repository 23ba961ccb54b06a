-- Access that ends with its cause: the permission for an allocation's own key file ends with the hold of the person who gave
-- it, a key added by a token ends with the token, a tenant membership ends with the last project.
set role gpuaas_owner;

alter table allocation_keysets
    add column admits_own_by text,                              -- who allowed the own key file
    add column refused_own text[] not null default '{}';        -- fingerprints that the own key file never admits
update allocation_keysets k set admits_own_by = a.holder_id from allocations a where a.id = k.allocation_id and k.admits_own;

alter table ssh_keys add column token_id text;                  -- the token that added the key; the key ends with it
create index ssh_keys_token on ssh_keys (token_id) where token_id is not null;
create index ssh_keys_fingerprint on ssh_keys (fingerprint);

-- Until when a key may be used: null is without end, the past when its token was revoked, expired or removed.
create function key_ends_at(token text) returns timestamptz
    language sql stable security definer set search_path = public as $$
    select case when token is not null then coalesce((select t.expires_at from tokens t where t.id = token
        and t.revoked_at is null), '-infinity') end
$$;

create or replace function render_keyset(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare
    rendered jsonb;
    admitted boolean;
    refused text[];
begin
    perform from allocation_keysets k where k.allocation_id = allocation for update;
    with wanted as (
        select k.*, a.holder_id <> k.user_id as granted, key_ends_at(k.token_id) as ends_at
        from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id join allocations a on a.id = c.allocation_id
        where c.allocation_id = allocation and 'hold' = any (allocation_rights(k.user_id, allocation))
        union all
        select k.*, true, least(g.expires_at, key_ends_at(k.token_id))
        from access_grants g join ssh_keys k on k.id = g.ssh_key_id
        where g.allocation_id = allocation and g.status = 'active' and works_in(k.user_id, g.project_id)
    ), once as (
        select distinct on (w.blob) w.* from wanted w where coalesce(w.ends_at, 'infinity') > '-infinity'
        order by w.blob, w.granted, w.ends_at desc nulls first, w.id
    )
    select coalesce(jsonb_agg(jsonb_build_object('type', type, 'blob', blob, 'fingerprint', fingerprint,
        'user_id', user_id, 'granted', granted, 'ends_at', ends_at) order by granted, id), '[]')
    into rendered from once;

    select k.admits_own and 'hold' = any (allocation_rights(k.admits_own_by, allocation)) into admitted
    from allocation_keysets k where k.allocation_id = allocation;
    -- A key that belongs to people none of whom may enter: those who were seen in the file, and those who had a grant.
    select coalesce(array_agg(found.fingerprint order by found.fingerprint), '{}') into refused from (
        select s.fingerprint from ssh_keys s
        where admitted and (
            s.fingerprint in (select unnest(k.own_keys) from allocation_keysets k where k.allocation_id = allocation)
            or s.user_id in (select g.user_id from access_grants g where g.allocation_id = allocation))
        group by s.fingerprint
        having not bool_or(exists (select from ssh_keys o where o.fingerprint = s.fingerprint
            and 'enter' = any (allocation_rights(o.user_id, allocation))))
    ) found;

    update allocation_keysets k set body = rendered, admits_own = admitted, refused_own = refused,
        admits_own_by = case when admitted then k.admits_own_by end,
        own_keys = case when admitted then k.own_keys else '{}' end,
        own_keys_at = case when admitted then k.own_keys_at end, generation = generation + 1
    where k.allocation_id = allocation
        and (k.body, k.admits_own, k.refused_own) is distinct from (rendered, admitted, refused);
end $$;

-- Renders every live allocation that a person holds, has a key on or was granted, and returns their ids. For whatever
-- changes what the person may do: a role, a membership, a suspension. `project` null: in all projects.
create function render_keysets_of(person text, project text) returns setof text
    language plpgsql volatile security definer set search_path = public as $$
declare found text;
begin
    for found in
        select a.id from allocations a
        where a.status not in ('released', 'failed') and (project is null or a.project_id = project) and (
            a.holder_id = person
            or exists (select from access_grants g where g.allocation_id = a.id and g.user_id = person)
            or exists (select from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id
                where c.allocation_id = a.id and k.user_id = person)
            or exists (select from allocation_keysets s where s.allocation_id = a.id and s.admits_own_by = person))
        order by a.id
    loop
        perform render_keyset(found);
        return next found;
    end loop;
end $$;

-- The same for every allocation whose own key file holds a key that somebody just registered.
create index allocation_keysets_own on allocation_keysets (allocation_id) where admits_own;
create function render_keysets_with(fingerprint text) returns setof text
    language plpgsql volatile security definer set search_path = public as $$
declare found text;
begin
    for found in
        select k.allocation_id from allocation_keysets k where k.admits_own and fingerprint = any (k.own_keys) order by 1
    loop
        perform render_keyset(found);
        return next found;
    end loop;
end $$;

-- A person who is in no project of a tenant, and does not lead it, is no member of it. Behind the caller's fence.
create function leave_tenant(person text, tenant text) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
begin
    delete from tenant_members t where t.tenant_id = tenant and t.user_id = person and t.role not in ('owner', 'admin')
        and tenant = any (fence_tenants())
        and not exists (select from project_members m where m.tenant_id = tenant and m.user_id = person);
    return found;
end $$;
-- Memberships that were left behind before.
delete from tenant_members t where t.role not in ('owner', 'admin')
    and not exists (select from project_members m where m.tenant_id = t.tenant_id and m.user_id = t.user_id)
    and exists (select from audit a where a.tenant_id = t.tenant_id and a.action in ('member.leave', 'member.remove')
        and a.facts ->> 'user' = t.user_id);

revoke execute on function key_ends_at(text) from public;
revoke execute on function render_keysets_of(text, text) from public;
revoke execute on function render_keysets_with(text) from public;
revoke execute on function leave_tenant(text, text) from public;
grant execute on function key_ends_at(text) to gpuaas_api, gpuaas_worker;
grant execute on function render_keysets_of(text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant execute on function render_keysets_with(text) to gpuaas_api;
grant execute on function leave_tenant(text, text) to gpuaas_api;
