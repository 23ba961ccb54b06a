"""`gpuaas admin invariants`."""

from typing import Annotated

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_rows
from gpuaas.wire.invariants import Invariant, Violation


def state_of(one: Invariant) -> str:
    if one.looked_at is None:
        return "unknown"
    return "failed" if one.violations else "ok"


COLUMNS: list[Column[Invariant]] = [
    Column("Invariant", lambda one: one.kind.replace("_", " ")),
    Column("State", state_of, is_state=True),
    Column("Violations", lambda one: len(one.violations), align="right"),
    Column("Checked", lambda one: one.looked_at),
]
VIOLATIONS: list[Column[Violation]] = [
    Column("Invariant", lambda one: one.kind.replace("_", " ")),
    Column("Since", lambda one: one.first_seen_at),
    Column("Subject", lambda one: one.subject),
    Column("Detail", lambda one: one.detail, may_shrink=True),
]


def invariants(
    ctx: typer.Context,
    *,
    violated: Annotated[bool, typer.Option("--violated", help="Only the violations; exit code 1 if any.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """List the invariants that the running system is checked for, and their violations.

    \b
    Examples:
      gpuaas admin invariants
      gpuaas admin invariants --violated
    """
    with connected(ctx) as client:
        found = list(client.admin.invariants())
    violations = [each for one in found for each in one.violations]
    if not violated:
        show_rows(found, COLUMNS, output)
    if violated or (violations and output is Output.TABLE):
        show_rows(violations, VIOLATIONS, output, empty="No invariant is violated.")
    if violated and violations:
        raise typer.Exit(1)
