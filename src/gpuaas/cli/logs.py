"""`gpuaas logs`."""

from collections.abc import Iterable
from typing import Annotated

import msgspec
import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_allocation, is_id
from gpuaas.cli.output import Column, Output, OutputOption, show_csv
from gpuaas.cli.speech import note, say
from gpuaas.cli.words import clock, plain
from gpuaas.wire.timeline import LogLine

COLUMNS: list[Column[LogLine]] = [
    Column("At", lambda line: line.at, clock),
    Column("Operation", lambda line: line.operation_id),
    Column("Line", lambda line: line.line),
]


def command(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|OPERATION", help="An allocation's name or id, or an operation's id.")
    ],
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Stay, and show lines as they are said.")] = False,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=1, max=10_000, help="How many of the last, at most.")
    ] = 200,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Show what the node said while it worked for an allocation, or in one operation.

    With -f an operation is followed to its end, an allocation until Ctrl-C.

    \b
    Examples:
      gpuaas logs train-a
      gpuaas logs -f train-a
      gpuaas logs op_01m7v0q3c8e5t9x2n6k4w1z0ab -o json
    """
    with connected(ctx) as client:
        if is_id(name, "op"):
            found = client.operations.follow_logs(name) if follow else last(client.operations.logs(name), lines)
        else:
            id = chosen_allocation(ctx, client, name, project).id
            found = client.allocations.follow_logs(id) if follow else last(client.allocations.logs(id), lines)
        if not show(found, output) and output is Output.TABLE:
            note("The node has said nothing about this.")


def last(newest_first: Iterable[LogLine], most: int) -> list[LogLine]:
    """In the order they were said."""
    found = [line for line, _ in zip(newest_first, range(most), strict=False)]
    return found[::-1]


def show(lines: Iterable[LogLine], output: Output) -> int:
    """Each as it comes; how many there were."""
    count = 0
    for line in lines:
        if output is Output.JSON:
            typer.echo(msgspec.json.encode(line))
        elif output is Output.CSV:
            show_csv([line], COLUMNS, with_header=count == 0)
        else:
            say(f"{clock(line.at)}  {plain(line.line)}")
        count += 1
    return count
