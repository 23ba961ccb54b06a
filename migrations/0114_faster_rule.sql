-- The same rule, found faster: whether somebody works in a project is asked for every allocation of a list.
set role gpuaas_owner;

create or replace function may_in_project(principal text, wanted text, project text) returns boolean
    language sql stable security definer set search_path = public as $$
    select exists (
        select from projects p join tenants t on t.id = p.tenant_id join principals c on c.id = principal, lateral (
            select from project_members m where m.project_id = p.id and m.user_id = c.id
                and m.role in (select r.role from role_permissions r where r.place = 'project' and r.permission = wanted)
            union all
            select from tenant_members m where m.tenant_id = t.id and m.user_id = c.id
                and m.role in (select r.role from role_permissions r where r.place = 'tenant' and r.permission = wanted)
        ) allowed
        where p.id = project and p.suspended_at is null and t.suspended_at is null and c.suspended_at is null)
$$;
create or replace function works_in(person text, project text) returns boolean
    language sql stable security definer set search_path = public
    as $$ select may_in_project(person, 'access:ask', project) $$;

create or replace function project_permissions(principal text, project text) returns text[]
    language sql stable security definer set search_path = public as $$
    select coalesce((
        select array(
            select r.permission from project_members m join role_permissions r on r.place = 'project' and r.role = m.role
            where m.project_id = p.id and m.user_id = c.id
            union
            select r.permission from tenant_members m join role_permissions r on r.place = 'tenant' and r.role = m.role
            where m.tenant_id = t.id and m.user_id = c.id)
        from projects p join tenants t on t.id = p.tenant_id join principals c on c.id = principal
        where p.id = project and p.suspended_at is null and t.suspended_at is null and c.suspended_at is null), '{}')
$$;

create or replace function lock_role(person text, project text) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
begin
    perform from project_members m where m.project_id = project and m.user_id = person for share;
    perform from tenant_members t where t.user_id = person
        and t.tenant_id = (select p.tenant_id from projects p where p.id = project) for share;
    return may_in_project(person, 'access:ask', project);
end $$;

-- For servers of the previous version; `offset 0` evaluates the permissions once.
create or replace function allocation_rights(person text, allocation text) returns text[]
    language sql stable security definer set search_path = public as $$
    select array_remove(array[
        case when 'allocations:read' = any (found.permissions) then 'read' end,
        case when 'access:ask' = any (found.permissions) then 'work' end,
        case when 'allocations:operate' = any (found.permissions) then 'control' end,
        case when 'keys:choose' = any (found.permissions) then 'hold' end,
        case when 'terminals:open' = any (found.permissions) then 'enter' end
    ], null)
    from (select allocation_permissions(person, allocation) as permissions offset 0) found
$$;

-- Memberships in one statement instead of three: every request enters.
create or replace function enter_principal(hash bytea) returns table (
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
    select tenant.ids, tenant.roles, project.ids, project.roles, tenant.suspended || array(
        select p.id from projects p where p.suspended_at is not null and p.tenant_id = any (tenant.ids))
    into caller_tenant_ids, caller_tenant_roles, caller_project_ids, caller_project_roles, caller_suspended_ids
    from (
        select coalesce(array_agg(m.tenant_id), '{}') as ids, coalesce(array_agg(m.role), '{}') as roles,
            coalesce(array_agg(m.tenant_id) filter (where n.suspended_at is not null), '{}') as suspended
        from tenant_members m join tenants n on n.id = m.tenant_id where m.user_id = caller_id
    ) tenant, (
        select coalesce(array_agg(m.project_id), '{}') as ids, coalesce(array_agg(m.role), '{}') as roles
        from project_members m where m.user_id = caller_id
    ) project;
    if caller_expires_at > clock_timestamp() and caller_suspension is null then
        perform set_config('app.user', caller_id, true), set_config('app.tenants', caller_tenant_ids::text, true),
            set_config('app.platform_role', coalesce(caller_platform_role, ''), true);
    end if;
    return next;
end $$;
