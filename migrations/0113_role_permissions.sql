-- The role rule in SQL: `role_permissions` is a copy of `domain/identity/permissions.py`, and a test compares the two. Policies,
-- key sets, terminals and invitations ask for a permission; no function names a role.
set role gpuaas_owner;

-- The actor of a login by a key that the platform does not know.
insert into principals (id, kind, name, created_at) values ('unknown', 'system', 'unknown', clock_timestamp())
on conflict do nothing;

-- The row policies follow the principal; the old name stays for functions and servers of the previous version.
alter function fence_user() rename to fence_principal;
create function fence_user() returns text language sql stable as $$ select fence_principal() $$;

-- A role in a project, in its tenant or on the platform; on an allocation, what a person is to it.
create table role_permissions (
    place text not null check (place in ('project', 'tenant', 'platform', 'allocation')),
    role text not null,
    permission text not null,
    primary key (place, role, permission)
);
insert into role_permissions select place, role, unnest(permissions) from (values
    ('allocation', 'acting_holder', array['keys:choose', 'terminals:open']),
    ('allocation', 'grantee', array['terminals:open']),
    ('allocation', 'holder', array['access:manage', 'allocations:operate', 'allocations:release', 'keys:choose',
        'recordings:read', 'runtimes:apply', 'terminals:open']),
    ('platform', 'admin', array['fleet:operate', 'fleet:read', 'operators:manage']),
    ('platform', 'ops', array['fleet:operate', 'fleet:read']),
    ('project', 'admin', array['access:ask', 'access:manage', 'allocations:create', 'allocations:operate',
        'allocations:read', 'allocations:release', 'audit:read', 'invitations:read',
        'members:manage', 'members:read', 'projects:manage', 'projects:read',
        'recordings:read', 'runtimes:apply', 'volumes:read', 'volumes:write']),
    ('project', 'member', array['access:ask', 'allocations:create', 'allocations:read', 'members:read',
        'projects:read', 'volumes:read', 'volumes:write']),
    ('project', 'owner', array['access:ask', 'access:manage', 'allocations:create', 'allocations:operate',
        'allocations:read', 'allocations:release', 'audit:read', 'invitations:read',
        'members:manage', 'members:read', 'owners:manage', 'projects:manage',
        'projects:read', 'recordings:read', 'runtimes:apply', 'volumes:read',
        'volumes:write']),
    ('project', 'viewer', array['allocations:read', 'members:read', 'projects:read', 'volumes:read']),
    ('tenant', 'admin', array['access:ask', 'access:manage', 'allocations:create', 'allocations:operate',
        'allocations:read', 'allocations:release', 'audit:read', 'invitations:read',
        'members:manage', 'members:read', 'projects:create', 'projects:manage',
        'projects:read', 'recordings:read', 'runtimes:apply', 'volumes:read',
        'volumes:write']),
    ('tenant', 'owner', array['access:ask', 'access:manage', 'allocations:create', 'allocations:operate',
        'allocations:read', 'allocations:release', 'audit:read', 'invitations:read',
        'members:manage', 'members:read', 'owners:manage', 'projects:create',
        'projects:manage', 'projects:read', 'recordings:read', 'runtimes:apply',
        'volumes:read', 'volumes:write'])
) as rule (place, role, permissions);
alter table role_permissions enable row level security;
create policy reader on role_permissions for select to gpuaas_api using (fence_principal() <> '');
create policy operator on role_permissions for select to gpuaas_operator using (fence_is_operator());
create policy worker on role_permissions for select to gpuaas_worker using (true);
grant select on role_permissions to gpuaas_api, gpuaas_operator, gpuaas_worker;

-- What the roles of a principal allow in a project; nothing while the principal, the project or the tenant is suspended.
create function project_permissions(principal text, project text) returns text[]
    language sql stable security definer set search_path = public as $$
    select coalesce(array_agg(distinct r.permission), '{}')
    from projects p join tenants t on t.id = p.tenant_id join principals c on c.id = principal, lateral (
        select 'project' as place, m.role from project_members m where m.project_id = p.id and m.user_id = c.id
        union all
        select 'tenant', m.role from tenant_members m where m.tenant_id = t.id and m.user_id = c.id
    ) held join role_permissions r on r.place = held.place and r.role = held.role
    where p.id = project and p.suspended_at is null and t.suspended_at is null and c.suspended_at is null
