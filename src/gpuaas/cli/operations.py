"""`gpuaas operations`."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated

import typer

from gpuaas.cli.commands import Call, Find, found_allocation, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column, Output, show_one, stdout, table_of
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.words import age, took
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.timeline import Operation, Phase

command = new_group("Operations: running and past, phase by phase.")

TOOK: Column[Operation] = Column(
    "Took", lambda one: one.ended_at and (one.ended_at - one.started_at).total_seconds(), took, align="right"
)
CARD: list[Column[Operation]] = [
    Column("Kind", lambda one: one.kind),
    Column("Status", lambda one: one.status, is_state=True),
    Column("On", lambda one: one.subject_id),
    Column("Id", lambda one: one.id),
    Column("Reason", lambda one: one.reason),
    Column("Requested by", lambda one: one.requested_by),
    Column("Started", lambda one: one.started_at),
    Column("Last progress", lambda one: one.last_progress_at),
    Column("Ended", lambda one: one.ended_at),
    TOOK,
]
PHASES: list[Column[Phase]] = [
    Column("At", lambda one: one.started_at),
    Column("Phase", lambda one: one.phase.replace("_", " ")),
    Column("Took", lambda one: one.seconds, took, align="right"),
    Column("Attempt", lambda one: one.attempt, align="right"),
    Column("By", lambda one: one.actor_name, may_shrink=True),
    Column("Note", lambda one: one.note, may_shrink=True),
]


def summary(process: ProcessContext) -> list[Column[Operation]]:
    return [
        Column("Kind", lambda one: one.kind, may_shrink=True),
        Column("Status", lambda one: one.status, is_state=True),
        Column("Age", lambda one: one.started_at, lambda started: age(started, process.now()), align="right"),
        TOOK,
        Column("Id", lambda one: one.id),
        Column("Reason", lambda one: one.reason, may_shrink=True),
    ]


OfAllocation = Annotated[
    Allocation | None,
    Find(typer.Argument(help="Only operations on this allocation."), found_allocation, in_project=True),
]


@list_command(command, "list", summary, empty="Nothing was done here yet.")
def list_operations(
    call: Call,
    allocation: OfAllocation = None,
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of rows, newest first.")] = 50,
) -> Iterable[Operation]:
    """List what is or was being done, newest first.

    \b
    Examples:
      gpuaas operations list
      gpuaas operations list train-a
    """
    project_id = allocation.project_id if allocation else call.project_id
    found = call.client.operations.list(project_id=project_id, subject_id=allocation.id if allocation else None)
    return islice(found, limit)


def show_operation(call: Call, operation: Operation) -> None:
    """With its phases."""
    show_one(operation, CARD, call.output)
    if call.output is Output.TABLE and operation.phases:
        console = stdout()
        console.print(table_of(operation.phases, PHASES, console.width))


@show_command(command, "get", show=show_operation)
def get_operation(
    call: Call, id: Annotated[str, typer.Argument(metavar="ID", help="Id of an operation.")]
) -> Operation:
    """Show one operation with its phases; `gpuaas logs ID` shows what the node said meanwhile."""
    return call.client.operations.get(id)
