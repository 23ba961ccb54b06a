"""`gpuaas admin workers`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.cli.speech import ReasonOption
from gpuaas.cli.words import took
from gpuaas.wire.work import WorkerStatus

command = new_group("The work loop: what is due, what is stuck, and the switch to stop it.")

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


@list_command(command, "list", COLUMNS)
def list_workers(call: Call) -> Iterable[WorkerStatus]:
    """List the workers and their queues."""
    return call.client.admin.workers.list()


@action_command(command, "disable", COLUMNS)
def disable(call: Call, worker: WorkerArgument, reason: ReasonOption = "") -> Action[WorkerStatus]:
    """Break glass: stop a worker everywhere until it is enabled again."""
    return Action(
        ask=Question(
            words=f"Disable {worker}?",
            lost=f"progress of everything that waits for {worker}.",
            survives="the queue: it is worked off once the worker is enabled.",
        ),
        run=lambda: call.client.admin.workers.disable(worker, reason=reason),
    )


@show_command(command, "enable", COLUMNS)
def enable(call: Call, worker: WorkerArgument, reason: ReasonOption = "") -> WorkerStatus:
    """Let a worker work again."""
    return call.client.admin.workers.enable(worker, reason=reason)
