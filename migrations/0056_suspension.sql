-- Operators suspend a person, a project or a tenant: nobody works there any more, nothing is lost, and it can be undone.
set role gpuaas_owner;

do $$
declare name text;
begin
    foreach name in array array['users', 'tenants', 'projects'] loop
        execute format('alter table %I add column suspended_at timestamptz, add column suspended_by text,
            add column suspension_reason text not null default ''''', name);
        execute format('grant update (suspended_at, suspended_by, suspension_reason) on %I to gpuaas_operator', name);
    end loop;
end $$;
create policy suspend on tenants for update to gpuaas_operator using (fence_is_operator());
create policy suspend on projects for update to gpuaas_operator using (fence_is_operator());

-- As before; but a suspended person has no role anywhere, and nobody has one in a suspended project or tenant.
create or replace function effective_role(person text, project text) returns text
    language sql stable security definer set search_path = public as $$
    select found.role
    from projects p join tenants t on t.id = p.tenant_id join users u on u.id = person, lateral (
        select m.role from project_members m where m.project_id = p.id and m.user_id = person
        union all
        select l.role from tenant_members l
        where l.tenant_id = t.id and l.user_id = person and l.role in ('owner', 'admin')
    ) found
    where p.id = project and p.suspended_at is null and t.suspended_at is null and u.suspended_at is null
    order by array_position(array['owner', 'admin', 'member', 'viewer'], found.role) limit 1
$$;

-- Whether anything that an allocation stands in is suspended: its tenant, its project, or its holder.
create function is_suspended(allocation text) returns boolean
    language sql stable security definer set search_path = public as $$
    select t.suspended_at is not null or p.suspended_at is not null or u.suspended_at is not null
    from allocations a join tenants t on t.id = a.tenant_id join projects p on p.id = a.project_id
        join users u on u.id = a.holder_id
    where a.id = allocation
$$;

-- Makes a suspension, or its end, true for what is open: every key set in reach is written anew with a new generation,
-- so that nodes cut connections whose keys are no longer in it, and terminals of those who may no longer be there end.
create function apply_suspension(kind text, subject text, at timestamptz, why text)
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
                or exists (select from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id
                    where c.allocation_id = a.id and k.user_id = subject)
                or exists (select from access_grants g
                    where g.allocation_id = a.id and g.user_id = subject and g.status = 'active') end
        order by a.id
    loop
        perform render_keyset(machine.id);
        update allocation_keysets s set generation = s.generation + 1 where s.allocation_id = machine.id;
        return query select machine.id, machine.project_id, null::text, null::text;
    end loop;
    return query update terminals x set closed_at = at, reason = why, attached = false
        where x.closed_at is null and case kind when 'tenant' then x.tenant_id = subject
            when 'project' then x.project_id = subject else x.user_id = subject end
            and not 'enter' = any (allocation_rights(x.user_id, x.allocation_id))
        returning x.allocation_id, x.project_id, x.id, x.node_id;
end $$;

-- A request that was let in before a suspension must not commit after it: the insert has waited for the suspension's
-- lock on the tenant, the project or the person, and looks again.
create function refuse_suspended() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if current_setting('role') = 'gpuaas_api' and is_suspended(new.id) then
        raise exception 'suspended' using errcode = 'GQ002';
    end if;
    return null;
end $$;
create constraint trigger refuse_suspended after insert on allocations
    deferrable initially deferred for each row execute function refuse_suspended();

-- As before, and whether the caller is suspended (with the reason), and which of their tenants and projects are.
drop function enter(bytea);
create function enter(hash bytea) returns table (
    caller_user_id text, caller_email text, caller_platform_role text, caller_credential_id text, caller_scopes text[],
    caller_expires_at timestamptz, caller_tenant_ids text[], caller_tenant_roles text[], caller_project_ids text[],
    caller_project_roles text[], caller_suspension text, caller_suspended_ids text[]
) language plpgsql security definer rows 1 set search_path = public as $$
begin
    select u.id, u.email, u.platform_role, c.id, c.scopes, c.expires_at,
        case when u.suspended_at is not null then u.suspension_reason end
    into caller_user_id, caller_email, caller_platform_role, caller_credential_id, caller_scopes, caller_expires_at,
        caller_suspension
    from (
        select s.id, s.user_id, array['read', 'write', 'admin'] as scopes, s.expires_at
        from sessions s where s.token_hash = hash and s.revoked_at is null
        union all
        select t.id, t.user_id, t.scopes, t.expires_at
        from tokens t where t.token_hash = hash and t.revoked_at is null
    ) c join users u on u.id = c.user_id;
    if not found then return; end if;
    if not 'admin' = any (caller_scopes) then caller_platform_role := null; end if;
    select coalesce(array_agg(m.tenant_id), '{}'), coalesce(array_agg(m.role), '{}'),
        coalesce(array_agg(m.tenant_id) filter (where n.suspended_at is not null), '{}')
    into caller_tenant_ids, caller_tenant_roles, caller_suspended_ids
    from tenant_members m join tenants n on n.id = m.tenant_id where m.user_id = caller_user_id;
    select coalesce(array_agg(m.project_id), '{}'), coalesce(array_agg(m.role), '{}')
    into caller_project_ids, caller_project_roles from project_members m where m.user_id = caller_user_id;
    caller_suspended_ids := caller_suspended_ids || array(
        select p.id from projects p where p.suspended_at is not null and p.tenant_id = any (caller_tenant_ids));
    if caller_expires_at > clock_timestamp() and caller_suspension is null then
        perform set_config('app.user', caller_user_id, true), set_config('app.tenants', caller_tenant_ids::text, true),
            set_config('app.platform_role', coalesce(caller_platform_role, ''), true);
    end if;
    return next;
end $$;
create index projects_suspended on projects (tenant_id) where suspended_at is not null;

revoke execute on function enter(bytea) from public;
revoke execute on function is_suspended(text) from public;
revoke execute on function apply_suspension(text, text, timestamptz, text) from public;
revoke execute on function refuse_suspended() from public;
grant execute on function enter(bytea) to gpuaas_api, gpuaas_operator;
grant execute on function is_suspended(text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant execute on function apply_suspension(text, text, timestamptz, text) to gpuaas_operator;
