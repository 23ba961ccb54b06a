"""Commands on members and invitations. A person who no longer works in a project loses access to its allocations at
once.
"""

import secrets
from datetime import datetime, timedelta

from msgspec import structs

from gpuaas.core.db import Tx
from gpuaas.core.errors import Conflict, NotFound, Problem
from gpuaas.core.ids import Ids
from gpuaas.core.paging import Paging
from gpuaas.core.secrets import token_hash
from gpuaas.domain.access import grants
from gpuaas.domain.access import store as access
from gpuaas.domain.identity.callers import Caller
from gpuaas.domain.identity.commands import checked_email, get_project, require_session
from gpuaas.domain.identity.permissions import Permission, raises, to_give
from gpuaas.domain.identity.store import PlacedProject
from gpuaas.domain.members import store
from gpuaas.domain.timeline.store import EVENTS, Subject, audit
from gpuaas.wire.identity import Role, User
from gpuaas.wire.members import ChangeMember, Invitation, InviteMember, Member, Reach, ReachedProject, SentInvitation

INVITATION_LIFE = timedelta(days=14)
INVITATION_PREFIX = "gpi_"


class InvitationInvalid(Problem):
    """The same error for a secret that is unknown, used, withdrawn or expired, and for an inviter who lost the
    permission.
    """

    status, code = 404, "invitation_invalid"

    def __init__(self) -> None:
        super().__init__("This invitation is used, expired or withdrawn. Ask for a new link.")


class LastOwner(Conflict):
    code = "last_owner"

    def __init__(self) -> None:
        super().__init__("A project needs an owner. Make another person an owner first.")


async def listed(tx: Tx, caller: Caller, project_id: str, paging: Paging) -> list[Member]:
    project = await get_project(tx, caller, project_id)
    caller.require(Permission.MEMBERS_READ, "project", project)
    return [_view(row, caller, project) for row in await store.members(tx, project_id, paging)]


def _view(row: Member, caller: Caller, project: PlacedProject) -> Member:
    """The member with the caller's permissions on them: only owners change owners."""
    allowed = caller.permissions_in(project)
    permissions = {Permission.MEMBERS_READ, Permission.MEMBERS_MANAGE} & allowed
    if to_give(row.role) not in allowed:
        permissions.discard(Permission.MEMBERS_MANAGE)
    return structs.replace(row, permissions=sorted(permissions))


async def member_reach(tx: Tx, caller: Caller, project_id: str, user_id: str) -> ReachedProject:
    """The allocations that one member can access in this project."""
    project = await get_project(tx, caller, project_id)
    caller.require(Permission.MEMBERS_READ, "project", project)
    await store.member(tx, project_id, user_id)
    (reached,) = await store.reach(tx, user_id, project_id)
    return reached


async def reach(tx: Tx, caller: Caller) -> Reach:
    """Everything that the caller can access, in one response."""
    user = User(id=caller.user_id, email=caller.email, platform_role=caller.platform_role)
    count = await access.count_of(tx, caller.user_id)
    return Reach(user=user, projects=await store.reach(tx, caller.user_id), ssh_key_count=count)


async def invite(
    tx: Tx, caller: Caller, project_id: str, data: InviteMember, *, ids: Ids, public_url: str, now: datetime
) -> SentInvitation:
    """The response does not reveal whether the person has an account. Another invitation makes a new link and ends
    the old one.
    """
    project = await _led(tx, caller, project_id, data.role)
    require_session(caller, "invite people")
    email = checked_email(data.email)
    if await store.is_member(tx, project_id, email):
        raise Conflict(f"{email} is already a project member. Change their role instead.")
    secret = INVITATION_PREFIX + secrets.token_urlsafe(32)
    new = store.NewInvitation(
        id=ids.new("inv"),
        tenant_id=project.tenant_id,
        project_id=project.id,
        email=email,
        role=data.role,
        invited_by=caller.user_id,
        created_at=now,
        expires_at=now + INVITATION_LIFE,
        secret_hash=token_hash(secret),
    )
    made = await store.invite(tx, new)
    facts = {"email": email, "role": data.role, "invitation": made.id}
    await audit(tx, project.subject, "member.invite", actor=caller.actor, at=now, facts=facts)
    return SentInvitation(**structs.asdict(made.view()), link=f"{public_url}/invitations/accept#{secret}")


async def invitations(
    tx: Tx, caller: Caller, project_id: str | None, paging: Paging, now: datetime
) -> list[Invitation]:
    """The invitations that the caller sent; with a project, those of the project, for its admins."""
    if project_id is None:
        return [row.view() for row in await store.invitations_by(tx, caller.user_id, now, paging)]
    project = await get_project(tx, caller, project_id)
    if not caller.may(Permission.INVITATIONS_READ, project):
        raise NotFound("project")
    caller.require(Permission.INVITATIONS_READ, "project", project)
    return [row.view() for row in await store.invitations_of_project(tx, project, now, paging)]


async def check_invitation(tx: Tx, secret: str, *, now: datetime) -> Invitation | None:
    """The invitation that this secret can accept now, for a sign-up by invitation. Runs as the worker role."""
    found = await store.open_invitation(tx, token_hash(secret), now)
    return found.view() if found else None


