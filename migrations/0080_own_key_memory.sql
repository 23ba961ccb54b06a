-- What an own key file refuses is remembered. A refused key stays refused until the file is allowed again or a person who may
-- enter has the key; removing it from an account changes nothing. Only keys of people who are or were in the tenant are
-- refused: anybody can register anybody's public key, so an account of a stranger decides about no file.
set role gpuaas_owner;

create table tenant_people (                                    -- everybody who ever had a role in the tenant
    tenant_id text not null references tenants on delete cascade,
    user_id text not null references users on delete cascade,
    primary key (tenant_id, user_id)
);
alter table tenant_people enable row level security;
create policy worker on tenant_people to gpuaas_worker using (true);
grant select on tenant_people to gpuaas_worker;

insert into tenant_people
select tenant_id, user_id from tenant_members
union select tenant_id, user_id from project_members
union select tenant_id, user_id from access_grants
union select tenant_id, holder_id from allocations
union select a.tenant_id, u.id from audit a join users u on u.id = a.facts ->> 'user'
    where a.action in ('member.leave', 'member.remove', 'member.change') and a.tenant_id is not null;

create function note_person() returns trigger language plpgsql security definer set search_path = public as $$
begin
    insert into tenant_people (tenant_id, user_id) values (new.tenant_id, new.user_id) on conflict do nothing;
    return null;
end $$;
create trigger note_person after insert on tenant_members for each row execute function note_person();
create trigger note_person after insert on project_members for each row execute function note_person();

create or replace function render_keyset(allocation text) returns void
    language plpgsql volatile security definer set search_path = public as $$
declare
    rendered jsonb;
    admitted boolean;
    allowed_by text;
    refused text[];
begin
    perform from allocation_keysets k where k.allocation_id = allocation for update;
    with wanted as (
        select k.*, a.holder_id <> k.user_id as granted, key_ends_at(k.token_id) as ends_at
        from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id join allocations a on a.id = c.allocation_id
        where c.allocation_id = allocation and 'hold' = any (allocation_rights(k.user_id, allocation))
        union all
        select k.*, true, least(g.expires_at, key_ends_at(k.token_id))
        from access_grants g join ssh_keys k on k.id = g.ssh_key_id
        where g.allocation_id = allocation and g.status = 'active' and works_in(k.user_id, g.project_id)
    ), once as (
        select distinct on (w.blob) w.* from wanted w where coalesce(w.ends_at, 'infinity') > '-infinity'
        order by w.blob, w.granted, w.ends_at desc nulls first, w.id
    )
    select coalesce(jsonb_agg(jsonb_build_object('type', type, 'blob', blob, 'fingerprint', fingerprint,
        'user_id', user_id, 'granted', granted, 'ends_at', ends_at) order by granted, id), '[]')
    into rendered from once;

    -- A suspension keeps the permission, which admits nobody meanwhile; every other loss of the hold ends it.
    select k.admits_own_by is not null and 'hold' = any (allocation_rights(k.admits_own_by, allocation)), k.admits_own_by
    into admitted, allowed_by from allocation_keysets k where k.allocation_id = allocation;
    if not admitted and not is_suspended(allocation)
            and not exists (select from users u where u.id = allowed_by and u.suspended_at is not null) then
        allowed_by := null;
    end if;
    select coalesce(array_agg(known.fingerprint order by known.fingerprint), '{}') into refused from (
        select unnest(k.refused_own) as fingerprint from allocation_keysets k where k.allocation_id = allocation
        union select g.key_fingerprint from access_grants g
            where g.allocation_id = allocation and g.key_fingerprint is not null
        union select s.fingerprint from access_grants g join ssh_keys s on s.user_id = g.user_id
            where g.allocation_id = allocation
        union select s.fingerprint
            from allocation_keysets k join ssh_keys s on s.fingerprint = any (k.own_keys)
                join tenant_people p on p.tenant_id = k.tenant_id and p.user_id = s.user_id
            where k.allocation_id = allocation
    ) known
    where allowed_by is not null and not exists (select from ssh_keys o where o.fingerprint = known.fingerprint
        and 'enter' = any (allocation_rights(o.user_id, allocation)));

    update allocation_keysets k set body = rendered, admits_own = admitted, admits_own_by = allowed_by, refused_own = refused,
        own_keys = case when admitted then k.own_keys else '{}' end,
        own_keys_at = case when admitted then k.own_keys_at end, generation = generation + 1
    where k.allocation_id = allocation
        and (k.body, k.admits_own, k.admits_own_by, k.refused_own) is distinct from (rendered, admitted, allowed_by, refused);
end $$;

revoke execute on function note_person() from public;
