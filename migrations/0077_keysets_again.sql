-- Whoever had a node's key may have answered for key sets that the node never got. Once it is settled who the node is,
-- the key sets of its allocations are due again, each with a new generation.
set role gpuaas_owner;

create function install_keysets_again(node text) returns void
    language sql volatile security definer set search_path = public as $$
    update allocation_keysets k set generation = k.generation + 1
    from allocations a where a.id = k.allocation_id and a.node_id = node and a.cleanup_proven_at is null
$$;
revoke execute on function install_keysets_again(text) from public;
grant execute on function install_keysets_again(text) to gpuaas_operator, gpuaas_worker;