async def accept(tx: Tx, caller: Caller, secret: str, *, now: datetime) -> Invitation:
    """Make the caller a member of the project and of its tenant. Only the secret counts: e-mail addresses are not
    verified.
    """
    caller.require_write()
    joined = await store.accept(tx, token_hash(secret), now)
    if joined is None:
        raise InvitationInvalid
    await access.render_of(tx, caller.user_id, joined.project_id)  # they may hold allocations from before
    await _tell_joined(tx, joined, actor=caller.actor, now=now)
    return joined.view()


async def join(tx: Tx, user: User, *, secret: str, now: datetime) -> bool:
    """Like `accept` for a person who signs up, in the transaction that adds the account, so an invitation makes one
    account. False if it cannot be accepted. Runs as the worker role.
    """
    joined = await store.join(tx, token_hash(secret), user.id, now)
    if joined is not None:
        await _tell_joined(tx, joined, actor=user.id, now=now)
    return joined is not None


async def _tell_joined(tx: Tx, joined: store.InvitationRow, *, actor: str, now: datetime) -> None:
    place = Subject(kind="project", id=joined.project_id, tenant_id=joined.tenant_id, project_id=joined.project_id)
    facts = {"role": joined.role, "invitation": joined.id, "invited_by": joined.invited_by, "email": joined.email}
    await audit(tx, place, "member.join", actor=actor, at=now, facts=facts)


async def withdraw(tx: Tx, caller: Caller, id: str, *, now: datetime) -> None:
    row = await store.invitation(tx, id)
    caller.require(Permission.MEMBERS_MANAGE, "invitation", row)
    await store.withdraw(tx, id, now)
    subject = Subject(kind="invitation", id=id, tenant_id=row.tenant_id, project_id=row.project_id)
    await audit(tx, subject, "invitation.withdraw", actor=caller.actor, at=now)


async def change(tx: Tx, caller: Caller, project_id: str, user_id: str, data: ChangeMember, *, now: datetime) -> Member:
    """Change a role. A lower role ends what it no longer allows, including live connections."""
    project = await _led(tx, caller, project_id, data.role)
    member = await store.member(tx, project_id, user_id)
    await _check_owner(tx, caller, project, member, stays=to_give(data.role) is Permission.OWNERS_MANAGE)
    if raises(data.role, member.role):
        require_session(caller, "raise a role")
    await store.set_role(tx, project_id, user_id, data.role)
    facts: dict[str, object] = {"user": user_id, "from": member.role, "to": data.role}
    if shut_out := await _role_changed(tx, caller, project, user_id, note=f"they became a {data.role}", now=now):
        facts["shut_out_of"] = shut_out
    await audit(tx, project.subject, "member.change", actor=caller.actor, at=now, facts=facts)
    return _view(await store.member(tx, project_id, user_id), caller, project)


async def remove(tx: Tx, caller: Caller, project_id: str, user_id: str, *, now: datetime) -> None:
    """Anybody may leave; project admins remove others. The person's keys leave every allocation at once."""
    project = await get_project(tx, caller, project_id)
    leaves = user_id == caller.user_id
    if leaves:
        caller.require_write()
    else:
        caller.require(Permission.MEMBERS_MANAGE, "project", project)
    member = await store.member(tx, project_id, user_id)
    await _check_owner(tx, caller, project, member, stays=False, leaves=leaves)
    await store.remove(tx, project_id, user_id)
    why = "they left the project" if leaves else "they were removed from the project"
    machines = await _role_changed(tx, caller, project, user_id, note=why, now=now)
    left_tenant = await store.leave_tenant(tx, project.tenant_id, user_id)
    facts = {"user": user_id, "role": member.role, "shut_out_of": machines, "left_tenant": left_tenant}
    action = "member.leave" if leaves else "member.remove"
    await audit(tx, project.subject, action, actor=caller.actor, at=now, facts=facts)


async def _role_changed(
    tx: Tx, caller: Caller, project: PlacedProject, user_id: str, *, note: str, now: datetime
) -> list[str]:
    """Render every key set that depends on the role; returns the ids of allocations that the person lost access to."""
    tx.hint(EVENTS, project.id)  # open event streams check their readers again
    if await access.works_in(tx, project, user_id):  # always true for tenant admins
        await access.render_of(tx, user_id, project.id)
        return []
    return await grants.shut_out(tx, project.id, user_id, actor=caller.actor, note=note, now=now)


async def _led(tx: Tx, caller: Caller, project_id: str, role: Role) -> PlacedProject:
    project = await get_project(tx, caller, project_id)
    caller.require(to_give(role), "project", project)
    return project


async def _check_owner(
    tx: Tx, caller: Caller, project: PlacedProject, member: Member, *, stays: bool, leaves: bool = False
) -> None:
    """Only owners make and remove owners, and the last owner stays."""
    if to_give(member.role) is not Permission.OWNERS_MANAGE:
        return
    if not leaves:
        caller.require(Permission.OWNERS_MANAGE, "project", project)
    if not stays and await store.lock_owners(tx, project.id) == [member.user_id]:
        raise LastOwner
