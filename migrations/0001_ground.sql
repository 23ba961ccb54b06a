-- The ground: roles, identity, capacity, allocations, work, timeline. Ids are text: a prefix and a UUIDv7.

do $$
declare name text;
begin
    foreach name in array array['gpuaas_owner', 'gpuaas_api', 'gpuaas_operator', 'gpuaas_worker'] loop
        begin
            execute format('create role %I nologin', name);
        exception when duplicate_object or unique_violation then null;
        end;
        execute format('grant %I to current_user', name);
    end loop;
end $$;

grant create, usage on schema public to gpuaas_owner;
grant usage on schema public to gpuaas_api, gpuaas_operator, gpuaas_worker;
set role gpuaas_owner;

-- The fence: unset means no rows.
create function fence_user() returns text language sql stable
    as $$ select coalesce(current_setting('app.user', true), '') $$;
create function fence_tenants() returns text[] language sql stable
    as $$ select coalesce(nullif(current_setting('app.tenants', true), ''), '{}')::text[] $$;
create function fence_is_operator() returns boolean language sql stable
    as $$ select coalesce(current_setting('app.platform_role', true), '') <> '' $$;

-- identity ---------------------------------------------------------------------------------------------------------

create table tenants (
    id text primary key,
    type text not null check (type in ('personal', 'enterprise')),
    slug text not null unique,
    created_at timestamptz not null
);

create table users (
    id text primary key,
    email text not null,
    platform_role text check (platform_role in ('admin', 'ops')),
    created_at timestamptz not null
);
create unique index users_email on users (lower(email));

create table identities (
    issuer text not null,
    subject text not null,
    user_id text not null references users,
    secret_hash text,
    primary key (issuer, subject)
);

create table tenant_members (
    tenant_id text not null references tenants,
    user_id text not null references users,
    role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
    primary key (tenant_id, user_id)
);
create index tenant_members_user on tenant_members (user_id);

create table projects (
    id text primary key,
    tenant_id text not null references tenants,
    slug text not null,
    created_at timestamptz not null,
    unique (tenant_id, slug)
);

create table project_members (
    project_id text not null references projects,
    tenant_id text not null references tenants,
    user_id text not null references users,
    role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
    primary key (project_id, user_id)
);
create index project_members_user on project_members (user_id);

create table sessions (
    id text primary key,
    token_hash bytea not null unique,
    user_id text not null references users,
    device text not null,
    address text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz
);
create index sessions_user on sessions (user_id);
create index sessions_over on sessions (least(expires_at, revoked_at));

create table tokens (
    id text primary key,
    token_hash bytea not null unique,
    user_id text not null references users,
    title text not null,
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    revoked_at timestamptz
);
create index tokens_user on tokens (user_id);
create index tokens_over on tokens (least(expires_at, revoked_at));

create table rate_limits (
    bucket text primary key,
    window_started_at timestamptz not null,
    used int not null
);

create table ssh_keys (
    id text primary key,
    user_id text not null references users,
    title text not null,
    type text not null,
    blob text not null,
    fingerprint text not null,
    created_at timestamptz not null,
    unique (user_id, fingerprint)
);

-- Who is this token, and what may they see? Sets the fence for the rest of the transaction.
create function enter(hash bytea) returns table (
    caller_user_id text, caller_email text, caller_platform_role text, caller_credential_id text, caller_scopes text[],
    caller_expires_at timestamptz, caller_tenant_ids text[], caller_tenant_roles text[], caller_project_ids text[],
    caller_project_roles text[]
) language plpgsql security definer set search_path = public as $$
begin
    select u.id, u.email, u.platform_role, c.id, c.scopes, c.expires_at
    into caller_user_id, caller_email, caller_platform_role, caller_credential_id, caller_scopes, caller_expires_at
    from (
        select s.id, s.user_id, array['read', 'write', 'admin'] as scopes, s.expires_at
        from sessions s where s.token_hash = hash and s.revoked_at is null
        union all
        select t.id, t.user_id, t.scopes, t.expires_at
        from tokens t where t.token_hash = hash and t.revoked_at is null
    ) c join users u on u.id = c.user_id;
    if not found then return; end if;
    if not 'admin' = any (caller_scopes) then caller_platform_role := null; end if;
    select coalesce(array_agg(m.tenant_id), '{}'), coalesce(array_agg(m.role), '{}')
    into caller_tenant_ids, caller_tenant_roles from tenant_members m where m.user_id = caller_user_id;
    select coalesce(array_agg(m.project_id), '{}'), coalesce(array_agg(m.role), '{}')
    into caller_project_ids, caller_project_roles from project_members m where m.user_id = caller_user_id;
    if caller_expires_at > clock_timestamp() then
        perform set_config('app.user', caller_user_id, true), set_config('app.tenants', caller_tenant_ids::text, true),
            set_config('app.platform_role', coalesce(caller_platform_role, ''), true);
    end if;
    return next;
