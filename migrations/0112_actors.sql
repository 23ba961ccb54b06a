-- no transaction
-- Whoever acts is a principal: a row of the audit log or a timeline that names nobody is refused. A check instead of a
-- foreign key, because every worker acts as `system`, and a foreign key would lock that one row in all their transactions.

set role gpuaas_owner

create or replace function check_actor() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if not exists (select from principals p where p.id = new.actor) then
        raise exception 'the actor % is not a principal', new.actor using errcode = 'foreign_key_violation';
    end if;
    return new;
end $$

revoke execute on function check_actor() from public

create or replace trigger check_actor before insert on audit for each row execute function check_actor()

create or replace trigger check_actor before insert on timeline_entries for each row execute function check_actor()
