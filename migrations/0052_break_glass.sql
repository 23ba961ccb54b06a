-- Break-glass access: an operator opens terminals on an allocation, for a reason and a time that its people see.
set role gpuaas_owner;

create table break_glass (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    allocation_id text not null references allocations,
    user_id text not null references users,
    email text not null,
    reason text not null check (reason <> ''),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz,
    ended_by text
);
create unique index break_glass_live on break_glass (allocation_id, user_id) where ended_at is null;
create index break_glass_allocation on break_glass (allocation_id, id);

alter table break_glass enable row level security;
create policy tenant on break_glass to gpuaas_api using (tenant_id = any (fence_tenants()));
create policy operator on break_glass to gpuaas_operator using (fence_is_operator());
create policy worker on break_glass to gpuaas_worker using (true);
grant select on break_glass to gpuaas_api;
grant update (ended_at, ended_by) on break_glass to gpuaas_api, gpuaas_operator;
grant select, insert on break_glass to gpuaas_operator;
grant select, insert, update, delete on break_glass to gpuaas_worker;

-- An operator mints tickets in their own name.
create policy own_operator on terminal_tickets to gpuaas_operator using (user_id = fence_user() and fence_is_operator());
grant select, insert on terminal_tickets to gpuaas_operator;

-- Whether a person has break-glass access now: it is open, and they are still an operator.
create function has_broken_glass(person text, allocation text) returns boolean
    language sql stable security definer set search_path = public as $$
    select exists (select from break_glass b join users u on u.id = b.user_id
        where b.allocation_id = allocation and b.user_id = person and b.ended_at is null
            and b.expires_at > clock_timestamp() and u.platform_role is not null)
$$;

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
        when 'enter' = any (r.rights) or has_broken_glass(person, a.id) then null
        when exists (select from break_glass b where b.allocation_id = a.id and b.user_id = person)
            then 'the break-glass access ended'
        when not 'read' = any (r.rights) then 'you are no longer a member of the project'
        when not 'work' = any (r.rights) then 'a viewer of the project has no access'
        else 'your access was withdrawn'
    end
    from allocations a, lateral (select allocation_rights(person, a.id) as rights) r where a.id = allocation
$$;

revoke execute on function has_broken_glass(text, text) from public;
grant execute on function has_broken_glass(text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
