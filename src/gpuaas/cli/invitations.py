"""`gpuaas invitations`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.members import INVITATION
from gpuaas.cli.names import choose, chosen_project
from gpuaas.cli.output import Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import note

command = new_app("Invitations to projects: yours, and those of projects you lead.")
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Its id.")]


@command.command("list")
def list_invitations(
    ctx: typer.Context,
    project: Annotated[str, typer.Option("--project", "-p", help="Those of this project, which you lead.")] = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List invitations that wait for you, or that a project has sent."""
    with connected(ctx) as client:
        id = chosen_project(ctx, client, project) if project else None
        show_rows(client.invitations.list(project_id=id), INVITATION, output, empty="Nobody waits for an answer.")


@command.command("accept")
def accept_invitation(ctx: typer.Context, id: IdArgument, output: OutputOption = Output.TABLE) -> None:
    """Join the project that an invitation is for."""
    with connected(ctx) as client:
        found = choose(
            id, client.invitations.list(), lambda one: (one.id, one.project_slug, one.project_id), "invitation"
        )
        show_one(client.invitations.accept(found.id), INVITATION, output)


@command.command("withdraw")
def withdraw_invitation(ctx: typer.Context, id: IdArgument) -> None:
    """Decline one of yours, or withdraw one of a project that you lead."""
    with connected(ctx) as client:
        client.invitations.withdraw(id)
    note("It is withdrawn.")