$$;
create function may_in_project(principal text, wanted text, project text) returns boolean
    language sql stable security definer set search_path = public
    as $$ select wanted = any (project_permissions(principal, project)) $$;

-- Whether a principal works in a project: may ask for access, and so hold allocations and be granted access.
create or replace function works_in(person text, project text) returns boolean
    language sql stable security definer set search_path = public
    as $$ select 'access:ask' = any (project_permissions(person, project)) $$;

-- What a principal may do with an allocation: by role, as its holder, in place of a holder who no longer works in the
-- project, and by an active grant.
create function allocation_permissions(principal text, allocation text) returns text[]
    language sql stable security definer set search_path = public as $$
    with facts as materialized (
        select a.holder_id, a.project_id, project_permissions(principal, a.project_id) as by_role
        from allocations a where a.id = allocation
    ), relations as (
        select 'holder' as relation from facts where holder_id = principal and 'access:ask' = any (by_role)
        union all
        select 'acting_holder' from facts where 'access:manage' = any (by_role) and not works_in(holder_id, project_id)
        union all
        select 'grantee' from facts where 'access:ask' = any (by_role) and exists (
            select from access_grants g where g.allocation_id = allocation and g.user_id = principal
                and g.status = 'active' and coalesce(g.expires_at, 'infinity') > clock_timestamp())
    )
    select coalesce(array_agg(found.permission), '{}') from (
        select unnest(by_role) as permission from facts
        union
        select r.permission from relations x join role_permissions r on r.place = 'allocation' and r.role = x.relation
    ) found
$$;
create function may_on_allocation(principal text, wanted text, allocation text) returns boolean
    language sql stable security definer set search_path = public
    as $$ select wanted = any (allocation_permissions(principal, allocation)) $$;

-- For servers of the previous version.
create or replace function allocation_rights(person text, allocation text) returns text[]
    language sql stable security definer set search_path = public as $$
    select array_remove(array[
        case when 'allocations:read' = any (found.permissions) then 'read' end,
        case when 'access:ask' = any (found.permissions) then 'work' end,
        case when 'allocations:operate' = any (found.permissions) then 'control' end,
        case when 'keys:choose' = any (found.permissions) then 'hold' end,
        case when 'terminals:open' = any (found.permissions) then 'enter' end
    ], null)
    from (select allocation_permissions(person, allocation) as permissions) found
$$;
drop function effective_role(text, text);

-- As before, by suspensions of principals.
create or replace function is_suspended(allocation text) returns boolean
    language sql stable security definer set search_path = public as $$
    select t.suspended_at is not null or p.suspended_at is not null or c.suspended_at is not null
    from allocations a join tenants t on t.id = a.tenant_id join projects p on p.id = a.project_id
        join principals c on c.id = a.holder_id
    where a.id = allocation
$$;
create or replace function has_broken_glass(person text, allocation text) returns boolean
    language sql stable security definer set search_path = public as $$
    select exists (select from break_glass b join users u on u.id = b.user_id
            join role_permissions r on r.place = 'platform' and r.role = u.platform_role and r.permission = 'fleet:operate'
        where b.allocation_id = allocation and b.user_id = person and b.ended_at is null
            and b.expires_at > clock_timestamp() and u.suspended_at is null)
$$;

-- As before, by permissions.
create or replace function leave_tenant(person text, tenant text) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
begin
    delete from tenant_members t where t.tenant_id = tenant and t.user_id = person and not exists (
            select from role_permissions r where r.place = 'tenant' and r.role = t.role and r.permission = 'projects:read')
        and tenant = any (fence_tenants())
        and not exists (select from project_members m where m.tenant_id = tenant and m.user_id = person);
    return found;
end $$;
create or replace function invitation_holds(invitation invitations) returns boolean
    language sql stable security definer set search_path = public as $$
    select invitation.secret_hash is not null
        and may_in_project(invitation.invited_by, 'members:manage', invitation.project_id)
        and not exists (select from role_permissions r where r.place = 'project' and r.role = invitation.role
            and r.permission = 'owners:manage'
            and not may_in_project(invitation.invited_by, 'owners:manage', invitation.project_id))
