-- no transaction
-- Adds the intervals of existing allocations that their timeline and row prove. The proof takes about a millisecond and a
-- row lock for each, so it runs in short transactions; after a crash it skips allocations that are proven, without locks.

set role gpuaas_owner

create or replace function prove_usage(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare
    a allocations;
    proven record;
    is_billed boolean;
    known bigint;
    running bigint;
    fitting bigint;
begin
    select * into a from allocations where id = allocation;
    is_billed := a.status in ('active', 'restarting') and a.active_at is not null and a.billing_stopped_at is null;
    select count(*), count(*) filter (where u.ended is null),
        count(*) filter (where u.ended is null and u.quantity = a.gpu_count and u.price_id = a.price_id)
    into known, running, fitting
    from usage_intervals u where u.resource_kind = 'allocation' and u.resource_id = allocation;
    if (is_billed and (running, fitting) = (1, 1)) or (not is_billed and known > 0 and running = 0) then return; end if;
    select * into a from allocations where id = allocation for no key update;
    for proven in select * from proven_usage(allocation) loop
        update usage_intervals u set ended = proven.ended
        where u.resource_kind = 'allocation' and u.resource_id = allocation and u.started = proven.started
            and u.ended is null and proven.ended is not null;
        insert into usage_intervals (tenant_id, project_id, resource_kind, resource_id, source, unit, quantity, price_id,
            rate_minor, currency, started, ended, evidence)
        select a.tenant_id, a.project_id, 'allocation', a.id, 'allocation', 'gpu', proven.quantity, proven.price_id,
            proven.rate_minor, a.currency, proven.started, proven.ended, proven.evidence
        where proven.started < coalesce(proven.ended, 'infinity') and not exists (
            select from usage_intervals u where u.resource_kind = 'allocation' and u.resource_id = allocation
                and tstzrange(u.started, u.ended) && tstzrange(proven.started, proven.ended));
    end loop;
end $$

do $$
declare batch text[];
    last text := '';
    is_known boolean := false;
begin
    loop
        select array_agg(found.id order by found.id) into batch from (
            select id from allocations where active_at is not null and id > last order by id limit 100) found;
        exit when batch is null;
        perform prove_usage(id) from unnest(batch) as id order by id;
        last := batch[array_length(batch, 1)];
        commit;
        if not is_known then -- plans made for an empty table would read all of it for each allocation
            analyze usage_intervals;
            is_known := true;
        end if;
    end loop;
end $$
