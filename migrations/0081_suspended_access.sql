-- A suspension reaches all that its person opened: break-glass access, and the own key files that they allowed.
set role gpuaas_owner;

create or replace function has_broken_glass(person text, allocation text) returns boolean
    language sql stable security definer set search_path = public as $$
    select exists (select from break_glass b join users u on u.id = b.user_id
        where b.allocation_id = allocation and b.user_id = person and b.ended_at is null
            and b.expires_at > clock_timestamp() and u.platform_role is not null and u.suspended_at is null)
$$;

-- Until when a person may be in a terminal of an allocation by break-glass access alone; null when other access lets them in.
create function glass_ends_at(person text, allocation text) returns timestamptz
    language sql stable security definer set search_path = public as $$
    select max(b.expires_at) from break_glass b
    where b.allocation_id = allocation and b.user_id = person and b.ended_at is null
        and not 'enter' = any (allocation_rights(person, allocation))
$$;
revoke execute on function glass_ends_at(text, text) from public;
grant execute on function glass_ends_at(text, text) to gpuaas_worker;

-- As before; of a person, every allocation that `render_keysets_of` would render.
create or replace function apply_suspension(kind text, subject text, at timestamptz, why text)
    returns table (allocation_id text, project_id text, terminal_id text, node_id text)
    language plpgsql volatile security definer set search_path = public as $$
declare machine record;
begin
    if not fence_is_operator() then raise insufficient_privilege; end if;
    for machine in
        select a.id, a.project_id, a.node_id from allocations a
        where a.status not in ('released', 'failed') and case kind
            when 'tenant' then a.tenant_id = subject
            when 'project' then a.project_id = subject
            else a.holder_id = subject
                or exists (select from access_grants g where g.allocation_id = a.id and g.user_id = subject)
                or exists (select from allocation_keys c join ssh_keys k on k.id = c.ssh_key_id
                    where c.allocation_id = a.id and k.user_id = subject)
                or exists (select from allocation_keysets s
                    where s.allocation_id = a.id and s.admits_own_by = subject) end
        order by a.id
    loop
        perform render_keyset(machine.id);
        update allocation_keysets s set generation = s.generation + 1 where s.allocation_id = machine.id;
        return query select machine.id, machine.project_id, null::text, null::text;
    end loop;
    return query update terminals x set closed_at = at, reason = why, attached = false
        where x.closed_at is null and case kind when 'tenant' then x.tenant_id = subject
            when 'project' then x.project_id = subject else x.user_id = subject end
            and not 'enter' = any (allocation_rights(x.user_id, x.allocation_id))
        returning x.allocation_id, x.project_id, x.id, x.node_id;
end $$;
