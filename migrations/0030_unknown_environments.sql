-- Environments that a node reports and this database does not know, and the slots whose devices they use.
-- They appear after a failover that lost writes or a restore: nobody may be given a device that is in use.
set role gpuaas_owner;

create table unknown_environments (
    id text primary key,
    node_id text not null references nodes,
    environment_id text not null, -- the allocation it was made for
    environment jsonb not null, -- as the node last reported it, its ownership record included
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    gone_at timestamptz, -- the node stopped reporting it
    unique (node_id, environment_id)
);
create index unknown_environments_present on unknown_environments (node_id) where gone_at is null;

-- A slot is held while an environment without a live claim on it uses its device.
create table device_holds (
    slot_id text not null references slots,
    environment_id text not null,
    node_id text not null references nodes,
    since timestamptz not null,
    primary key (slot_id, environment_id)
);
create index device_holds_node on device_holds (node_id);

do $$
declare name text;
begin
    foreach name in array array['unknown_environments', 'device_holds'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
        execute format('grant select on %I to gpuaas_operator', name);
    end loop;
end $$;
-- Placement and the node views read which slots are held.
create policy signed_in on device_holds for select to gpuaas_api using (fence_user() <> '');
grant select (slot_id, node_id) on device_holds to gpuaas_api;

-- As before, and no wanted slot is held. A report that adds a hold updates the node's row, so it conflicts with the lock
-- taken here: a claim sees every hold that was committed before it, or the hold sees the claim.
create or replace function claimable(node text, wanted text[], family text, whole boolean) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
declare ready boolean;
begin
    if whole then
        select intent = 'active' and offline_since is null into ready from nodes where id = node for update;
        if exists (select from slots where node_id = node and approved_at is not null and id <> all (wanted)) then
            return false;
        end if;
    else
        select intent = 'active' and offline_since is null into ready from nodes where id = node for share;
    end if;
    return coalesce(ready, false)
        and not exists (select from claims where node_id = node and kind = 'node_exclusive' and released_at is null)
        and not exists (select from device_holds where slot_id = any (wanted))
        and cardinality(wanted) = (select count(*) from slots where node_id = node and id = any (wanted)
            and gpu_family = family and approved_at is not null and disabled_at is null
            and cleanup_blocked_at is null and fabric_vf is not null);
end $$;
