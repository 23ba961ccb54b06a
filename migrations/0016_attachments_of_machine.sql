-- Everything that was ever attached to one machine: its page lists it, and a failed one is asked for again with it.
set role gpuaas_owner;
create index storage_attachments_allocation on storage_attachments (allocation_id, id);
