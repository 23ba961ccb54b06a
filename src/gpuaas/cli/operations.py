"""`gpuaas operations`."""

from itertools import islice
from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_allocation, chosen_project
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows, stdout, table_of
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age, took
from gpuaas.wire.timeline import Operation, Phase

command = new_app("Operations: running and past, phase by phase.")

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


def summary(around: Surroundings) -> list[Column[Operation]]:
    return [
        Column("Kind", lambda one: one.kind, may_shrink=True),
        Column("Status", lambda one: one.status, is_state=True),
        Column("Age", lambda one: one.started_at, lambda started: age(started, around.now()), align="right"),
        TOOK,
        Column("Id", lambda one: one.id),
        Column("Reason", lambda one: one.reason, may_shrink=True),
    ]


@command.command("list")
def list_operations(
    ctx: typer.Context,
    allocation: Annotated[str, typer.Argument(help="Only operations on this allocation.")] = "",
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Number of rows, newest first.")] = 50,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List what is or was being done, newest first.

    \b
    Examples:
      gpuaas operations list
      gpuaas operations list train-a
    """
    with connected(ctx) as client:
        machine = chosen_allocation(ctx, client, allocation, project) if allocation else None
        project_id = machine.project_id if machine else chosen_project(ctx, client, project)
        found = client.operations.list(project_id=project_id, subject_id=machine.id if machine else None)
        show_rows(list(islice(found, limit)), summary(surroundings_of(ctx)), output, empty="Nothing was done here yet.")


@command.command("get")
def get_operation(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of an operation.")],
    output: OutputOption = Output.TABLE,
) -> None:
    """Show one operation with its phases; `gpuaas logs ID` shows what the node said meanwhile."""
    with connected(ctx) as client:
        show(client.operations.get(id), output)


def show(operation: Operation, output: Output) -> None:
    """With its phases."""
    show_one(operation, CARD, output)
    if output is Output.TABLE and operation.phases:
        console = stdout()
        console.print(table_of(operation.phases, PHASES, console.width))
