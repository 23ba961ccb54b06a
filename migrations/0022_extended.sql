-- Whoever extends a machine says that it is wanted: its idle clock starts over.
set role gpuaas_owner;

alter table allocations add column extended_at timestamptz;
