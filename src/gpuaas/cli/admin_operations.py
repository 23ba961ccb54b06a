"""`gpuaas admin operations`."""

from itertools import islice
from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.operations import show, summary
from gpuaas.cli.output import Output, OutputOption, show_rows
from gpuaas.cli.surroundings import surroundings_of
from gpuaas.wire.timeline import OperationStatus

command = new_app("Operations of the whole fleet, staging included.")


@command.command("list")
def list_operations(
    ctx: typer.Context,
    *,
    status: Annotated[OperationStatus | None, typer.Option("--status", help="Only those with this status.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only those of this kind, such as runtime_stage.")] = None,
    node: Annotated[str | None, typer.Option("--node", help="Only those on the node with this id.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Only those in the project with this id.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of rows, newest first.")] = 50,
    output: OutputOption = Output.TABLE,
) -> None:
    """List operations of the whole fleet, newest first.

    \b
    Examples:
      gpuaas admin operations list --status failed
      gpuaas admin operations list --kind runtime_stage --node node_01…
    """
    with connected(ctx) as client:
        found = client.admin.operations.list(status=status, kind=kind, node_id=node, project_id=project)
        rows = list(islice(found, limit))
    show_rows(rows, summary(surroundings_of(ctx)), output, empty="There are no such operations.")


@command.command("get")
def get_operation(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of an operation.")],
    output: OutputOption = Output.TABLE,
) -> None:
    """Show any operation with its phases."""
    with connected(ctx) as client:
        show(client.admin.operations.get(id), output)
