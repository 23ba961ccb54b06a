-- Whoever makes a local volume looks for a node that lacks nothing: one that does refuses every task.
set role gpuaas_owner;

grant select (is_capable) on nodes to gpuaas_api;
