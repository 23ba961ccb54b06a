"""`gpuaas admin operations`."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated

import typer

from gpuaas.cli.commands import Call, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.operations import show_operation, summary
from gpuaas.wire.timeline import Operation, OperationStatus

command = new_group("Operations of the whole fleet, staging included.")


@list_command(command, "list", summary, empty="There are no such operations.")
def list_operations(
    call: Call,
    *,
    status: Annotated[OperationStatus | None, typer.Option("--status", help="Only those with this status.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only those of this kind, such as runtime_stage.")] = None,
    node: Annotated[str | None, typer.Option("--node", help="Only those on the node with this id.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Only those in the project with this id.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of rows, newest first.")] = 50,
) -> Iterable[Operation]:
    """List operations of the whole fleet, newest first.

    \b
    Examples:
      gpuaas admin operations list --status failed
      gpuaas admin operations list --kind runtime_stage --node node_01…
    """
    found = call.client.admin.operations.list(status=status, kind=kind, node_id=node, project_id=project)
    return islice(found, limit)


@show_command(command, "get", show=show_operation)
def get_operation(
    call: Call, id: Annotated[str, typer.Argument(metavar="ID", help="Id of an operation.")]
) -> Operation:
    """Show any operation with its phases."""
    return call.client.admin.operations.get(id)
