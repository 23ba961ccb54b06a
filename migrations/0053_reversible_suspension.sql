-- A suspension is reversible, so it keeps the permission for the own key file, which admits nobody meanwhile. Every other
-- loss of the hold ends the permission.
set role gpuaas_owner;

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

    select k.admits_own_by is not null and 'hold' = any (allocation_rights(k.admits_own_by, allocation)) into admitted
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
        admits_own_by = case when admitted or is_suspended(allocation)
            or exists (select from users u where u.id = k.admits_own_by and u.suspended_at is not null)
            then k.admits_own_by end,
        own_keys = case when admitted then k.own_keys else '{}' end,
        own_keys_at = case when admitted then k.own_keys_at end, generation = generation + 1
    where k.allocation_id = allocation
        and (k.body, k.admits_own, k.refused_own) is distinct from (rendered, admitted, refused);
end $$;

-- Whoever may read an entry may read who acted, also after that person has left the tenant. Operators stay unnamed.
create function name_of_person(person text) returns text
    language sql stable security definer set search_path = public
    as $$ select u.email from users u where u.id = person and u.platform_role is null $$;
revoke execute on function name_of_person(text) from public;
grant execute on function name_of_person(text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
