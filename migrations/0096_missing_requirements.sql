-- A node whose agent reports that it lacks something offers no capacity, whatever the code believes.
set role gpuaas_owner;

alter table nodes
    add column is_capable boolean not null generated always as (coalesce(facts -> 'missing', '[]') = '[]') stored;

-- As before, with is_capable.
create or replace function claimable(node text, wanted text[], family text, whole boolean) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
declare ready boolean;
begin
    if whole then
        select intent = 'active' and offline_since is null and is_capable into ready from nodes where id = node for update;
        if exists (select from slots where node_id = node and approved_at is not null and id <> all (wanted)) then
            return false;
        end if;
    else
        select intent = 'active' and offline_since is null and is_capable into ready from nodes where id = node for share;
    end if;
    return coalesce(ready, false)
        and not exists (select from claims where node_id = node and kind = 'node_exclusive' and released_at is null)
        and not exists (select from device_holds where slot_id = any (wanted))
        and cardinality(wanted) = (select count(*) from slots where node_id = node and id = any (wanted)
            and gpu_family = family and approved_at is not null and disabled_at is null
            and cleanup_blocked_at is null and fabric_vf is not null);
end $$;
