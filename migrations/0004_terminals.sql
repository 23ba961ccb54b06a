-- Browser terminals: tickets that open one, the terminals themselves, the streams agents are asked to dial, and recordings.
set role gpuaas_owner;

create table terminal_tickets (
    hash bytea primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    allocation_id text not null references allocations,
    user_id text not null references users,
    credential_id text not null, -- the session or token that minted it; the terminal ends with it
    terminal_id text,            -- to go back into one that is open
    recorded boolean not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);
create index terminal_tickets_user on terminal_tickets (user_id, created_at);
create index terminal_tickets_expiry on terminal_tickets (expires_at);

-- Closed is what is wanted; ended is what the node was seen to have done.
create table terminals (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    allocation_id text not null references allocations,
    node_id text not null references nodes,
    boot int not null,
    user_id text not null references users,
    credential_id text not null,
    source text not null,
    recorded boolean not null,
    recorded_bytes bigint not null default 0,
    created_at timestamptz not null,
    opened_at timestamptz, -- when its node first answered
    attached boolean not null default false,
    closed_at timestamptz,
    reason text not null default '',
    exit_code int,
    ended_at timestamptz
);
create index terminals_allocation on terminals (allocation_id, id);
create index terminals_live on terminals (id) where closed_at is null;
create index terminals_unended on terminals (node_id) where ended_at is null;

-- A stream that a replica asked for; whoever holds the node's link passes it on. What opens it is signed, and derived from the id.
create table stream_requests (
    id text primary key,
    node_id text not null references nodes,
    allocation_id text not null references allocations,
    kind text not null,
    target jsonb not null,
    url text not null,
    expires_at timestamptz not null,
    sent_at timestamptz
);
create index stream_requests_unsent on stream_requests (node_id) where sent_at is null;
create index stream_requests_expiry on stream_requests (expires_at);

-- What a terminal showed, in order; compressed and sealed.
-- Two replicas may each have kept the same bytes, when a reader moved from one to the other: whoever reads skips what it has.
create table recording_chunks (
    id bigint generated always as identity primary key,
    terminal_id text not null references terminals,
    tenant_id text not null references tenants,
    first_byte bigint not null,
    length int not null,
    body bytea not null
);
create index recording_chunks_terminal on recording_chunks (terminal_id, first_byte, id);

-- Why a person must not be in a machine's terminal, in words for them; null while all is well. Workers, and operators who look
-- at what waits for workers, ask it; neither need see sessions and members for that.
create function terminal_objection(allocation text, at_boot int, person text, credential text) returns text
    language sql stable security definer set search_path = public as $$
    select case
        when a.status = 'restarting' or a.boot <> at_boot then 'the machine restarted'
        when a.status in ('releasing', 'release_failed', 'released') then 'the allocation was released'
        when a.status <> 'active' then 'the machine is ' || replace(a.status, '_', ' ')
        when not exists (select from sessions s where s.id = credential and s.revoked_at is null
                and s.expires_at > clock_timestamp())
            and not exists (select from tokens k where k.id = credential and k.revoked_at is null
                and k.expires_at > clock_timestamp()) then 'you signed out'
        when not exists (select from project_members m where m.project_id = a.project_id and m.user_id = person)
            and not exists (select from tenant_members m where m.tenant_id = a.tenant_id and m.user_id = person
                and m.role in ('owner', 'admin')) then 'you are no longer a member of the project'
        when a.holder_id <> person and not exists (select from access_grants g where g.allocation_id = a.id
                and g.user_id = person and g.status = 'active'
                and coalesce(g.expires_at, 'infinity') > clock_timestamp()) then 'your access was withdrawn'
    end
    from allocations a where a.id = allocation
$$;
revoke execute on function terminal_objection(text, int, text, text) from public;
grant execute on function terminal_objection(text, int, text, text) to gpuaas_worker, gpuaas_operator;

do $$
declare name text;
begin
    create policy own on terminal_tickets to gpuaas_api
        using (user_id = fence_user() and tenant_id = any (fence_tenants()));
    create policy tenant on terminals to gpuaas_api using (tenant_id = any (fence_tenants()));
    create policy tenant on recording_chunks to gpuaas_api using (tenant_id = any (fence_tenants()));
    create policy operator on terminals to gpuaas_operator using (fence_is_operator());
    foreach name in array array['terminal_tickets', 'terminals', 'stream_requests', 'recording_chunks'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
    end loop;
end $$;

grant select, insert on terminal_tickets to gpuaas_api;
grant select on terminals, recording_chunks to gpuaas_api;
grant select on terminals to gpuaas_operator;
revoke update on recording_chunks from gpuaas_worker; -- what was shown is never changed
grant usage on all sequences in schema public to gpuaas_worker;
