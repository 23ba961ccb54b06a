-- What the kernel said of the newest environment of each init: how they differ is shown before one is chosen.
set role gpuaas_owner;

create table confinements (
    init text primary key check (init in ('plain', 'systemd')),
    confinement jsonb not null,
    node_id text not null references nodes,
    read_at timestamptz not null
);
alter table confinements enable row level security;
create policy reader on confinements for select to gpuaas_api using (fence_user() <> '');
create policy operator on confinements for select to gpuaas_operator using (fence_is_operator());
create policy worker on confinements to gpuaas_worker using (true);
grant select on confinements to gpuaas_api, gpuaas_operator;
grant select, insert, update on confinements to gpuaas_worker;
