"""`gpuaas members`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_member, chosen_project
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.speech import YesOption, confirm, note
from gpuaas.wire.identity import Role
from gpuaas.wire.members import Invitation, Member, ReachedMachine, SentInvitation

command = new_app("Who works in a project, and as what.")
PersonArgument = Annotated[str, typer.Argument(metavar="PERSON", help="E-mail address or user id.")]
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


@command.command("list")
def list_members(ctx: typer.Context, project: ProjectOption = "", output: OutputOption = Output.TABLE) -> None:
    """List who is in a project, and as what."""
    with connected(ctx) as client:
        show_rows(client.members.list(chosen_project(ctx, client, project)), COLUMNS, output)


@command.command("get")
def get_member(
    ctx: typer.Context, person: PersonArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Show which machines of the project a member holds or was granted."""
    with connected(ctx) as client:
        id = chosen_project(ctx, client, project)
        reached = client.members.get(id, chosen_member(client, id, person).user_id)
    if output is Output.JSON:
        show_json(reached)
        return
    show_rows(reached.machines, MACHINES, output, empty="They can enter no machine here.")


@command.command("invite")
def invite_member(
    ctx: typer.Context,
    email: Annotated[str, typer.Argument(help="Their e-mail address.")],
    role: Annotated[Role, typer.Option("--role", help="What they will be.")] = Role.MEMBER,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Invite somebody. Pass the link on to them; it is shown once, and inviting again makes a new one.

    \b
    Example:
      gpuaas members invite bob@example.com --role member
    """
    with connected(ctx) as client:
        sent = client.members.invite(chosen_project(ctx, client, project), email, role=role)
    show_one(sent, SENT, output)


@command.command("set-role")
def set_role(
    ctx: typer.Context,
    person: PersonArgument,
    role: Annotated[Role, typer.Argument(help="owner, admin, member or viewer.")],
    *,
    yes: YesOption = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Change what somebody is in the project."""
    with connected(ctx) as client:
        id = chosen_project(ctx, client, project)
        member = chosen_member(client, id, person)
        if role is Role.VIEWER:
            confirm(
                f"Make {member.email} a viewer?",
                lost=f"every way of {member.email} into the project's machines; their open sessions are cut.",
                survives="the machines and all that runs there.",
                yes=yes,
            )
        show_one(client.members.change(id, member.user_id, role), COLUMNS, output)


@command.command("remove")
def remove_member(
    ctx: typer.Context, person: PersonArgument, yes: YesOption = False, project: ProjectOption = ""
) -> None:
    """Remove somebody from the project."""
    with connected(ctx) as client:
        id = chosen_project(ctx, client, project)
        member = chosen_member(client, id, person)
        confirm(
            f"Remove {member.email} from the project?",
            lost=f"every way of {member.email} into its machines: grants and keys; open sessions are cut at once.",
            survives="the machines they started and all that runs there; admins of the project hold those.",
            yes=yes,
        )
        client.members.remove(id, member.user_id)
    note(f"Removed {member.email}.")


@command.command("leave")
def leave(ctx: typer.Context, yes: YesOption = False, project: ProjectOption = "") -> None:
    """Leave a project yourself."""
    with connected(ctx) as client:
        id = chosen_project(ctx, client, project)
        confirm(
            "Leave the project?",
            lost="every way of yours into its machines; your open sessions there are cut at once.",
            survives="the machines you started; admins of the project hold them. Your account and keys.",
            yes=yes,
        )
        client.members.remove(id, client.auth.me().user.id)
    note("You have left the project.")
