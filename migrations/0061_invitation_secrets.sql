-- An invitation is accepted with its secret, never by address alone: addresses are not verified. Invitations from before have
-- no secret; whoever invites issues them again.
set role gpuaas_owner;
alter table invitations add column secret_hash bytea;
create unique index invitations_secret on invitations (secret_hash) where secret_hash is not null;

-- The inviter still has the right to invite to this role. Owners are invited by owners.
create function invitation_holds(invitation invitations) returns boolean
    language sql stable security definer set search_path = public as $$
    select invitation.secret_hash is not null and coalesce(
        effective_role(invitation.invited_by, invitation.project_id) = 'owner'
            or (effective_role(invitation.invited_by, invitation.project_id) = 'admin' and invitation.role <> 'owner'), false)
$$;

-- The invitation behind a secret, if it can be accepted now.
create function open_invitation(secret bytea, at timestamptz) returns setof invitations
    language sql stable security definer set search_path = public as $$
    select i.* from invitations i where i.secret_hash = secret and i.accepted_at is null and i.withdrawn_at is null
        and i.expires_at > at and invitation_holds(i)
$$;

-- Whoever accepts is not in the tenant yet. Accepting makes them a member of it, and the row fence follows.
create function accept_invitation(secret bytea, at timestamptz) returns setof invitations
    language plpgsql volatile security definer set search_path = public as $$
declare asked invitations;
begin
    perform from invitations i where i.secret_hash = secret for update;
    select * into asked from open_invitation(secret, at);
    if not found then return; end if;
    insert into tenant_members (tenant_id, user_id, role) values (asked.tenant_id, fence_user(), 'member')
        on conflict do nothing;
    insert into project_members (project_id, tenant_id, user_id, role)
        values (asked.project_id, asked.tenant_id, fence_user(), asked.role) on conflict do nothing;
    perform set_config('app.tenants', array_append(fence_tenants(), asked.tenant_id)::text, true);
    return query update invitations i set accepted_at = at where i.id = asked.id returning i.*;
end $$;

drop function answer_invitation(text, boolean, timestamptz);
drop policy own on invitations;
grant update (secret_hash) on invitations to gpuaas_api;
revoke execute on function invitation_holds(invitations) from public;
revoke execute on function open_invitation(bytea, timestamptz) from public;
revoke execute on function accept_invitation(bytea, timestamptz) from public;
grant execute on function invitation_holds(invitations) to gpuaas_api, gpuaas_worker;
grant execute on function open_invitation(bytea, timestamptz) to gpuaas_worker;
grant execute on function accept_invitation(bytea, timestamptz) to gpuaas_api;
