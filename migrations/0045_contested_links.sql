-- Who holds a node's key: each agent process names itself in its hello, so that two live holders of one key are noticed.
set role gpuaas_owner;

alter table links add column instance text not null default ''; -- of the agent process; empty: an older agent
alter table nodes
    add column link_disputed_until timestamptz, -- a live link was replaced by another process: proofs wait until then
    add column contested_at timestamptz, -- two live processes used the node's key; an operator has to look
    add column contested_detail text not null default '';
alter table node_tasks
    add column answered_epoch bigint, -- of the link that brought the result
    add column disputed boolean not null default false; -- answered while the node was contested: proves nothing

create table link_holders (
    node_id text not null references nodes,
    instance text not null,
    epoch bigint not null, -- of its last link
    opened_at timestamptz not null,
    primary key (node_id, instance)
);
alter table link_holders enable row level security;
create policy operator on link_holders to gpuaas_operator using (fence_is_operator());
create policy worker on link_holders to gpuaas_worker using (true);
grant select, insert, update, delete on link_holders to gpuaas_worker;
grant select, delete on link_holders to gpuaas_operator;
