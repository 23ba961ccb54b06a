-- What a submit pays for on every machine, and need not. Its rows copy their tenant from the allocation, in the same
-- statement, and keep their reference to it (an operation to its project): each second reference was a trigger, and a
-- lock on the one tenant row that all its submits meet at.
alter table claims drop constraint claims_tenant_id_fkey;
alter table allocation_keysets drop constraint allocation_keysets_tenant_id_fkey;
alter table allocation_keys drop constraint allocation_keys_tenant_id_fkey;
alter table operations drop constraint operations_tenant_id_fkey;

-- As before, but what only a claim of the whole node asks is not asked for a slice of it.
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
        and cardinality(wanted) = (select count(*) from slots where node_id = node and id = any (wanted)
            and gpu_family = family and approved_at is not null and disabled_at is null
            and cleanup_blocked_at is null and fabric_vf is not null);
end $$;
