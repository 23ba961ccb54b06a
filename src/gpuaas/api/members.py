"""Members of a project, invitations, and what a person can access."""

from typing import Annotated

from litestar import Router, delete, get, post, put
from litestar.params import QueryParameter

from gpuaas.api.deps import Context, Cursor, Limit
from gpuaas.api.problems import problems
from gpuaas.core.errors import Conflict, InsufficientPermissions, NotFound
from gpuaas.core.paging import Paging
from gpuaas.domain.members import commands
from gpuaas.wire.common import Page
from gpuaas.wire.members import (
    AcceptInvitation,
    ChangeMember,
    Invitation,
    InviteMember,
    Member,
    Reach,
    ReachedProject,
    SentInvitation,
)

ProjectFilter = Annotated[str | None, QueryParameter(name="project_id", required=False, max_length=64)]
CHANGE = problems(NotFound, InsufficientPermissions, Conflict, commands.LastOwner)


@get("/me/reach")
async def my_reach(context: Context) -> Reach:
    """Everything you can access: projects, your role in each, and allocations that you hold or were granted."""
    return await commands.reach(context.tx, context.caller)


@get("/projects/{project_id:str}/members", responses=problems(NotFound))
async def list_members(project_id: str, context: Context, limit: Limit = None, cursor: Cursor = None) -> Page[Member]:
    """The members of a project, with their roles."""
    paging = Paging.of(limit, cursor)
    rows = await commands.listed(context.tx, context.caller, project_id, paging)
    return paging.page(rows, lambda member: member.user_id)


@get("/projects/{project_id:str}/members/{user_id:str}", responses=problems(NotFound))
async def get_member(project_id: str, user_id: str, context: Context) -> ReachedProject:
    """One member: their role, and the allocations of the project that they hold or were granted."""
    return await commands.member_reach(context.tx, context.caller, project_id, user_id)


@post("/projects/{project_id:str}/members", status_code=202, responses=CHANGE, opt={"shows_secret": True})
async def invite_member(project_id: str, data: InviteMember, context: Context) -> SentInvitation:
    """Invite a person. The response contains the link for them, once; another invitation makes a new link. Needs a
    login; a personal token is refused.
    """
    url = context.services.public_url
    return await commands.invite(
        context.tx, context.caller, project_id, data, ids=context.ids, public_url=url, now=context.now
    )


@put("/projects/{project_id:str}/members/{user_id:str}", responses=CHANGE)
async def change_member(project_id: str, user_id: str, data: ChangeMember, context: Context) -> Member:
    """Change a role. A person who becomes a viewer loses access to allocations. The last owner stays. A personal
    token can only lower a role.
    """
    return await commands.change(context.tx, context.caller, project_id, user_id, data, now=context.now)


@delete("/projects/{project_id:str}/members/{user_id:str}", responses=CHANGE)
async def remove_member(project_id: str, user_id: str, context: Context) -> None:
    """Remove a member, or leave: their keys are removed from every allocation of the project at once."""
    await commands.remove(context.tx, context.caller, project_id, user_id, now=context.now)


@get("/invitations", responses=problems(NotFound, InsufficientPermissions))
async def list_invitations(
    context: Context, project_id: ProjectFilter = None, limit: Limit = None, cursor: Cursor = None
) -> Page[Invitation]:
    """Open invitations that you sent; with `project_id`, all invitations of a project of which you are an admin."""
    paging = Paging.of(limit, cursor)
    rows = await commands.invitations(context.tx, context.caller, project_id, paging, context.now)
    return paging.page(rows, lambda invitation: invitation.id)


@post("/invitations/accept", status_code=200, responses=problems(commands.InvitationInvalid, InsufficientPermissions))
async def accept_invitation(data: AcceptInvitation, context: Context) -> Invitation:
    """Join with the secret of an invitation link: you become a member of the project and of its tenant."""
    return await commands.accept(context.tx, context.caller, data.secret, now=context.now)


@delete("/invitations/{id:str}", responses=problems(NotFound, InsufficientPermissions))
async def withdraw_invitation(id: str, context: Context) -> None:
    """Withdraw an invitation of a project of which you are an admin; its link becomes invalid."""
    await commands.withdraw(context.tx, context.caller, id, now=context.now)


ROUTER = Router(
    "",
    tags=["members"],
    route_handlers=[
        my_reach,
        list_members,
        get_member,
        invite_member,
        change_member,
        remove_member,
        list_invitations,
        accept_invitation,
        withdraw_invitation,
    ],
)
