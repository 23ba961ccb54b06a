"""`gpuaas invitations`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.members import INVITATION
from gpuaas.cli.names import chosen_project
from gpuaas.wire.members import Invitation

command = new_group("Invitations to projects: accept one, or list and withdraw those of a project you lead.")
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the invitation.")]
LinkArgument = Annotated[str, typer.Argument(metavar="LINK", help="The link that you were given, or its secret.")]


@list_command(command, "list", INVITATION, empty="There are no open invitations.")
def list_invitations(
    call: Call,
    project: Annotated[str, typer.Option("--project", "-p", help="All of this project, which you lead.")] = "",
) -> Iterable[Invitation]:
    """List open invitations that you sent, or all of a project that you lead."""
    id = chosen_project(call.ctx, call.client, project) if project else None
    return call.client.invitations.list(project_id=id)


@show_command(command, "accept", INVITATION)
def accept_invitation(call: Call, link: LinkArgument) -> Invitation:
    """Join the project that an invitation link is for.

    \b
    Example:
      gpuaas invitations accept 'https://gpu.example.com/invitations/accept#gpi_…'
    """
    return call.client.invitations.accept(link)


@action_command(command, "withdraw", asks=False)
def withdraw_invitation(call: Call, id: IdArgument) -> Action[None]:
    """Withdraw an invitation of a project that you lead; its link ends."""
    return Action(run=lambda: call.client.invitations.withdraw(id), done=lambda _: "The invitation is withdrawn.")
