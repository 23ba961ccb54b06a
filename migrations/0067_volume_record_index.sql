-- no transaction
-- Volumes whose record on disk has to be written again.

set role gpuaas_owner

create index concurrently if not exists volumes_stale on volumes (id) where record_stale_since is not null
