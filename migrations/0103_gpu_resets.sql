-- Whether the GPUs of a node are reset when an environment restarts or ends, by UUID, as its agent reported it: people see
-- it before they restart or release. The rest of a node's facts is the operators'.
set role gpuaas_owner;

create function gpu_resets(node text) returns jsonb language sql stable security definer set search_path = public as $$
    select coalesce(jsonb_object_agg(gpu ->> 'gpu_uuid', gpu -> 'reset'), '{}')
    from nodes, jsonb_array_elements(coalesce(facts -> 'gpus', '[]')) gpu
    where id = node and jsonb_typeof(gpu -> 'reset') = 'object'
$$;
revoke execute on function gpu_resets(text) from public;
grant execute on function gpu_resets(text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
