-- Who is invited sees to what and by whom, though the row fence hides project, tenant and inviter until they join.
alter table invitations
    add column project_slug text not null default '',
    add column tenant_slug text not null default '',
    add column invited_by_email text not null default '';
update invitations i set project_slug = p.slug, tenant_slug = t.slug, invited_by_email = u.email
from projects p, tenants t, users u where p.id = i.project_id and t.id = i.tenant_id and u.id = i.invited_by;
grant update (invited_by_email) on invitations to gpuaas_api;
