-- The intervals of allocations that exist already, as far as their timeline and row prove them.
set role gpuaas_owner;
select prove_usage(id) from allocations where active_at is not null order by id;