end $$;

-- capacity ---------------------------------------------------------------------------------------------------------

create table regions (name text primary key);

create table skus (
    sku text primary key,
    key int generated always as identity unique,
    title text not null,
    shape text not null check (shape in ('baremetal', 'gpu_slice')),
    gpu_family text not null,
    allowed_counts int[] not null,
    simulated boolean not null,
    active boolean not null default true
);

create table sku_sizes (
    sku text not null references skus,
    position int not null,
    name text not null,
    gpu_count int not null,
    vcpus int not null,
    memory_mib int not null,
    primary key (sku, name)
);

create table prices (
    id text primary key,
    sku_key int not null references skus (key),
    amount_minor bigint not null check (amount_minor >= 0),
    currency text not null,
    valid tstzrange not null,
    exclude using gist (int4range(sku_key, sku_key, '[]') with &&, valid with &&)
);

create table nodes (
    id text primary key,
    name text not null unique,
    region text not null references regions,
    intent text not null check (intent in ('enrolling', 'active', 'draining', 'quarantined', 'retired')),
    intent_since timestamptz not null,
    intent_reason text not null default '',
    version int not null default 1,
    offline_since timestamptz,
    last_seen_at timestamptz,
    public_key bytea,
    engine text not null default '',
    simulated boolean not null default false,
    agent_version text not null default '',
    ssh_host text not null default '',
    boot_id text not null default '',
    facts jsonb,
    unknown_environments text[] not null default '{}', -- reported, never heard of, never removed
    offline_for interval not null default '0', -- counted only while a control plane was there to be reached
    offline_counted_at timestamptz,
    created_at timestamptz not null
);

create table enrolment_tokens (
    token_hash bytea primary key,
    node_id text not null references nodes,
    created_by text not null,
    expires_at timestamptz not null,
    used_at timestamptz
);

create table slots (
    id text primary key,
    node_id text not null references nodes,
    index int not null,
    gpu_family text not null,
    gpu_pci text not null,
    gpu_uuid text not null,
    fabric_vf text,
    nvme text,
    mac text,
    address text,
    numa int,
    vcpus int not null,
    memory_mib int not null,
    wipe_policy text not null default 'scrub',
    approved_at timestamptz,
    approved_by text,
    disabled_at timestamptz,
    disabled_reason text not null default '',
    cleanup_blocked_at timestamptz,
    unique (node_id, index),
    unique (node_id, gpu_pci),
    unique (node_id, gpu_uuid),
    unique (node_id, fabric_vf),
    unique (node_id, nvme),
    unique (node_id, mac),
    unique (node_id, address)
);

-- allocations ------------------------------------------------------------------------------------------------------

create table operations (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    kind text not null,
    subject_kind text not null,
    subject_id text not null,
    status text not null check (status in ('running', 'succeeded', 'failed')),
    requested_by text not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    last_progress_at timestamptz not null,
    reason text not null default '',
    correlation_id text not null
);
create index operations_subject on operations (subject_id);
create index operations_project on operations (project_id, id);

create table allocation_groups (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    created_by text not null references users,
    created_at timestamptz not null
);

