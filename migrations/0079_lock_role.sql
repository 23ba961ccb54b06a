-- Whoever lets a person in locks the person's roles first and reads them again under the lock. A removal or demotion then
-- either waits and renders the new key, or has committed and the person is not let in.
set role gpuaas_owner;

create function lock_role(person text, project text) returns boolean
    language plpgsql volatile security definer set search_path = public as $$
begin
    perform from project_members m where m.project_id = project and m.user_id = person for share;
    perform from tenant_members t where t.user_id = person
        and t.tenant_id = (select p.tenant_id from projects p where p.id = project) for share;
    return works_in(person, project);
end $$;
revoke execute on function lock_role(text, text) from public;
grant execute on function lock_role(text, text) to gpuaas_api, gpuaas_worker;

-- Keys that were left behind before: every key set that admits somebody who does not work in the project.
select render_keyset(found.id) from (
    select distinct a.id from allocation_keysets k join allocations a on a.id = k.allocation_id,
        unnest(array(select key ->> 'user_id' from jsonb_array_elements(k.body) key) || array[k.admits_own_by]) as person
    where a.status not in ('released', 'failed') and person is not null and not works_in(person, a.project_id)
) found;
