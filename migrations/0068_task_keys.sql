-- Task keys sign what nodes are asked to do. Each generation is derived from the master key, so a row holds no secret. A node
-- trusts the generations that it accepted; a generation is retired once every node trusts a newer one.
set role gpuaas_owner;

create table task_keys (
    generation int primary key check (generation > 0),
    created_at timestamptz not null,
    created_by text, -- null: the platform itself
    reason text not null default '',
    retired_at timestamptz,
    retired_by text,
    retire_reason text not null default '',
    is_forced boolean not null default false
);
insert into task_keys (generation, created_at, reason) values (1, clock_timestamp(), 'the first key of this platform');
alter table nodes add column task_key_generation int not null default 1; -- the newest that the node trusts

alter table task_keys enable row level security;
create policy worker on task_keys to gpuaas_worker using (true);
create policy operator on task_keys to gpuaas_operator using (fence_is_operator());
grant select, insert on task_keys to gpuaas_worker;
grant select, insert, update on task_keys to gpuaas_operator;
