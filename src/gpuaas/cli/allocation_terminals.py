"""`gpuaas allocations terminals | recording`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.names import NameArgument, ProjectOption, choose, chosen_allocation
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.cli.speech import note
from gpuaas.cli.surroundings import Surroundings, surroundings_of
from gpuaas.cli.words import age
from gpuaas.wire.terminals import Terminal


def columns(around: Surroundings) -> list[Column[Terminal]]:
    return [
        Column("Opened", lambda one: one.opened_at, lambda opened: age(opened, around.now()), align="right"),
        Column("By", lambda one: one.user_id),
        Column("From", lambda one: one.source),
        Column("Recorded", lambda one: f"{one.recorded_bytes:,} bytes" if one.recorded else "no", align="right"),
        Column("Ended", lambda one: one.closed_at, lambda closed: age(closed, around.now()), align="right"),
        Column("Why", lambda one: one.reason, may_shrink=True),
        Column("Id", lambda one: one.id),
    ]


def show_terminals(
    ctx: typer.Context, name: NameArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """List the terminals that were opened on a machine, in a browser or by `gpuaas terminal`."""
    with connected(ctx) as client:
        found = client.allocations.terminals(chosen_allocation(ctx, client, name, project).id)
        show_rows(found, columns(surroundings_of(ctx)), output, empty="No terminal was opened here.")


def get_recording(
    ctx: typer.Context,
    name: NameArgument,
    terminal: Annotated[str, typer.Argument(metavar="TERMINAL", help="Its id.")],
    *,
    to: Annotated[Path | None, typer.Option("--to", help="File to write. Otherwise standard output.")] = None,
    project: ProjectOption = "",
) -> None:
    """Get what a recorded terminal showed, as asciicast v2. That you read it is audited.

    \b
    Example:
      gpuaas allocations recording train-a term_… --to shown.cast && asciinema play shown.cast
    """
    with connected(ctx) as client:
        machine = chosen_allocation(ctx, client, name, project)
        listed = f"gpuaas allocations terminals {machine.name}"
        every = client.allocations.terminals(machine.id)
        chosen = choose(terminal, every, lambda one: (one.id,), "terminal", listed=listed)
        shown = client.allocations.recording(machine.id, chosen.id)
    if to is None:
        sys.stdout.buffer.write(shown)
    else:
        to.write_bytes(shown)
        note(f"Wrote {len(shown):,} bytes to {to}.")