create table allocations (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    group_id text references allocation_groups,
    name text not null,
    sku text not null references skus,
    shape text not null,
    gpu_count int not null,
    size text not null,
    vcpus int not null,
    memory_mib int not null,
    simulated boolean not null,
    node_id text not null references nodes,
    region text not null,
    price_id text not null references prices,
    price_minor_per_hour bigint not null,
    currency text not null,
    requested_by text not null references users,
    holder_id text not null references users,
    status text not null check (status in ('requested', 'provisioning', 'active', 'restarting', 'restart_failed',
        'releasing', 'release_failed', 'released', 'failed')),
    status_since timestamptz not null,
    status_reason text not null default '',
    version int not null default 1,
    operation_id text not null,
    boot int not null default 1,
    observed_boot int not null default 0,
    username text not null,
    ssh_host text,
    port int,
    host_key text,
    isolation jsonb,
    created_at timestamptz not null,
    active_at timestamptz,
    released_at timestamptz,
    last_progress_at timestamptz not null,
    billing_stopped_at timestamptz,
    cleanup_proven_at timestamptz,
    network_id text,
    network_policy_id text,
    project_network_id text
);
create unique index allocations_name on allocations (project_id, name) where status not in ('released', 'failed');
create unique index allocations_port on allocations (node_id, port) where port is not null and cleanup_proven_at is null;
create index allocations_project on allocations (project_id, id);
create index allocations_group on allocations (group_id) where group_id is not null;
create index allocations_unsettled on allocations (id)
    where status in ('requested', 'provisioning', 'restarting', 'releasing') or (status = 'failed' and cleanup_proven_at is null);
create index allocations_on_node on allocations (node_id) where cleanup_proven_at is null;

-- A claim ends only with its proof of cleanup. These two indexes are what makes a double sale impossible.
create table claims (
    id bigint generated always as identity primary key,
    allocation_id text not null references allocations,
    tenant_id text not null references tenants,
    node_id text not null references nodes,
    slot_id text references slots,
    kind text not null check (kind in ('slot', 'node_exclusive')),
    claimed_at timestamptz not null,
    released_at timestamptz,
    check ((kind = 'slot') = (slot_id is not null))
);
create unique index claims_slot_once on claims (slot_id) where released_at is null;
create unique index claims_node_once on claims (node_id) where kind = 'node_exclusive' and released_at is null;
create index claims_allocation on claims (allocation_id);

create table allocation_keysets (
    allocation_id text primary key references allocations,
    tenant_id text not null references tenants,
    generation int not null,
    body jsonb not null
);

create table allocation_keys (
    allocation_id text not null references allocations,
    tenant_id text not null references tenants,
    ssh_key_id text not null references ssh_keys on delete cascade,
    primary key (allocation_id, ssh_key_id)
);
create index allocation_keys_key on allocation_keys (ssh_key_id);

create table holds (
    allocation_id text not null references allocations,
    kind text not null,
    ref text not null,
    primary key (allocation_id, kind, ref)
);

create table cleanup_proofs (
    allocation_id text not null references allocations,
    tenant_id text not null references tenants,
    item text not null,
    ok boolean not null,
    evidence text not null,
    at timestamptz not null,
    primary key (allocation_id, item, at)
);

-- work -------------------------------------------------------------------------------------------------------------

create table node_tasks (
    id text primary key,
    node_id text not null references nodes,
    allocation_id text references allocations,
    operation_id text references operations,
    seq int not null,
    boot int not null,
    kind text not null,
    wants jsonb not null,
    status text not null check (status in ('queued', 'sent', 'done', 'failed', 'expired', 'superseded', 'refused')),
    attempt int not null default 0,
    created_at timestamptz not null,
    sent_at timestamptz,
    ended_at timestamptz,
    reason text not null default '',
    detail text not null default '',
    result jsonb
);
create index node_tasks_open on node_tasks (node_id) where status in ('queued', 'sent');
create unique index node_tasks_seq on node_tasks (allocation_id, seq);
create index node_tasks_ended on node_tasks (ended_at) where kind <> 'environment.remove';

create table task_logs (
    operation_id text not null references operations,
    tenant_id text not null,
    task_id text not null,
    seq int not null,
    at timestamptz not null,
    line text not null,
    primary key (task_id, seq)
);
create index task_logs_operation on task_logs (operation_id, at, seq);
create index task_logs_at on task_logs (at);

