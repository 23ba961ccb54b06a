"""`gpuaas invitations`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.members import INVITATION
from gpuaas.cli.names import chosen_project
from gpuaas.cli.output import Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import note

command = new_app("Invitations to projects: accept one, or list and withdraw those of a project you lead.")
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the invitation.")]
LinkArgument = Annotated[str, typer.Argument(metavar="LINK", help="The link that you were given, or its secret.")]


@command.command("list")
def list_invitations(
    ctx: typer.Context,
    project: Annotated[str, typer.Option("--project", "-p", help="All of this project, which you lead.")] = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List open invitations that you sent, or all of a project that you lead."""
    with connected(ctx) as client:
        id = chosen_project(ctx, client, project) if project else None
        show_rows(client.invitations.list(project_id=id), INVITATION, output, empty="There are no open invitations.")


@command.command("accept")
def accept_invitation(ctx: typer.Context, link: LinkArgument, output: OutputOption = Output.TABLE) -> None:
    """Join the project that an invitation link is for.

    \b
    Example:
      gpuaas invitations accept 'https://gpu.example.com/invitations/accept#gpi_…'
    """
    with connected(ctx) as client:
        show_one(client.invitations.accept(link), INVITATION, output)


@command.command("withdraw")
def withdraw_invitation(ctx: typer.Context, id: IdArgument) -> None:
    """Withdraw an invitation of a project that you lead; its link ends."""
    with connected(ctx) as client:
        client.invitations.withdraw(id)
    note("The invitation is withdrawn.")
