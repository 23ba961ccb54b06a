-- One rule decides what a person may do in a project and with an allocation. Key sets, terminals and HTTP routes call these
-- functions; no other statement compares roles. They look past the row policies, because key sets are rendered for people
-- whom the caller cannot see.
set role gpuaas_owner;

-- The highest of the project role and the tenant roles that lead; null when there is none.
create function effective_role(person text, project text) returns text
    language sql stable security definer set search_path = public as $$
    select found.role from (
        select m.role from project_members m where m.project_id = project and m.user_id = person
        union all
        select t.role from projects p join tenant_members t on t.tenant_id = p.tenant_id
        where p.id = project and t.user_id = person and t.role in ('owner', 'admin')
    ) found order by array_position(array['owner', 'admin', 'member', 'viewer'], found.role) limit 1
$$;

-- Whether a person works in a project: any role above viewer.
create function works_in(person text, project text) returns boolean
    language sql stable security definer set search_path = public
    as $$ select coalesce(effective_role(person, project) in ('owner', 'admin', 'member'), false) $$;

-- The rights of a person on an allocation:
--   read     see it
--   work     ask for access, use a grant
--   control  restart, resize, limit, release, attach, apply, share, hand over
--   hold     what only the holder may do: choose keys, admit the allocation's own key file. Project admins have it while
--            the holder does not work in the project.
--   enter    log in by SSH, open a terminal
create function allocation_rights(person text, allocation text) returns text[]
    language sql stable security definer set search_path = public as $$
    select array_remove(array[
        case when facts.role is not null then 'read' end,
        case when facts.works then 'work' end,
        case when facts.holds or facts.leads then 'control' end,
        case when facts.holds or (facts.leads and facts.vacant) then 'hold' end,
        case when facts.holds or (facts.leads and facts.vacant) or (facts.works and exists (
            select from access_grants g where g.allocation_id = allocation and g.user_id = person
                and g.status = 'active' and coalesce(g.expires_at, 'infinity') > clock_timestamp())) then 'enter' end
    ], null)
    from (
        select found.role, found.role in ('owner', 'admin', 'member') as works, found.role in ('owner', 'admin') as leads,
            found.holder_id = person and found.role in ('owner', 'admin', 'member') as holds,
            not works_in(found.holder_id, found.project_id) as vacant
        from (select a.holder_id, a.project_id, effective_role(person, a.project_id) as role
            from allocations a where a.id = allocation) found
    ) facts
$$;

-- The complete set of keys that may enter, written anew. Renderings of one allocation are serialized, and a later one sees
-- what an earlier one committed. Every key except the current holder's is `granted`: it ends with the node's lease.
create or replace function render_keyset(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare rendered jsonb;
begin
    perform from allocation_keysets k where k.allocation_id = allocation for update;
    with wanted as (
        select k.*, a.holder_id <> k.user_id as granted, null::timestamptz as ends_at
        from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id join allocations a on a.id = c.allocation_id
        where c.allocation_id = allocation and 'hold' = any (allocation_rights(k.user_id, allocation))
        union all
        select k.*, true, g.expires_at from access_grants g join ssh_keys k on k.id = g.ssh_key_id
        where g.allocation_id = allocation and g.status = 'active' and works_in(k.user_id, g.project_id)
    ), once as (
        select distinct on (w.blob) w.* from wanted w
        order by w.blob, w.granted, w.ends_at desc nulls first, w.id
    )
    select coalesce(jsonb_agg(jsonb_build_object('type', type, 'blob', blob, 'fingerprint', fingerprint,
        'user_id', user_id, 'granted', granted, 'ends_at', ends_at) order by granted, id), '[]')
    into rendered from once;
    update allocation_keysets k set body = rendered, generation = generation + 1
    where k.allocation_id = allocation and k.body <> rendered;
end $$;

-- Why a person must not be in a terminal of an allocation, in words for them; null when they may.
create or replace function terminal_objection(allocation text, at_boot int, person text, credential text) returns text
    language sql stable security definer set search_path = public as $$
    select case
        when a.status = 'restarting' or a.boot <> at_boot then 'the machine restarted'
        when a.status in ('releasing', 'release_failed', 'released') then 'the allocation was released'
        when a.status <> 'active' then 'the machine is ' || replace(a.status, '_', ' ')
        when not exists (select from sessions s where s.id = credential and s.revoked_at is null
                and s.expires_at > clock_timestamp())
            and not exists (select from tokens k where k.id = credential and k.revoked_at is null
                and k.expires_at > clock_timestamp()) then 'you signed out'
        when 'enter' = any (r.rights) then null
        when not 'read' = any (r.rights) then 'you are no longer a member of the project'
        when not 'work' = any (r.rights) then 'a viewer of the project has no access'
        else 'your access was withdrawn'
    end
    from allocations a, lateral (select allocation_rights(person, a.id) as rights) r where a.id = allocation
$$;

revoke execute on function effective_role(text, text) from public;
revoke execute on function works_in(text, text) from public;
revoke execute on function allocation_rights(text, text) from public;
grant execute on function effective_role(text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant execute on function works_in(text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant execute on function allocation_rights(text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
