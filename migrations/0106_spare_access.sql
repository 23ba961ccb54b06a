-- Where the spare that a new allocation will most likely be made from waits for its person: known at submit, so that
-- clients need not wait until the allocation is active before they connect.
set role gpuaas_owner;
alter table allocations add column spare_access jsonb;

create function spare_access(node text, slots text[], vcpus int, memory_mib int, disk_gib int, init text) returns jsonb
    language sql stable security definer set search_path = public as $$
    select jsonb_build_object('host', n.ssh_host, 'port', one->'port', 'host_key', one->'host_key')
    from nodes n, jsonb_array_elements(n.spares->'ready') one
    where n.id = $1 and n.ssh_host <> '' and jsonb_typeof(one->'port') = 'number'
        and one->'slots' = (select jsonb_agg(s.index order by s.index) from slots s where s.id = any ($2))
        and (one->'vcpus', one->'memory_mib', one->'disk_gib', one->>'init')
            = (to_jsonb($3), to_jsonb($4), to_jsonb($5), $6)
    limit 1
$$;
revoke execute on function spare_access(text, text[], int, int, int, text) from public;
grant execute on function spare_access(text, text[], int, int, int, text) to gpuaas_api, gpuaas_worker;
