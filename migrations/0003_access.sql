-- Access: grants, who is in, invitations; and the few steps that look past the row fence, each for one purpose.
set role gpuaas_owner;

create table access_grants (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    allocation_id text not null references allocations,
    user_id text not null references users,
    ssh_key_id text references ssh_keys on delete set null,
    key_fingerprint text,
    status text not null check (status in ('asked', 'awaiting_key', 'active', 'revoked', 'ended')),
    status_since timestamptz not null,
    status_reason text not null default '',
    version int not null default 1,
    created_by text not null references users,
    created_at timestamptz not null,
    expires_at timestamptz,
    check (status <> 'active' or ssh_key_id is not null)
);
create unique index access_grants_once on access_grants (allocation_id, user_id)
    where status in ('asked', 'awaiting_key', 'active');
create index access_grants_allocation on access_grants (allocation_id, id);
create index access_grants_project on access_grants (project_id, id);
create index access_grants_user on access_grants (user_id) where status in ('asked', 'awaiting_key', 'active');
create index access_grants_key on access_grants (ssh_key_id) where ssh_key_id is not null;
create index access_grants_ending on access_grants (expires_at)
    where status in ('asked', 'awaiting_key', 'active') and expires_at is not null;
create index allocation_keysets_due on allocation_keysets (allocation_id) where generation > observed_generation;

-- What a node last said of who is in, whole.
create table allocation_sessions (
    allocation_id text primary key references allocations,
    tenant_id text not null references tenants,
    observed_at timestamptz not null,
    body jsonb not null
);

-- Sessions that somebody wants ended; a row goes with the node's answer.
create table session_ends (
    allocation_id text not null references allocations,
    tenant_id text not null references tenants,
    session_id text not null,
    operation_id text not null references operations,
    reason text not null,
    requested_at timestamptz not null,
    primary key (allocation_id, session_id)
);

create table invitations (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    email text not null,
    role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
    invited_by text not null references users,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    accepted_at timestamptz,
    withdrawn_at timestamptz
);
create unique index invitations_once on invitations (project_id, lower(email))
    where accepted_at is null and withdrawn_at is null;
create index invitations_email on invitations (lower(email)) where accepted_at is null and withdrawn_at is null;

-- The complete set of keys that may enter, written anew: the holder's choice and what is granted, of people who still
-- work in the project. Renderings of one machine follow each other, and the later one sees what the earlier committed.
create function render_keyset(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare rendered jsonb;
begin
    perform from allocation_keysets k where k.allocation_id = allocation for update;
    with machine as (
        select a.id, a.project_id, a.tenant_id from allocations a where a.id = allocation
    ), wanted as (
        select c.ssh_key_id as key_id, false as granted, null::timestamptz as ends_at
        from allocation_keys c where c.allocation_id = allocation
        union all
        select g.ssh_key_id, true, g.expires_at from access_grants g
        where g.allocation_id = allocation and g.status = 'active'
    ), once as (
        select distinct on (k.blob) k.*, w.granted, w.ends_at
        from wanted w join ssh_keys k on k.id = w.key_id join machine m on true
        where exists (select from project_members p where p.project_id = m.project_id and p.user_id = k.user_id
                and p.role <> 'viewer')
            or exists (select from tenant_members t where t.tenant_id = m.tenant_id and t.user_id = k.user_id
                and t.role in ('owner', 'admin'))
        order by k.blob, w.granted, w.ends_at desc nulls first, k.id
    )
    select coalesce(jsonb_agg(jsonb_build_object('type', type, 'blob', blob, 'fingerprint', fingerprint,
        'user_id', user_id, 'granted', granted, 'ends_at', ends_at) order by granted, id), '[]')
    into rendered from once;
    update allocation_keysets k set body = rendered, generation = generation + 1
    where k.allocation_id = allocation and k.body <> rendered;
end $$;

-- Keys are their owner's to see; whoever shares a machine may only learn whether the key they were told is that person's.
create function is_key_of(key text, person text) returns boolean
    language sql stable security definer set search_path = public
    as $$ select exists (select from ssh_keys k where k.id = key and k.user_id = person) $$;

-- Who is invited is not in the tenant yet. Accepting makes them a member of it, and the fence follows.
create function answer_invitation(invitation text, accepts boolean, at timestamptz) returns setof invitations
    language plpgsql volatile security definer set search_path = public as $$
declare asked invitations;
begin
    select i.* into asked from invitations i join users u on u.id = fence_user() and lower(u.email) = lower(i.email)
    where i.id = invitation and i.accepted_at is null and i.withdrawn_at is null and i.expires_at > at
    for update of i;
    if not found then return; end if;
    if accepts then
        insert into tenant_members (tenant_id, user_id, role) values (asked.tenant_id, fence_user(), 'member')
            on conflict do nothing;
        insert into project_members (project_id, tenant_id, user_id, role)
            values (asked.project_id, asked.tenant_id, fence_user(), asked.role) on conflict do nothing;
        perform set_config('app.tenants', array_append(fence_tenants(), asked.tenant_id)::text, true);
    end if;
    return query update invitations i set accepted_at = case when accepts then at end,
        withdrawn_at = case when not accepts then at end where i.id = invitation returning i.*;
end $$;

do $$
declare name text;
begin
    foreach name in array array['access_grants', 'allocation_sessions', 'session_ends', 'invitations'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy tenant on %I to gpuaas_api using (tenant_id = any (fence_tenants()))', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
        execute format('grant select on %I to gpuaas_operator', name);
    end loop;
end $$;
create policy own on invitations for select to gpuaas_api
    using (lower(email) = (select lower(u.email) from users u where u.id = fence_user()));

grant select on access_grants, allocation_sessions, session_ends, invitations to gpuaas_api;
grant insert on access_grants, session_ends, invitations to gpuaas_api;
grant update on access_grants to gpuaas_api;
grant update (role, invited_by, expires_at, withdrawn_at) on invitations to gpuaas_api;
grant delete on allocation_keys, project_members to gpuaas_api;
grant update (role) on project_members to gpuaas_api;

revoke execute on function render_keyset(text) from public;
revoke execute on function is_key_of(text, text) from public;
revoke execute on function answer_invitation(text, boolean, timestamptz) from public;
grant execute on function render_keyset(text) to gpuaas_api, gpuaas_worker;
grant execute on function is_key_of(text, text) to gpuaas_api;
grant execute on function answer_invitation(text, boolean, timestamptz) to gpuaas_api;
