-- no transaction
-- The latest refusals of a person, which limit how many rows they can add.

set role gpuaas_owner

create index concurrently if not exists audit_denials_recent on audit (actor, action, id) where result = 'denied'
