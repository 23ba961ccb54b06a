-- A project may have every terminal on its machines recorded; who opens one is told so first.
set role gpuaas_owner;

alter table projects add column record_terminals boolean not null default false;
grant update (record_terminals) on projects to gpuaas_api;
