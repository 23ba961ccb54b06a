-- A person ends a terminal from the list of who is in, as they end any other session.
set role gpuaas_owner;

grant update (closed_at, reason, exit_code, attached) on terminals to gpuaas_api;
