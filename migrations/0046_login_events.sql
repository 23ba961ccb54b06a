-- Each SSH login and logout is an event on the timeline of its allocation, once, however often its node sends it.
set role gpuaas_owner;

create table login_events (
    id text primary key, -- the node's name for it
    allocation_id text not null references allocations,
    tenant_id text not null,
    at timestamptz not null
);
create index login_events_allocation on login_events (allocation_id, at);
alter table login_events enable row level security;
create policy worker on login_events to gpuaas_worker using (true);
grant select, insert, update, delete on login_events to gpuaas_worker;
