"""SQL for members and invitations."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import astuple

from gpuaas.core.db import Tx
from gpuaas.core.errors import NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.identity.store import PlacedProject
from gpuaas.wire.identity import Role
from gpuaas.wire.members import Invitation, Member, ReachedProject


class InvitationRow(Invitation, frozen=True, kw_only=True):
    tenant_id: str

    def view(self) -> Invitation:
        return Invitation(**{field: getattr(self, field) for field in Invitation.__struct_fields__})


class NewInvitation(Struct, frozen=True, kw_only=True):
    """In the order of the statement's parameters."""

    id: str
    tenant_id: str
    project_id: str
    email: str
    role: Role
    invited_by: str
    created_at: datetime
    expires_at: datetime
    secret_hash: bytes


async def members(tx: Tx, project_id: str, paging: Paging) -> list[Member]:
    sql = f"{MEMBER} and m.user_id < $2 order by m.user_id desc limit $3"
    return await tx.all(Member, sql, project_id, paging.before, paging.limit + 1)


async def member(tx: Tx, project_id: str, user_id: str) -> Member:
    row = await tx.maybe(Member, f"{MEMBER} and m.user_id = $2", project_id, user_id)
    if row is None:
        raise NotFound("member")
    return row


async def is_member(tx: Tx, project_id: str, email: str) -> bool:
    return bool(await tx.value(f"select exists ({MEMBER} and lower(u.email) = lower($2))", project_id, email))


async def lock_owners(tx: Tx, project_id: str) -> list[str]:
    """The owners of the project, locked until this transaction ends: if two owners leave at once, the second waits."""
    return [str(id) for id in await tx.column(LOCK_OWNERS, project_id)]


async def set_role(tx: Tx, project_id: str, user_id: str, role: Role) -> None:
    await tx.run(
        "update project_members set role = $3 where project_id = $1 and user_id = $2", project_id, user_id, role.value
    )


async def remove(tx: Tx, project_id: str, user_id: str) -> None:
    await tx.run("delete from project_members where project_id = $1 and user_id = $2", project_id, user_id)


async def leave_tenant(tx: Tx, tenant_id: str, user_id: str) -> bool:
    """End the tenant membership of a person who is in none of its projects and is not a tenant admin."""
    return bool(await tx.value("select leave_tenant($2, $1)", tenant_id, user_id))


async def invite(tx: Tx, new: NewInvitation) -> InvitationRow:
    """A repeated invitation keeps its id and gets the new role, end and secret."""
    return await tx.one(InvitationRow, INVITE, *astuple(new))


async def invitations_of_project(tx: Tx, project: PlacedProject, now: datetime, paging: Paging) -> list[InvitationRow]:
    sql = f"{OPEN} and i.project_id = $2 {PAGE}"
    return await tx.all(InvitationRow, sql, now, project.id, paging.before, paging.limit + 1)


async def invitations_by(tx: Tx, user_id: str, now: datetime, paging: Paging) -> list[InvitationRow]:
    sql = f"{OPEN} and i.invited_by = $2 {PAGE}"  # house: project-filter because they are the caller's own
    return await tx.all(InvitationRow, sql, now, user_id, paging.before, paging.limit + 1)


async def invitation(tx: Tx, id: str) -> InvitationRow:
    row = await tx.maybe(InvitationRow, "select * from invitations where id = $1", id)
    if row is None:
        raise NotFound("invitation")
    return row


async def withdraw(tx: Tx, id: str, now: datetime) -> None:
    await tx.run("update invitations set withdrawn_at = coalesce(withdrawn_at, $2) where id = $1", id, now)


async def accept(tx: Tx, secret_hash: bytes, now: datetime) -> InvitationRow | None:
    """Runs as the caller, who is not in the tenant yet; None if the invitation cannot be accepted."""
    return await tx.maybe(InvitationRow, "select * from accept_invitation($1, $2)", secret_hash, now)


async def join(tx: Tx, secret_hash: bytes, user_id: str, now: datetime) -> InvitationRow | None:
    """Like `accept`, for a person who is just signing up. Runs as the worker role."""
    return await tx.maybe(InvitationRow, "select * from join_by_invitation($1, $2, $3)", secret_hash, user_id, now)


async def open_invitation(tx: Tx, secret_hash: bytes, now: datetime) -> InvitationRow | None:
    return await tx.maybe(InvitationRow, "select * from open_invitation($1, $2)", secret_hash, now)


async def reach(tx: Tx, user_id: str, project_id: str | None = None) -> list[ReachedProject]:
    return await tx.all(ReachedProject, REACH, user_id, project_id)


MEMBER = """
    select m.project_id, m.user_id, coalesce(u.email, '') as email, m.role,
        works_in(m.user_id, m.project_id) as can_be_granted
    from project_members m left join users u on u.id = m.user_id where m.project_id = $1
"""
LOCK_OWNERS = """
    select user_id from project_members where project_id = $1 and role in (
        select role from role_permissions where place = 'project' and permission = 'owners:manage')
    order by user_id for update
"""
INVITE = """
    insert into invitations as kept (id, tenant_id, project_id, email, role, invited_by, created_at, expires_at,
        secret_hash, project_slug, tenant_slug, invited_by_email)
    select $1, $2, $3, $4, $5, $6, $7::timestamptz, $8::timestamptz, $9, p.slug, t.slug, u.email
    from projects p, tenants t, users u where p.id = $3 and t.id = $2 and u.id = $6
    on conflict (project_id, lower(email)) where accepted_at is null and withdrawn_at is null
        do update set role = excluded.role, invited_by = excluded.invited_by, expires_at = excluded.expires_at,
            invited_by_email = excluded.invited_by_email, secret_hash = excluded.secret_hash
    returning *
"""
OPEN = """
    select i.*, invitation_holds(i) as is_valid from invitations i
    where i.accepted_at is null and i.withdrawn_at is null and i.expires_at > $1
"""
PAGE = "and i.id < $3 order by i.id desc limit $4"
REACH = """
    select p.id as project_id, p.slug, p.tenant_id, t.slug as tenant_slug, m.role, tm.role as tenant_role, (
        select coalesce(jsonb_agg(jsonb_build_object('allocation_id', a.id, 'name', a.name, 'status', a.status,
            'is_holder', a.holder_id = $1, 'grant', g.status) order by a.id desc), '[]')
        from allocations a left join access_grants g on g.allocation_id = a.id and g.user_id = $1
            and g.status in ('asked', 'awaiting_key', 'active')
        where a.project_id = p.id and a.status not in ('released', 'failed')
            and (a.holder_id = $1 or g.id is not null)
    ) as machines
    from projects p join tenants t on t.id = p.tenant_id
        left join project_members m on m.project_id = p.id and m.user_id = $1
        left join tenant_members tm on tm.tenant_id = p.tenant_id and tm.user_id = $1
    where (m.role is not null or tm.role in (
            select role from role_permissions where place = 'tenant' and permission = 'projects:read'))
        and ($2::text is null or p.id = $2) order by p.id desc
"""
