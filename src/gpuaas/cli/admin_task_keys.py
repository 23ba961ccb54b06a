"""`gpuaas admin task-keys`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.commands import Action, Call, Question, action_command, list_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.cli.process_context import ProcessContext
from gpuaas.cli.speech import ReasonOption
from gpuaas.cli.words import age
from gpuaas.wire.task_keys import TaskKey

command = new_group("Keys that sign node tasks: list, rotate, retire.")
NAMES_SHOWN = 5


def columns(process: ProcessContext) -> list[Column[TaskKey]]:
    return [
        Column("Generation", lambda key: key.generation, align="right"),
        Column("State", state, is_state=True),
        Column("Created", lambda key: key.created_at, lambda at: age(at, process.now()), align="right"),
        Column("Trusting", lambda key: key.nodes_trusting, align="right"),
        Column("Missing", lambda key: key.nodes_missing, align="right"),
        Column("Names", lambda key: names(key) or None, may_shrink=True),
        Column("Reason", lambda key: key.retire_reason or key.reason, may_shrink=True),
    ]


def state(key: TaskKey) -> str:
    return "current" if key.is_current else "retired" if key.retired_at else "active"


def names(key: TaskKey) -> str:
    more = ", …" if key.nodes_missing > NAMES_SHOWN else ""
    return ", ".join(key.missing[:NAMES_SHOWN]) + more


@list_command(command, "list", columns)
def list_task_keys(call: Call) -> Iterable[TaskKey]:
    """List the generations and the nodes that do not trust them yet."""
    return call.client.admin.task_keys.list()


@action_command(command, "rotate", columns, asks=False)
def rotate(call: Call, reason: ReasonOption = "") -> Action[TaskKey]:
    """Start a new generation. Nodes accept it over their links, without interruption.

    \b
    Examples:
      gpuaas admin task-keys rotate --reason "yearly rotation"
      gpuaas admin task-keys list
      gpuaas admin task-keys retire 1 --reason "yearly rotation"
    """
    return Action(run=lambda: call.client.admin.task_keys.rotate(reason=reason), done=next_step)


def next_step(made: TaskKey) -> str:
    return f"Next, when no node is missing: gpuaas admin task-keys retire {made.generation - 1} --reason …"


@action_command(command, "retire", columns)
def retire(
    call: Call,
    generation: Annotated[int, typer.Argument(metavar="GENERATION", min=1, help="This one and every older one.")],
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; written to the audit log.")],
    force: Annotated[bool, typer.Option("--force", help="Also when nodes trust no newer key: the key leaked.")] = False,
) -> Action[TaskKey]:
    """End a generation: nodes follow nothing that it has signed."""
    keys = call.client.admin.task_keys
    newer = next((key for key in keys.list() if key.generation == generation + 1), None)
    cut_off = f"{newer.nodes_missing} nodes ({names(newer)})" if newer and newer.nodes_missing else ""
    return Action(
        ask=Question(
            words=f"Retire generation {generation}?",
            lost=f"links of {cut_off}, until `gpuaas agent rotate-key` is run on each."
            if force and cut_off
            else f"generation {generation} and older ones, for ever.",
            survives="environments, volumes and connections on every node.",
        ),
        run=lambda: keys.retire(generation, reason=reason, force=force),
    )
