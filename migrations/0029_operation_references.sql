-- Deleting an operation by its age looked for its id in these tables row by row, without an index. A row copies the
-- operation that was started in its own transaction, and what a row names is never deleted.
set role gpuaas_owner;

alter table allocation_runtimes drop constraint allocation_runtimes_operation_id_fkey;
alter table node_bundles drop constraint node_bundles_operation_id_fkey;
alter table session_ends drop constraint session_ends_operation_id_fkey;
