-- Nobody calls this function of 0066 but its trigger.
set role gpuaas_owner;

revoke execute on function refuse_second_writer() from public;
