-- no transaction

set role gpuaas_owner

create index concurrently if not exists cleanup_proofs_at on cleanup_proofs (at)
