-- Usage intervals: what ran, how much of it, at which rate, from when to when. A resize, a pause or a restart adds an
-- interval and overwrites nothing. The transition of a resource writes them; a ledger only reads them.
set role gpuaas_owner;

create table usage_intervals (
    id bigint generated always as identity primary key,
    tenant_id text not null,
    project_id text not null,
    resource_kind text not null,
    resource_id text not null,
    source text not null, -- what was used: `allocation`; later also apps
    unit text not null, -- what is counted: `gpu`
    quantity bigint not null check (quantity > 0),
    price_id text not null,
    rate_minor bigint not null check (rate_minor >= 0), -- for one unit and hour
    currency text not null,
    started timestamptz not null,
    ended timestamptz check (ended >= started), -- null while it runs
    evidence text not null default 'transition' check (evidence in ('transition', 'timeline', 'row'))
);
create index usage_intervals_resource on usage_intervals (resource_id, started);

-- No two intervals of one resource, source and unit overlap. Without btree_gist, GiST cannot compare a text and a time in
-- one constraint, so both are one point of one range type: ranges of different resources can never overlap. Checked at
-- commit, so that one statement may close an interval and open the next.
create type usage_point as (resource text collate "C", at timestamptz);
create type usage_span as range (subtype = usage_point);
alter table usage_intervals add constraint usage_intervals_no_overlap exclude using gist (usage_span(
    row(resource_kind || ' ' || resource_id || ' ' || source || ' ' || unit, started)::usage_point,
    row(resource_kind || ' ' || resource_id || ' ' || source || ' ' || unit, coalesce(ended, 'infinity'))::usage_point
) with &&) deferrable initially deferred;

create function keep_usage() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        raise exception 'a usage interval is never deleted' using errcode = 'restrict_violation';
    elsif old.ended is not null then
        raise exception 'a closed usage interval is never changed' using errcode = 'restrict_violation';
    elsif (old.id, old.tenant_id, old.project_id, old.resource_kind, old.resource_id, old.source, old.unit, old.quantity,
            old.price_id, old.rate_minor, old.currency, old.started, old.evidence) is distinct from
            (new.id, new.tenant_id, new.project_id, new.resource_kind, new.resource_id, new.source, new.unit, new.quantity,
            new.price_id, new.rate_minor, new.currency, new.started, new.evidence) then
        raise exception 'of a usage interval only the end is written later' using errcode = 'restrict_violation';
    end if;
    return new;
end $$;
create trigger append_only before update or delete on usage_intervals for each row execute function keep_usage();

alter table usage_intervals enable row level security;
create policy tenant on usage_intervals to gpuaas_api using (tenant_id = any (fence_tenants()));
create policy operator on usage_intervals to gpuaas_operator using (fence_is_operator());
create policy worker on usage_intervals to gpuaas_worker using (true);
grant select, insert, update (ended) on usage_intervals to gpuaas_api, gpuaas_operator, gpuaas_worker;
grant usage on all sequences in schema public to gpuaas_api, gpuaas_operator, gpuaas_worker;

-- The intervals that the timeline of an allocation proves. Entries are read in the order they were written; a pause tells
-- its time in the past. The row proves the first activation, if retention has deleted that entry, and the last end.
-- Past sizes: the first is told by the first `resized` entry, the others by the audit row of the resize.
create function proven_usage(allocation text) returns table (
    quantity bigint, price_id text, rate_minor bigint, started timestamptz, ended timestamptz, evidence text
) language plpgsql stable security definer set search_path = public as $$
declare
    a allocations;
    event record;
    last_resize bigint;
    last_start bigint;
