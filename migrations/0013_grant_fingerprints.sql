-- A grant names the fingerprint of its key, for the person who shares and for the audit; no other word of a key is told.
set role gpuaas_owner;

drop function is_key_of(text, text);

create function key_fingerprint(key text, person text) returns text
    language sql stable security definer set search_path = public
    as $$ select k.fingerprint from ssh_keys k where k.id = key and k.user_id = person $$;
revoke execute on function key_fingerprint(text, text) from public;
grant execute on function key_fingerprint(text, text) to gpuaas_api, gpuaas_worker;

-- Operators see how many machines wait for their keys, and not the keys.
create policy operator on allocation_keysets to gpuaas_operator using (fence_is_operator());
grant select (allocation_id, tenant_id, generation, observed_generation) on allocation_keysets to gpuaas_operator;
