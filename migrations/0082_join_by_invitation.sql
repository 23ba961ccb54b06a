-- A person who signs up with an invitation accepts it in the transaction that adds their account, as the worker role.
set role gpuaas_owner;

create function join_by_invitation(secret bytea, person text, at timestamptz) returns setof invitations
    language plpgsql volatile security definer set search_path = public as $$
declare asked invitations;
begin
    perform from invitations i where i.secret_hash = secret for update;
    select * into asked from open_invitation(secret, at);
    if not found then return; end if;
    insert into tenant_members (tenant_id, user_id, role) values (asked.tenant_id, person, 'member') on conflict do nothing;
    insert into project_members (project_id, tenant_id, user_id, role)
        values (asked.project_id, asked.tenant_id, person, asked.role) on conflict do nothing;
    return query update invitations i set accepted_at = at where i.id = asked.id returning i.*;
end $$;

-- As before: whoever accepts becomes a member of the tenant, and the row fence follows.
create or replace function accept_invitation(secret bytea, at timestamptz) returns setof invitations
    language plpgsql volatile security definer set search_path = public as $$
declare joined invitations;
begin
    select * into joined from join_by_invitation(secret, fence_user(), at);
    if not found then return; end if;
    perform set_config('app.tenants', array_append(fence_tenants(), joined.tenant_id)::text, true);
    return next joined;
end $$;
revoke execute on function join_by_invitation(bytea, text, timestamptz) from public;
grant execute on function join_by_invitation(bytea, text, timestamptz) to gpuaas_worker;
