-- no transaction
-- Indexes of the sealer and of the audit log of a tenant.

set role gpuaas_owner

create index concurrently if not exists audit_order on audit (epoch, xid, id)

create index concurrently if not exists audit_tenant on audit (tenant_id, id)
