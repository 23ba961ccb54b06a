"""`gpuaas admin workers`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, confirm
from gpuaas.cli.words import took
from gpuaas.wire.work import WorkerStatus

command = new_app("The work loop: what is due, what is stuck, and the switch to stop it.")

WorkerArgument = Annotated[str, typer.Argument(metavar="WORKER", help="One of `gpuaas admin workers list`.")]

COLUMNS: list[Column[WorkerStatus]] = [
    Column("Worker", lambda worker: worker.worker),
    Column("State", lambda worker: "disabled" if worker.disabled_at else "ok", is_state=True),
    Column("Due", lambda worker: worker.due, align="right"),
    Column("Leased", lambda worker: worker.leased, align="right"),
    Column("Failing", lambda worker: worker.failing, align="right"),
    Column("Oldest", lambda worker: worker.oldest_due_seconds, took, align="right"),
    Column("Last error", lambda worker: worker.disabled_reason or worker.last_error, may_shrink=True),
]


@command.command("list")
def list_workers(ctx: typer.Context, output: OutputOption = Output.TABLE) -> None:
    """List the workers and their queues."""
    with connected(ctx) as client:
        show_rows(client.admin.workers.list(), COLUMNS, output)


@command.command("disable")
def disable(
    ctx: typer.Context,
    worker: WorkerArgument,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Break glass: stop a worker everywhere until it is enabled again."""
    with connected(ctx) as client:
        confirm(
            f"Disable {worker}?",
            lost=f"progress of everything that waits for {worker}.",
            survives="the queue: it is worked off once the worker is enabled.",
            yes=yes,
        )
        show_one(client.admin.workers.disable(worker, reason=reason), COLUMNS, output)


@command.command("enable")
def enable(
    ctx: typer.Context, worker: WorkerArgument, reason: ReasonOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Let a worker work again."""
    with connected(ctx) as client:
        show_one(client.admin.workers.enable(worker, reason=reason), COLUMNS, output)