begin
    select * into a from allocations where id = allocation;
    if a.active_at is null then return; end if;
    select coalesce(max(t.id), 0) into last_start from timeline_entries t
    where t.subject_id = allocation and t.subject_kind = 'allocation'
        and t.phase in ('active', 'adopted', 'billing_resumed');
    select max(t.id) into last_resize from timeline_entries t
    where t.subject_id = allocation and t.subject_kind = 'allocation' and t.phase = 'resized';
    quantity := a.gpu_count;
    price_id := a.price_id;
    if last_resize is not null then
        select substring(t.evidence ->> 'from' from '^\d+')::bigint into quantity from timeline_entries t
        where t.subject_id = allocation and t.subject_kind = 'allocation' and t.phase = 'resized' order by t.id limit 1;
        select p.id into price_id from prices p join skus k on k.key = p.sku_key
        where k.sku = a.sku and p.currency = a.currency and p.valid @> a.created_at limit 1;
        quantity := coalesce(quantity, a.gpu_count);
        price_id := coalesce(price_id, a.price_id);
    end if;
    for event in
        select t.id, t.at, t.phase, 'timeline' as proof from timeline_entries t
        where t.subject_id = allocation and t.subject_kind = 'allocation' and t.phase in ('active', 'adopted',
            'billing_paused', 'billing_resumed', 'resized', 'restart_failed', 'failed', 'releasing', 'release_failed',
            'released')
        union all
        select 0, a.active_at, 'active', 'row' where not exists (
            select from timeline_entries t where t.subject_id = allocation and t.subject_kind = 'allocation'
                and (t.phase = 'adopted' or (t.phase = 'active' and t.at = a.active_at)))
        order by 1
    loop
        case
        when event.phase in ('active', 'adopted', 'billing_resumed') then
            if started is null then
                started := event.at;
                evidence := event.proof;
            end if;
        when event.phase = 'resized' then
            if started < event.at then
                select p.amount_minor into rate_minor from prices p where p.id = price_id;
                ended := event.at;
                return next;
                started := event.at;
                evidence := 'timeline';
            end if;
            if event.id = last_resize then
                quantity := a.gpu_count;
                price_id := a.price_id;
            else
                select coalesce((r.facts ->> 'gpu_count')::bigint, quantity), coalesce(r.facts ->> 'price_id', price_id)
                into quantity, price_id
                from (values (1)) one left join (
                    select u.facts from audit u
                    where u.target_id = allocation and u.action = 'allocation.resize' and u.at <= event.at
                    order by u.id desc limit 1) r on true;
            end if;
        else
            if started is not null then
                select p.amount_minor into rate_minor from prices p where p.id = price_id;
                ended := greatest(started, case when event.id > last_start
                    then coalesce(a.billing_stopped_at, event.at) else event.at end);
                return next;
                started := null;
            end if;
        end case;
    end loop;
    if started is not null then
        select p.amount_minor into rate_minor from prices p where p.id = price_id;
        ended := case when a.billing_stopped_at is not null then greatest(started, a.billing_stopped_at) end;
        return next;
    end if;
end $$;
revoke execute on function proven_usage(text) from public;

-- Adds and closes what the timeline proves. What stands closed already is kept, and nothing overlaps it.
create function prove_usage(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare
    a allocations;
    proven record;
begin
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
end $$;
revoke execute on function prove_usage(text) from public;

-- Replicas of the landing before this one change allocations without writing intervals. Where the intervals do not
-- follow the row when a transaction commits, they are proven from its timeline. Goes when `billing_stopped_at` goes.
create function follow_usage() returns trigger
    language plpgsql volatile security definer set search_path = public as $$
declare
    a allocations;
    is_billed boolean;
    running bigint;
    fitting bigint;
begin
    select * into a from allocations where id = new.id;
    is_billed := a.status in ('active', 'restarting') and a.active_at is not null and a.billing_stopped_at is null;
    select count(*), count(*) filter (where u.quantity = a.gpu_count and u.price_id = a.price_id) into running, fitting
    from usage_intervals u where u.resource_kind = 'allocation' and u.resource_id = a.id and u.ended is null;
    if (is_billed and (running, fitting) <> (1, 1)) or (not is_billed and running > 0) then
        perform prove_usage(a.id);
    end if;
    return null;
end $$;
revoke execute on function follow_usage() from public;
create constraint trigger usage_follows_update after update on allocations deferrable initially deferred for each row
    when (old.status <> new.status or old.billing_stopped_at is distinct from new.billing_stopped_at
        or old.price_id <> new.price_id or old.gpu_count <> new.gpu_count)
    execute function follow_usage();
create constraint trigger usage_follows_insert after insert on allocations deferrable initially deferred for each row
    when (new.status = 'active') execute function follow_usage();
