-- Volumes that nodes report and this database does not know. They appear after a failover that lost writes or a restore:
-- their data is kept until an operator adopts or removes them.
set role gpuaas_owner;

create table unknown_volumes (
    id text primary key,
    place text not null, -- the node of a local volume; 'shared' for one on shared storage, which several nodes report
    volume_id text not null,
    backend text not null references storage_backends,
    seen jsonb not null, -- as a node last reported it, its ownership record included
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    gone_at timestamptz, -- no node reports it any more
    adopted_at timestamptz,
    adopted_by text,
    removal_requested_at timestamptz,
    removal_requested_by text,
    removal_reason text not null default '',
    removal_note text not null default '', -- why the last attempt did not prove that it is gone
    removed_at timestamptz,
    proofs jsonb not null default '[]',
    unique (place, volume_id)
);
create index unknown_volumes_present on unknown_volumes (id)
    where gone_at is null and adopted_at is null and removed_at is null;

-- Which nodes see an unknown volume, each by its last complete look, and the environments it is mounted in there.
create table unknown_volume_sightings (
    unknown_volume_id text not null references unknown_volumes on delete cascade,
    node_id text not null references nodes,
    seen_at timestamptz not null, -- when the node looked
    mounted_in text[] not null default '{}',
    primary key (unknown_volume_id, node_id)
);
create index unknown_volume_sightings_node on unknown_volume_sightings (node_id);

do $$
declare name text;
begin
    foreach name in array array['unknown_volumes', 'unknown_volume_sightings'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
        execute format('grant select on %I to gpuaas_operator', name);
    end loop;
end $$;
grant update on unknown_volumes to gpuaas_operator;

-- The record on disk differs from this row since then, or there is none: the next measurement writes it.
alter table volumes add column record_stale_since timestamptz;
