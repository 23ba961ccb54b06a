-- A bundle can be taken off a node again; what was looked for afterwards is kept with its row.
set role gpuaas_owner;

alter table node_bundles drop constraint node_bundles_status_check;
alter table node_bundles add constraint node_bundles_status_check
    check (status in ('staging', 'staged', 'failed', 'removing', 'removed'));
alter table node_bundles add column proofs jsonb not null default '[]';
drop index node_bundles_unsettled;
create index node_bundles_unsettled on node_bundles (id) where status in ('staging', 'removing');