create table outbox (
    id bigint generated always as identity primary key,
    topic text not null,
    payload jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    delivered_at timestamptz
);
create index outbox_waiting on outbox (id) where delivered_at is null;

create table idempotency (
    caller text not null,
    route text not null,
    key text not null,
    request_hash bytea not null,
    status int,
    body bytea,
    sealed boolean not null default false,
    expires_at timestamptz not null,
    primary key (caller, route, key)
);
create index idempotency_expiry on idempotency (expires_at);

-- Leases are judged by this database's clock alone.
create table work (
    worker text not null,
    row_id text not null,
    token text,
    until timestamptz,
    next_at timestamptz not null default clock_timestamp(),
    attempts int not null default 0,
    last_error text,
    primary key (worker, row_id)
);

create table worker_switches (
    worker text primary key,
    disabled_at timestamptz not null,
    disabled_by text not null,
    reason text not null
);

-- What is true of the platform as a whole: which key signs its node tasks.
create table platform (
    key text primary key,
    value text not null
);

create table replicas (
    id text primary key,
    url text not null,
    started_at timestamptz not null,
    seen_at timestamptz not null
);

create table links (
    node_id text primary key references nodes,
    replica_id text not null,
    epoch bigint not null,
    since timestamptz not null
);
create sequence link_epochs;

-- timeline ---------------------------------------------------------------------------------------------------------

create table timeline_entries (
    id bigint generated always as identity primary key,
    xid xid8 not null default pg_current_xact_id(),
    tenant_id text,
    project_id text,
    subject_kind text not null,
    subject_id text not null,
    operation_id text,
    phase text not null,
    outcome text not null check (outcome in ('began', 'done', 'failed')),
    at timestamptz not null,
    actor text not null,
    note text not null default '',
    evidence jsonb not null default '{}'
);
create index timeline_subject on timeline_entries (subject_id, id);
create index timeline_project on timeline_entries (project_id, xid, id);
create index timeline_operation on timeline_entries (operation_id) where operation_id is not null;

create table audit (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    tenant_id text,
    project_id text,
    actor text not null,
    acted_as text not null,
    action text not null,
    target_kind text not null,
    target_id text not null,
    result text not null check (result in ('done', 'denied')),
    repeats int not null default 1,
    correlation_id text not null,
    facts jsonb not null default '{}'
);
create index audit_project on audit (project_id, id);
create index audit_denials on audit (actor, action, target_id, id) where result = 'denied';

-- Locks the node against a drain, a retirement or a new slot until this transaction ends, then looks: volatile, so its
-- queries see what was committed while it waited. A claim of the whole node takes every slot that is for sale.
create function claimable(node text, wanted text[], family text, whole boolean) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
declare ready boolean;
begin
    if whole then
        select intent = 'active' and offline_since is null into ready from nodes where id = node for update;
    else
        select intent = 'active' and offline_since is null into ready from nodes where id = node for share;
    end if;
    return coalesce(ready, false)
        and not exists (select from claims where node_id = node and kind = 'node_exclusive' and released_at is null)
        and not exists (select from slots where node_id = node and whole and approved_at is not null
            and id <> all (wanted))
        and cardinality(wanted) = (select count(*) from slots where node_id = node and id = any (wanted)
            and gpu_family = family and approved_at is not null and disabled_at is null
            and cleanup_blocked_at is null and fabric_vf is not null);
end $$;

-- fences -----------------------------------------------------------------------------------------------------------

