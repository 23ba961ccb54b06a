-- What the kernel of each node said of its newest environment of each init. One row of all nodes would let any node rewrite
-- what everybody reads, and every activation would wait for it. `confinements` stays for servers of the release before.
set role gpuaas_owner;

create table node_confinements (
    init text not null check (init in ('plain', 'systemd')),
    node_id text not null references nodes,
    confinement jsonb not null,
    read_at timestamptz not null,
    primary key (init, node_id)
);
alter table node_confinements enable row level security;
create policy operator on node_confinements for select to gpuaas_operator using (fence_is_operator());
create policy worker on node_confinements to gpuaas_worker using (true);
grant select on node_confinements to gpuaas_operator;
grant select, insert, update on node_confinements to gpuaas_worker;
insert into node_confinements (init, node_id, confinement, read_at)
    select init, node_id, confinement, read_at from confinements;

-- Null where the nodes that new environments may run on do not agree. What a single node says is the operators'.
create function agreed_confinements() returns table (init text, confinement jsonb)
    language sql stable security definer set search_path = public as $$
    select c.init, case when count(distinct c.confinement) = 1 then (array_agg(c.confinement))[1] end
    from node_confinements c join nodes n on n.id = c.node_id
    where n.intent = 'active' and n.is_capable group by c.init
$$;
revoke execute on function agreed_confinements() from public;
grant execute on function agreed_confinements() to gpuaas_api, gpuaas_operator, gpuaas_worker;
