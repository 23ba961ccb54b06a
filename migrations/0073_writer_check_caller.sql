-- Only the trigger calls it.
set role gpuaas_owner;
revoke execute on function refuse_second_writer() from public;
