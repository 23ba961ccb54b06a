-- Disk that is sold on each node: root disks, node-bound volumes and their snapshots. Counted by triggers that run when a
-- transaction commits, as quotas are, so that requests at once never sell more than the node has.
set role gpuaas_owner;

create table node_disks (
    node_id text primary key references nodes,
    size_gib bigint, -- as the node reported last; null: it reported none, and disk is not counted there
    free_gib bigint,
    reported_at timestamptz,
    overcommit numeric(4, 2) not null default 1 check (overcommit between 1 and 10),
    sold_gib bigint not null default 0
) with (fillfactor = 25);

-- 5 % of the disk is not sold: the agent and the images need some of it, and a file system that is full is slow.
create function disk_for_sale(size_gib bigint, overcommit numeric) returns bigint language sql immutable as $$
    select floor((size_gib - ceil(size_gib * 0.05)) * overcommit)::bigint
$$;
-- A node that sells more than it has stops before its disk is full: at less than 10 % of free space.
create function disk_is_low(size_gib bigint, free_gib bigint, overcommit numeric) returns boolean language sql immutable as $$
    select coalesce(overcommit > 1 and free_gib < ceil(size_gib * 0.1), false)
$$;

alter table resizes add column added_disk_gib bigint not null default 0;

-- What is sold as the rows themselves say it; the counters must always equal it.
create view node_disk_truth with (security_invoker) as
    select node_id, sum(gib)::bigint as sold_gib from (
        select node_id, disk_gib as gib from allocations where cleanup_proven_at is null
        union all
        select a.node_id, r.added_disk_gib from resizes r join allocations a on a.id = r.allocation_id
        union all
        select node_id, size_gib from volumes where node_id is not null and status <> 'deleted'
        union all
        select v.node_id, s.size_gib from volume_snapshots s join volumes v on v.id = s.volume_id
        where v.node_id is not null and s.status <> 'deleted'
    ) as sold
    group by node_id;
lock table allocations, resizes, volumes, volume_snapshots in share row exclusive mode;
insert into node_disks (node_id, sold_gib)
select n.id, coalesce(t.sold_gib, 0) from nodes n left join node_disk_truth t on t.node_id = n.id;

create function add_node_disk() returns trigger language plpgsql security definer set search_path = public as $$
begin
    insert into node_disks (node_id) values (new.id) on conflict do nothing;
    return null;
end $$;
create trigger add_disk after insert on nodes for each row execute function add_node_disk();

-- What people ask for is refused; what operators and workers have to write (adoption, the end of a resize) only counts.
create function count_disk(node text, added bigint) returns void language plpgsql as $$
declare now_sold node_disks;
begin
    if node is null or added = 0 then return; end if;
    insert into node_disks as d (node_id, sold_gib) values (node, added)
    on conflict (node_id) do update set sold_gib = d.sold_gib + excluded.sold_gib returning * into now_sold;
    if added > 0 and current_setting('role') = 'gpuaas_api'
        and (now_sold.sold_gib > disk_for_sale(now_sold.size_gib, now_sold.overcommit)
            or disk_is_low(now_sold.size_gib, now_sold.free_gib, now_sold.overcommit)) then
        raise exception 'no disk is left on %', node using errcode = 'GD001';
    end if;
end $$;

create function count_root_disk() returns trigger language plpgsql security definer set search_path = public as $$
declare before bigint := 0; after bigint := 0;
begin
    if tg_op <> 'INSERT' and old.cleanup_proven_at is null then before := old.disk_gib; end if;
    if tg_op <> 'DELETE' and new.cleanup_proven_at is null then after := new.disk_gib; end if;
    perform count_disk(coalesce(new.node_id, old.node_id), after - before);
    if after = 0 and before > 0 then -- a resize that never ended ends with its allocation
        update resizes set added_disk_gib = 0 where allocation_id = old.id and added_disk_gib > 0;
    end if;
    return null;
end $$;
create constraint trigger count_root_disk_new after insert or delete on allocations
    deferrable initially deferred for each row execute function count_root_disk();
