"""`gpuaas quotas`."""

import typer

from gpuaas.cli.connections import connected
from gpuaas.cli.names import ProjectOption, chosen_project
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_rows
from gpuaas.wire.quotas import LABELS, QuotaLine

COLUMNS: list[Column[QuotaLine]] = [
    Column("Quota", lambda line: line.dimension, lambda dimension: LABELS[dimension]),
    Column("Limit", lambda line: "none" if line.limit is None else line.limit, align="right"),
    Column("Used", lambda line: line.used, align="right"),
    Column("Remaining", lambda line: line.remaining, align="right"),
    Column("Limited by", lambda line: line.limited_by),
]


def command(ctx: typer.Context, project: ProjectOption = "", output: OutputOption = Output.TABLE) -> None:
    """Show what the project and you may still add, and whose limit decides.

    \b
    Example:
      gpuaas quotas --project team-a
    """
    with connected(ctx) as client:
        found = [client.quotas.of_project(chosen_project(ctx, client, project)), client.quotas.mine()]
    if output is Output.JSON:
        show_json(found)
        return
    show_rows([line for quota in found for line in quota.lines], COLUMNS, output)
