-- Volumes, snapshots, what is attached where, and the backends that hold them.
set role gpuaas_owner;

create table storage_backends (
    backend text primary key,
    title text not null,
    durability text not null check (durability in ('shared', 'node_bound')),
    capabilities text[] not null
);
insert into storage_backends values
    ('shared', 'A folder that every node mounts', 'shared', '{read_write,read_only,multi_writer,snapshots}'),
    ('local', 'The disk of one node', 'node_bound', '{read_write,read_only,multi_writer,snapshots,hard_quota}');

-- What a backend declares it can do is believed only after a run that passed.
create table storage_conformance_runs (
    id text primary key,
    backend text not null references storage_backends,
    node_id text not null references nodes,
    requested_by text not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    passed boolean,
    reason text not null default '',
    checks jsonb not null default '[]'
);
create index storage_conformance_newest on storage_conformance_runs (backend, id);

create table volumes (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    name text not null,
    size_gib int not null check (size_gib > 0),
    backend text not null references storage_backends,
    write_policy text not null check (write_policy in ('single_writer', 'multi_writer')),
    durability text not null check (durability in ('shared', 'node_bound')),
    node_id text references nodes,
    status text not null check (status in ('creating', 'available', 'failed', 'deleting', 'delete_failed', 'deleted')),
    status_since timestamptz not null,
    status_reason text not null default '',
    version int not null default 1,
    operation_id text not null,
    protected boolean not null default false,
    quota text not null default 'measured' check (quota in ('enforced', 'measured')),
    used_bytes bigint,
    used_at timestamptz,
    snapshot_id text,
    created_at timestamptz not null,
    created_by text not null references users,
    deleted_at timestamptz,
    deletion_proofs jsonb not null default '[]',
    check ((durability = 'node_bound') = (node_id is not null)),
    unique (id, write_policy)
);
create unique index volumes_name on volumes (project_id, name) where status <> 'deleted';
create index volumes_project on volumes (project_id, id);
create index volumes_unsettled on volumes (id) where status in ('creating', 'deleting');
create index volumes_node on volumes (node_id) where node_id is not null and status <> 'deleted';

create table volume_snapshots (
    id text primary key,
    volume_id text not null references volumes,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    name text not null,
    status text not null check (status in ('creating', 'ready', 'failed', 'deleting', 'deleted')),
    status_since timestamptz not null,
    status_reason text not null default '',
    version int not null default 1,
    operation_id text not null,
    size_bytes bigint,
    consistency text not null default '',
    created_at timestamptz not null,
    created_by text not null references users
);
create unique index volume_snapshots_name on volume_snapshots (volume_id, name) where status <> 'deleted';
create index volume_snapshots_unsettled on volume_snapshots (id) where status in ('creating', 'deleting');
alter table volumes add foreign key (snapshot_id) references volume_snapshots;

create table storage_attachments (
    id text primary key,
    tenant_id text not null references tenants,
    project_id text not null references projects,
    allocation_id text not null references allocations,
    volume_id text not null references volumes,
    write_policy text not null,
    mount_path text not null check (mount_path ~ '^/' and mount_path !~ '//|/\.|/$'),
    access_mode text not null check (access_mode in ('read_only', 'read_write')),
    status text not null check (status in ('attaching', 'attached', 'detaching', 'detach_failed', 'detached', 'failed')),
    status_since timestamptz not null,
    status_reason text not null default '',
    version int not null default 1,
    operation_id text not null,
    forced boolean not null default false,
    observed_boot int not null default 0,
    observed_at timestamptz,
    created_at timestamptz not null,
    created_by text not null,
    foreign key (volume_id, write_policy) references volumes (id, write_policy)
);
-- One writer, whatever anybody believes: one that is lost counts until its machine is proven gone.
create unique index storage_attachments_one_writer on storage_attachments (volume_id)
    where access_mode = 'read_write' and write_policy = 'single_writer' and status not in ('detached', 'failed');
create unique index storage_attachments_path on storage_attachments (allocation_id, mount_path)
    where status not in ('detached', 'failed');
create unique index storage_attachments_once on storage_attachments (allocation_id, volume_id)
    where status not in ('detached', 'failed');
create index storage_attachments_volume on storage_attachments (volume_id);
create index storage_attachments_live on storage_attachments (allocation_id) where status not in ('detached', 'failed');

do $$
declare name text;
begin
    foreach name in array array['volumes', 'volume_snapshots', 'storage_attachments'] loop
        execute format('create policy tenant on %I to gpuaas_api using (tenant_id = any (fence_tenants()))', name);
    end loop;
    foreach name in array array['storage_backends', 'storage_conformance_runs'] loop
        execute format('create policy signed_in on %I for select to gpuaas_api using (fence_user() <> '''')', name);
    end loop;
    foreach name in array array['volumes', 'volume_snapshots', 'storage_attachments', 'storage_backends',
        'storage_conformance_runs'] loop
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('alter table %I enable row level security', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
    end loop;
end $$;
grant select, insert, update on volumes, volume_snapshots, storage_attachments to gpuaas_api;
grant select on storage_backends, storage_conformance_runs to gpuaas_api;
grant select on volumes, volume_snapshots, storage_attachments, storage_backends, storage_conformance_runs
    to gpuaas_operator;
grant insert on storage_conformance_runs, node_tasks to gpuaas_operator;

-- An overlay holds a machine from the moment it is wanted there.
create policy hold on holds for insert to gpuaas_api with check (allocation_id in (select id from allocations));
grant insert on holds to gpuaas_api;
create index node_tasks_alone on node_tasks (lane, id) where allocation_id is null;
