"""`gpuaas admin storage`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import chosen_node
from gpuaas.cli.commands import Call, list_command
from gpuaas.cli.complaints import Complaint
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_rows
from gpuaas.cli.speech import note
from gpuaas.wire.storage import Backend, Check, StorageBackend

command = new_group("Storage backends: what they promise, and whether they keep it.")


def verdict(one: StorageBackend) -> str:
    if one.conformance is None:
        return "never tried"
    if one.conformance.passed is None:
        return "running"
    return "passed" if one.conformance.passed else "failed"


COLUMNS: list[Column[StorageBackend]] = [
    Column("Backend", lambda one: one.backend),
    Column("Title", lambda one: one.title, may_shrink=True),
    Column("Durability", lambda one: one.durability),
    Column("Multi-writer", lambda one: "offered" if one.multi_writer else "not offered"),
    Column("Last run", lambda one: one.conformance.ended_at if one.conformance else None),
    Column("Result", verdict),
]
CHECKS: list[Column[Check]] = [
    Column("Check", lambda one: one.check),
    Column("Result", lambda one: "ok" if one.ok else "failed", is_state=True),
    Column("Evidence", lambda one: one.evidence, may_shrink=True),
]


@list_command(command, "list", COLUMNS)
def list_backends(call: Call) -> Iterable[StorageBackend]:
    """List the backends, and how they did when they were last tried."""
    return call.client.storage_backends.list()


@command.command("conformance")
def conformance(
    ctx: typer.Context,
    backend: Annotated[Backend, typer.Argument(help="shared or local.")],
    node: Annotated[
        str, typer.Option("--node", help="Node to run it on, by exact name or id; otherwise the first.")
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="Only show the last run.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Try on a node whether a backend keeps what it promises; multi-writer volumes need a run that passed.

    \b
    Examples:
      gpuaas admin storage conformance shared --node gpu-01
      gpuaas admin storage conformance shared --show
    """
    with connected(ctx) as client:
        if not show:
            there = chosen_node(client, node) if node else next(iter(client.admin.nodes.list()), None)
            if there is None:
                raise Complaint("There is no node yet.", next_step="gpuaas admin nodes enrol-token NAME")
            run = client.storage_backends.run_conformance(backend, there.id)
            note(f"A run on {there.name} has begun: {run.id}")
            note(f"See it with: gpuaas admin storage conformance {backend} --show")
            return
        found = next(one for one in client.storage_backends.list() if one.backend is backend)
    if output is Output.JSON:
        show_json(found)
        return
    run_now = found.conformance
    note(f"{backend}: {verdict(found)}" + (f" ({run_now.reason})" if run_now and run_now.reason else ""))
    show_rows(run_now.checks if run_now else [], CHECKS, output, empty="No checks to show.")
