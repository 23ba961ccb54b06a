-- Environments that a node has prepared in advance, as it reported them last. They belong to nobody and hold no slot.
set role gpuaas_owner;
alter table nodes add column spares jsonb;
