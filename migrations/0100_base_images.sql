-- Base images: what an allocation started from, and what new ones of a node start from, as the node reported it last.
set role gpuaas_owner;
alter table allocations add column image jsonb;
alter table nodes add column image jsonb; -- null: its agent did not report any
