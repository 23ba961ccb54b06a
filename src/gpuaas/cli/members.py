"""`gpuaas members`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, Find, ProjectId, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import chosen_member
from gpuaas.cli.output import Column, Output, show_json, show_rows
from gpuaas.wire.identity import Role
from gpuaas.wire.members import Invitation, Member, ReachedMachine, ReachedProject, SentInvitation

command = new_group("Who works in a project, and as what.")
PERSON = typer.Argument(metavar="PERSON", help="E-mail address or user id.")
FoundMember = Annotated[
    Member, Find(PERSON, lambda call, word: chosen_member(call.client, call.project_id, word), in_project=True)
]
COLUMNS: list[Column[Member]] = [
    Column("Person", lambda member: member.email, may_shrink=True),
    Column("Role", lambda member: member.role),
    Column("Id", lambda member: member.user_id),
]
INVITATION: list[Column[Invitation]] = [
    Column("Address", lambda one: one.email, may_shrink=True),
    Column("Role", lambda one: one.role),
    Column("Until", lambda one: one.expires_at),
    Column("Valid", lambda one: "yes" if one.is_valid else "no, invite again"),
    Column("Project", lambda one: f"{one.tenant_slug}/{one.project_slug}", may_shrink=True),
    Column("By", lambda one: one.invited_by_email, may_shrink=True),
    Column("Id", lambda one: one.id),
]
SENT: list[Column[SentInvitation]] = [
    Column("Address", lambda one: one.email, may_shrink=True),
    Column("Role", lambda one: one.role),
    Column("Until", lambda one: one.expires_at),
    Column("Id", lambda one: one.id),
    Column("Link", lambda one: one.link),
]
MACHINES: list[Column[ReachedMachine]] = [
    Column("Allocation", lambda one: one.name),
    Column("Status", lambda one: one.status),
    Column("As", lambda one: "holder" if one.is_holder else f"grant, {one.grant}"),
    Column("Id", lambda one: one.allocation_id),
]


@list_command(command, "list", COLUMNS)
def list_members(call: Call, project_id: ProjectId) -> Iterable[Member]:
    """List who is in a project, and as what."""
    return call.client.members.list(project_id)


def show_reached(call: Call, reached: ReachedProject) -> None:
    if call.output is Output.JSON:
        show_json(reached)
    else:
        show_rows(reached.machines, MACHINES, call.output, empty="They can enter no machine here.")


@show_command(command, "get", show=show_reached)
def get_member(call: Call, project_id: ProjectId, person: FoundMember) -> ReachedProject:
    """Show which machines of the project a member holds or was granted."""
    return call.client.members.get(project_id, person.user_id)


@show_command(command, "invite", SENT)
def invite_member(
    call: Call,
    project_id: ProjectId,
    email: Annotated[str, typer.Argument(help="Their e-mail address.")],
    role: Annotated[Role, typer.Option("--role", help="What they will be.")] = Role.MEMBER,
) -> SentInvitation:
    """Invite somebody. Pass the link on to them; it is shown once, and inviting again makes a new one.

    \b
    Example:
      gpuaas members invite bob@example.com --role member
    """
    return call.client.members.invite(project_id, email, role=role)


@action_command(command, "set-role", COLUMNS)
def set_role(
    call: Call,
    project_id: ProjectId,
    person: FoundMember,
    role: Annotated[Role, typer.Argument(help="owner, admin, member or viewer.")],
) -> Action[Member]:
    """Change what somebody is in the project."""
    question = Question(
        words=f"Make {person.email} a viewer?",
        lost=f"every way of {person.email} into the project's machines; their open sessions are cut.",
        survives="the machines and all that runs there.",
    )
    return Action(
        ask=question if role is Role.VIEWER else None,
        run=lambda: call.client.members.change(project_id, person.user_id, role),
    )


@action_command(command, "remove")
def remove_member(call: Call, project_id: ProjectId, person: FoundMember) -> Action[None]:
    """Remove somebody from the project."""
    return Action(
        ask=Question(
            words=f"Remove {person.email} from the project?",
            lost=f"every way of {person.email} into its machines: grants and keys; open sessions are cut at once.",
            survives="the machines they started and all that runs there; admins of the project hold those.",
        ),
        run=lambda: call.client.members.remove(project_id, person.user_id),
        done=lambda _: f"Removed {person.email}.",
    )


@action_command(command, "leave")
def leave(call: Call, project_id: ProjectId) -> Action[None]:
    """Leave a project yourself."""
    return Action(
        ask=Question(
            words="Leave the project?",
            lost="every way of yours into its machines; your open sessions there are cut at once.",
            survives="the machines you started; admins of the project hold them. Your account and keys.",
        ),
        run=lambda: call.client.members.remove(project_id, call.client.auth.me().user.id),
        done=lambda _: "You have left the project.",
    )