create constraint trigger count_root_disk_change after update of cleanup_proven_at, disk_gib on allocations
    deferrable initially deferred for each row
    when ((old.cleanup_proven_at is null) is distinct from (new.cleanup_proven_at is null)
        or old.disk_gib <> new.disk_gib)
    execute function count_root_disk();

create function weigh_resized_disk() returns trigger language plpgsql security definer set search_path = public as $$
begin
    select greatest(new.disk_gib - a.disk_gib, 0) into new.added_disk_gib from allocations a where a.id = new.allocation_id;
    return new;
end $$;
create trigger weigh_disk before insert or update of disk_gib on resizes
    for each row execute function weigh_resized_disk();
create function count_resized_disk() returns trigger language plpgsql security definer set search_path = public as $$
declare before bigint := 0; after bigint := 0;
begin
    if tg_op <> 'INSERT' then before := old.added_disk_gib; end if;
    if tg_op <> 'DELETE' then after := new.added_disk_gib; end if;
    perform count_disk((select node_id from allocations where id = coalesce(new.allocation_id, old.allocation_id)),
        after - before);
    return null;
end $$;
create constraint trigger count_disk after insert or update or delete on resizes
    deferrable initially deferred for each row execute function count_resized_disk();

create function count_volume_disk() returns trigger language plpgsql security definer set search_path = public as $$
declare gib bigint := 0;
begin
    if tg_op <> 'INSERT' and old.status <> 'deleted' then gib := -old.size_gib; end if;
    if tg_op <> 'DELETE' and new.status <> 'deleted' then gib := gib + new.size_gib; end if;
    perform count_disk(coalesce(new.node_id, old.node_id), gib);
    return null;
end $$;
create constraint trigger count_disk_new after insert or delete on volumes
    deferrable initially deferred for each row execute function count_volume_disk();
create constraint trigger count_disk_change after update of status, size_gib on volumes
    deferrable initially deferred for each row
    when ((old.status = 'deleted') <> (new.status = 'deleted') or old.size_gib <> new.size_gib)
    execute function count_volume_disk();

create function count_snapshot_disk() returns trigger language plpgsql security definer set search_path = public as $$
declare gib bigint := 0;
begin
    if tg_op <> 'INSERT' and old.status <> 'deleted' then gib := -old.size_gib; end if;
    if tg_op <> 'DELETE' and new.status <> 'deleted' then gib := gib + new.size_gib; end if;
    perform count_disk((select node_id from volumes where id = coalesce(new.volume_id, old.volume_id)), gib);
    return null;
end $$;
create constraint trigger count_disk_new after insert or delete on volume_snapshots
    deferrable initially deferred for each row execute function count_snapshot_disk();
create constraint trigger count_disk_change after update of status on volume_snapshots
    deferrable initially deferred for each row when ((old.status = 'deleted') <> (new.status = 'deleted'))
    execute function count_snapshot_disk();

-- How much a node can still sell; null: disk is not counted there. Anybody signed in may ask, as for its slots.
create function disk_left(disk node_disks) returns bigint language sql immutable as $$
    select case when disk.size_gib is null then null when disk_is_low(disk.size_gib, disk.free_gib, disk.overcommit) then 0
        else greatest(disk_for_sale(disk.size_gib, disk.overcommit) - disk.sold_gib, 0) end
$$;
create function disk_left(node text) returns bigint
    language sql stable security definer set search_path = public as $$
    select disk_left(d) from node_disks d where node_id = node
$$;

alter table node_disks enable row level security;
create policy operator on node_disks to gpuaas_operator using (fence_is_operator());
create policy worker on node_disks to gpuaas_worker using (true);
grant select, insert, update on node_disks to gpuaas_worker;
grant select on node_disks to gpuaas_operator;
grant update (overcommit) on node_disks to gpuaas_operator;
grant select on node_disk_truth to gpuaas_worker;
do $$
declare name text;
begin
    foreach name in array array['add_node_disk()', 'count_disk(text, bigint)', 'count_root_disk()', 'weigh_resized_disk()',
        'count_resized_disk()', 'count_volume_disk()', 'count_snapshot_disk()', 'disk_left(text)'] loop
        execute format('revoke execute on function %s from public', name);
    end loop;
end $$;
grant execute on function disk_left(text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
