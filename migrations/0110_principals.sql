-- Principals: everybody and everything that acts. A user's principal has the user's id. Rows that say who acted, who holds
-- or who called refer to this table; sign-ins, passwords and invitations stay with users.
set role gpuaas_owner;

create table principals (
    id text primary key,
    kind text not null check (kind in ('user', 'service_account', 'node', 'system')),
    name text not null,
    suspended_at timestamptz,
    created_at timestamptz not null
);
alter table principals enable row level security;
create policy operator on principals for select to gpuaas_operator using (fence_is_operator());
create policy worker on principals for select to gpuaas_worker using (true);
grant select on principals to gpuaas_operator, gpuaas_worker;

-- The one writer of principals of users and nodes, in the statement that writes the user or the node. Servers of the
-- previous version insert users without knowing of principals.
create function keep_user_principal() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if tg_op = 'INSERT' then
        insert into principals (id, kind, name, suspended_at, created_at)
        values (new.id, 'user', new.email, new.suspended_at, new.created_at);
    else
        update principals p set name = new.email, suspended_at = new.suspended_at where p.id = new.id;
    end if;
    return new;
end $$;
create function keep_node_principal() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if tg_op = 'INSERT' then
        insert into principals (id, kind, name, created_at) values (new.id, 'node', new.name, new.created_at);
    else
        update principals p set name = new.name where p.id = new.id;
    end if;
    return new;
end $$;
create trigger keep_principal before insert or update of email, suspended_at on users
    for each row execute function keep_user_principal();
create trigger keep_principal before insert or update of name on nodes
    for each row execute function keep_node_principal();

insert into principals (id, kind, name, suspended_at, created_at)
select id, 'user', email, suspended_at, created_at from users
union all
select id, 'node', name, null, created_at from nodes;
insert into principals (id, kind, name, created_at)
select id, 'system', id, clock_timestamp() from unnest(array['system', 'platform', 'anonymous']) as id
on conflict do nothing;

-- Rows of principals stay for good: a check when a row is inserted is as strong as a foreign key, and takes no lock.
create function keep_principals() returns trigger language plpgsql as $$
begin
    raise exception 'principals are never deleted and keep their id' using errcode = 'restrict_violation';
end $$;
create trigger keep_principals before delete or update of id on principals
    for each row execute function keep_principals();

revoke execute on function keep_user_principal() from public;
revoke execute on function keep_node_principal() from public;