-- Three kinds of table: a tenant's, a person's own, and everybody's to read once signed in.
do $$
declare name text;
begin
    foreach name in array array['operations', 'allocation_groups', 'allocations', 'claims', 'allocation_keysets',
        'allocation_keys', 'cleanup_proofs', 'timeline_entries', 'task_logs', 'projects'] loop
        execute format('create policy tenant on %I to gpuaas_api using (tenant_id = any (fence_tenants()))', name);
    end loop;
    -- Of what is a person's own, no tenant; but nobody writes in another's name.
    create policy tenant on audit for select to gpuaas_api using (tenant_id = any (fence_tenants()));
    create policy own on audit for insert to gpuaas_api
        with check (actor = fence_user() and (tenant_id is null or tenant_id = any (fence_tenants())));
    create policy tenant on tenants to gpuaas_api using (id = any (fence_tenants()));
    create policy tenant on tenant_members to gpuaas_api using (tenant_id = any (fence_tenants()));
    create policy tenant on project_members to gpuaas_api using (tenant_id = any (fence_tenants()));
    foreach name in array array['sessions', 'tokens', 'ssh_keys'] loop
        execute format('create policy own on %I to gpuaas_api using (user_id = fence_user())', name);
    end loop;
    create policy own on users to gpuaas_api using (id = fence_user());
    create policy mates on users for select to gpuaas_api using (exists (
        select from tenant_members m where m.user_id = users.id and m.tenant_id = any (fence_tenants())));
    create policy own on idempotency to gpuaas_api using (caller = fence_user());
    create policy own_operator on idempotency to gpuaas_operator using (caller = fence_user());
    create policy holds on holds for select to gpuaas_api
        using (allocation_id in (select id from allocations));
    foreach name in array array['regions', 'skus', 'sku_sizes', 'prices', 'nodes', 'slots'] loop
        execute format('create policy signed_in on %I for select to gpuaas_api using (fence_user() <> '''')', name);
    end loop;
    foreach name in array array['nodes', 'slots', 'claims', 'allocations', 'allocation_keys', 'allocation_groups',
        'operations', 'holds',
        'cleanup_proofs', 'node_tasks', 'task_logs', 'timeline_entries', 'audit', 'enrolment_tokens', 'regions', 'skus',
        'sku_sizes', 'prices', 'work', 'worker_switches', 'replicas', 'links', 'users', 'outbox'] loop
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
    end loop;
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations' loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
    end loop;
end $$;

grant select on tenants, tenant_members, projects, project_members, users, sessions, tokens, ssh_keys, operations,
    allocation_groups, allocations, claims, allocation_keysets, allocation_keys, holds, cleanup_proofs, task_logs,
    timeline_entries, audit, idempotency, regions, skus, sku_sizes, prices, slots to gpuaas_api;
grant select (id, name, region, intent, offline_since, simulated, ssh_host, engine, last_seen_at) on nodes to gpuaas_api;
grant insert on sessions, tokens, ssh_keys, projects, project_members, operations, allocation_groups, allocations, claims,
    allocation_keysets, allocation_keys, timeline_entries, audit, idempotency, outbox to gpuaas_api;
grant update on sessions, tokens, operations, allocations, allocation_keysets, idempotency to gpuaas_api;
grant delete on ssh_keys to gpuaas_api;
create policy outbox on outbox for insert to gpuaas_api with check (fence_user() <> '');

grant select, update on nodes, slots, claims, allocations, operations to gpuaas_operator;
grant select on allocation_groups, allocation_keys, holds, cleanup_proofs, node_tasks, task_logs, timeline_entries, audit, regions, skus,
    sku_sizes, prices, work, worker_switches, replicas, links, users, idempotency, outbox
    to gpuaas_operator;
grant insert on nodes, regions, enrolment_tokens, operations, cleanup_proofs, timeline_entries, audit, worker_switches,
    idempotency, outbox to gpuaas_operator;
grant update on worker_switches, idempotency to gpuaas_operator;
grant delete on worker_switches to gpuaas_operator;

-- What happened is never changed, by anybody but the owner of the tables.
revoke update, delete on timeline_entries, cleanup_proofs from gpuaas_worker;
revoke update, delete on audit from gpuaas_worker;
grant update (repeats) on audit to gpuaas_worker; -- a refusal repeated within a minute is counted, not told again

grant usage on all sequences in schema public to gpuaas_api, gpuaas_operator, gpuaas_worker;
revoke execute on function enter(bytea) from public;
revoke execute on function claimable(text, text[], text, boolean) from public;
grant execute on function enter(bytea) to gpuaas_api, gpuaas_operator;
grant execute on function claimable(text, text[], text, boolean) to gpuaas_api, gpuaas_worker;
