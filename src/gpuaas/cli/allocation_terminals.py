"""`gpuaas allocations terminals | recording`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from gpuaas.cli.commands import Call, FoundAllocation, list_command
from gpuaas.cli.connections import connected
from gpuaas.cli.names import NameArgument, ProjectOption, choose, chosen_allocation
from gpuaas.cli.output import Column
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.speech import note
from gpuaas.cli.words import age
from gpuaas.wire.terminals import Terminal


def columns(process: ProcessContext) -> list[Column[Terminal]]:
    return [
        Column("Opened", lambda one: one.opened_at, lambda opened: age(opened, process.now()), align="right"),
        Column("By", lambda one: one.user_id),
        Column("From", lambda one: one.source),
        Column("Recorded", lambda one: f"{one.recorded_bytes:,} bytes" if one.recorded else "no", align="right"),
        Column("Ended", lambda one: one.closed_at, lambda closed: age(closed, process.now()), align="right"),
        Column("Why", lambda one: one.reason, may_shrink=True),
        Column("Id", lambda one: one.id),
    ]


def add_to(command: typer.Typer) -> None:
    list_command(command, "terminals", columns, empty="No terminal was opened here.")(terminals_of)
    command.command("recording")(get_recording)


def terminals_of(call: Call, name: FoundAllocation) -> Iterable[Terminal]:
    """List the terminals that were opened on a machine, in a browser or by `gpuaas terminal`."""
    return call.client.allocations.terminals(name.id)


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