$$;
create or replace function render_keyset(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare
    rendered jsonb;
    admitted boolean;
    allowed_by text;
    refused text[];
begin
    perform from allocation_keysets k where k.allocation_id = allocation for update;
    with wanted as (
        select k.*, a.holder_id <> k.user_id as granted, key_ends_at(k.token_id) as ends_at
        from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id join allocations a on a.id = c.allocation_id
        where c.allocation_id = allocation and may_on_allocation(k.user_id, 'keys:choose', allocation)
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

    -- A suspension keeps the permission, which admits nobody meanwhile; every other loss of the hold ends it.
    select k.admits_own_by is not null and may_on_allocation(k.admits_own_by, 'keys:choose', allocation), k.admits_own_by
    into admitted, allowed_by from allocation_keysets k where k.allocation_id = allocation;
    if not admitted and not is_suspended(allocation)
            and not exists (select from principals c where c.id = allowed_by and c.suspended_at is not null) then
        allowed_by := null;
    end if;
    select coalesce(array_agg(known.fingerprint order by known.fingerprint), '{}') into refused from (
        select unnest(k.refused_own) as fingerprint from allocation_keysets k where k.allocation_id = allocation
        union select g.key_fingerprint from access_grants g
            where g.allocation_id = allocation and g.key_fingerprint is not null
        union select s.fingerprint from access_grants g join ssh_keys s on s.user_id = g.user_id
            where g.allocation_id = allocation
        union select s.fingerprint
            from allocation_keysets k join ssh_keys s on s.fingerprint = any (k.own_keys)
                join tenant_people p on p.tenant_id = k.tenant_id and p.user_id = s.user_id
            where k.allocation_id = allocation
    ) known
    where allowed_by is not null and not exists (select from ssh_keys o where o.fingerprint = known.fingerprint
        and may_on_allocation(o.user_id, 'terminals:open', allocation));

    update allocation_keysets k set body = rendered, admits_own = admitted, admits_own_by = allowed_by, refused_own = refused,
        own_keys = case when admitted then k.own_keys else '{}' end,
        own_keys_at = case when admitted then k.own_keys_at end, generation = generation + 1
    where k.allocation_id = allocation
        and (k.body, k.admits_own, k.admits_own_by, k.refused_own) is distinct from (rendered, admitted, allowed_by, refused);
end $$;
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
        when 'terminals:open' = any (r.permissions) or has_broken_glass(person, a.id) then null
        when exists (select from break_glass b where b.allocation_id = a.id and b.user_id = person)
            then 'the break-glass access ended'
        when not 'allocations:read' = any (r.permissions) then 'you are no longer a member of the project'
        when not 'access:ask' = any (r.permissions) then 'a viewer of the project has no access'
        else 'your access was withdrawn'
    end
    from allocations a, lateral (select allocation_permissions(person, a.id) as permissions) r where a.id = allocation
$$;
create or replace function glass_ends_at(person text, allocation text) returns timestamptz
    language sql stable security definer set search_path = public as $$
    select max(b.expires_at) from break_glass b
    where b.allocation_id = allocation and b.user_id = person and b.ended_at is null
        and not may_on_allocation(person, 'terminals:open', allocation)
$$;
create or replace function apply_suspension(kind text, subject text, at timestamptz, why text)
    returns table (allocation_id text, project_id text, terminal_id text, node_id text)
    language plpgsql volatile security definer set search_path = public as $$
declare machine record;
begin
    if not fence_is_operator() then raise insufficient_privilege; end if;
    for machine in
        select a.id, a.project_id, a.node_id from allocations a
        where a.status not in ('released', 'failed') and case kind
            when 'tenant' then a.tenant_id = subject
            when 'project' then a.project_id = subject
            else a.holder_id = subject
                or exists (select from access_grants g where g.allocation_id = a.id and g.user_id = subject)
                or exists (select from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id
                    where c.allocation_id = a.id and k.user_id = subject)
                or exists (select from allocation_keysets s
                    where s.allocation_id = a.id and s.admits_own_by = subject) end
        order by a.id
    loop
        perform render_keyset(machine.id);
        update allocation_keysets s set generation = s.generation + 1 where s.allocation_id = machine.id;
        return query select machine.id, machine.project_id, null::text, null::text;
    end loop;
    return query update terminals x set closed_at = at, reason = why, attached = false
        where x.closed_at is null and case kind when 'tenant' then x.tenant_id = subject
            when 'project' then x.project_id = subject else x.user_id = subject end
            and not may_on_allocation(x.user_id, 'terminals:open', x.allocation_id)
        returning x.allocation_id, x.project_id, x.id, x.node_id;
end $$;

-- Which principal a token or session belongs to, and what they may see. Sets the fence for the rest of the transaction.
create function enter_principal(hash bytea) returns table (
    caller_id text, caller_kind text, caller_name text, caller_platform_role text, caller_credential_id text,
    caller_scopes text[], caller_expires_at timestamptz, caller_tenant_ids text[], caller_tenant_roles text[],
    caller_project_ids text[], caller_project_roles text[], caller_suspension text, caller_suspended_ids text[]
) language plpgsql security definer rows 1 set search_path = public as $$
begin
    select p.id, p.kind, p.name, u.platform_role, c.id, c.scopes, c.expires_at,
        case when p.suspended_at is not null then coalesce(u.suspension_reason, '') end
    into caller_id, caller_kind, caller_name, caller_platform_role, caller_credential_id, caller_scopes,
        caller_expires_at, caller_suspension
    from (
        select s.id, s.user_id, array['read', 'write', 'admin'] as scopes, s.expires_at
        from sessions s where s.token_hash = hash and s.revoked_at is null
        union all
        select t.id, t.user_id, t.scopes, t.expires_at
        from tokens t where t.token_hash = hash and t.revoked_at is null
    ) c join principals p on p.id = c.user_id left join users u on u.id = p.id;
    if not found then return; end if;
    if not 'admin' = any (caller_scopes) then caller_platform_role := null; end if;
    select coalesce(array_agg(m.tenant_id), '{}'), coalesce(array_agg(m.role), '{}'),
        coalesce(array_agg(m.tenant_id) filter (where n.suspended_at is not null), '{}')
    into caller_tenant_ids, caller_tenant_roles, caller_suspended_ids
    from tenant_members m join tenants n on n.id = m.tenant_id where m.user_id = caller_id;
    select coalesce(array_agg(m.project_id), '{}'), coalesce(array_agg(m.role), '{}')
    into caller_project_ids, caller_project_roles from project_members m where m.user_id = caller_id;
    caller_suspended_ids := caller_suspended_ids || array(
        select p.id from projects p where p.suspended_at is not null and p.tenant_id = any (caller_tenant_ids));
    if caller_expires_at > clock_timestamp() and caller_suspension is null then
        perform set_config('app.user', caller_id, true), set_config('app.tenants', caller_tenant_ids::text, true),
            set_config('app.platform_role', coalesce(caller_platform_role, ''), true);
    end if;
    return next;
end $$;

-- For servers of the previous version.
create or replace function enter(hash bytea) returns table (
    caller_user_id text, caller_email text, caller_platform_role text, caller_credential_id text, caller_scopes text[],
    caller_expires_at timestamptz, caller_tenant_ids text[], caller_tenant_roles text[], caller_project_ids text[],
    caller_project_roles text[], caller_suspension text, caller_suspended_ids text[]
) language sql security definer rows 1 set search_path = public as $$
    select caller_id, caller_name, caller_platform_role, caller_credential_id, caller_scopes, caller_expires_at,
        caller_tenant_ids, caller_tenant_roles, caller_project_ids, caller_project_roles, caller_suspension,
        caller_suspended_ids
    from enter_principal(hash)
$$;

-- The name of whoever acted, as tenants see it: people of the platform are `operator`.
create function actor_name(actor text) returns text language sql stable security definer set search_path = public as $$
    select case when u.platform_role is not null then 'operator' else p.name end
    from principals p left join users u on u.id = p.id where p.id = actor
$$;

do $$
declare name text;
begin
    foreach name in array array['project_permissions(text, text)', 'may_in_project(text, text, text)',
        'allocation_permissions(text, text)', 'may_on_allocation(text, text, text)', 'actor_name(text)'] loop
        execute format('revoke execute on function %s from public', name);
        execute format('grant execute on function %s to gpuaas_api, gpuaas_operator, gpuaas_worker', name);
    end loop;
end $$;
revoke execute on function enter_principal(bytea) from public;
grant execute on function enter_principal(bytea) to gpuaas_api, gpuaas_operator;
