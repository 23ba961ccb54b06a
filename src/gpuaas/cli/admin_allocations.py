"""`gpuaas admin allocations`."""

from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import chosen_node
from gpuaas.cli.allocation_views import SUMMARY, card, summary, timeline_rows
from gpuaas.cli.commands import Action, Call, Question, action_command, show_command
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import ENDED
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import ReasonOption, YesOption, confirm
from gpuaas.cli.terminal import conclude, require_terminal, run_terminal
from gpuaas.wire.allocations import Allocation, CleanupProof, FleetFilter, InspectedAllocation, NodeTask, Status

command = new_group("Allocations of all projects, and what to do when one is stuck.")

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the allocation: names are unique only in a project.")
]


@command.command("list")
def list_allocations(
    ctx: typer.Context,
    *,
    status: Annotated[Status | None, typer.Option("--status", help="Only those in this state.")] = None,
    node: Annotated[str, typer.Option("--node", help="Only those on this node.")] = "",
    only: Annotated[
        FleetFilter | None,
        typer.Option("--only", help="on_node: still holds slots. unsettled: of those, what is stuck or on its way."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Released and failed ones too.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """List allocations across projects; CSV and JSON carry their ids."""
    now = process_context(ctx).now
    with connected(ctx) as client:
        node_id = chosen_node(client, node).id if node else None
        found = list(client.admin.allocations.list(status=status, node_id=node_id, only=only))
    is_whole = everything or status is not None or only is not None
    shown = [one for one in found if is_whole or one.status not in ENDED]
    show_rows(shown, card(now) if output is Output.CSV else summary(now), output, empty="No allocations.")


TASKS: list[Column[NodeTask]] = [
    Column("task", lambda task: task.kind),
    Column("boot", lambda task: task.boot, align="right"),
    Column("status", lambda task: task.status, is_state=True),
    Column("sent", lambda task: task.attempt, align="right"),
    Column("reason", lambda task: f"{task.reason} {task.detail}".strip(), may_shrink=True),
]
PROOFS: list[Column[CleanupProof]] = [
    Column("proof", lambda proof: proof.item),
    Column("ok", lambda proof: "ok" if proof.ok else "failed", is_state=True),
    Column("evidence", lambda proof: proof.evidence, may_shrink=True),
]


def show_inspected(call: Call, found: InspectedAllocation) -> None:
    if call.output is Output.JSON:
        show_json(found)
        return
    show_one(found.allocation, card(call.process.now), call.output)
    show_rows(timeline_rows(found.timeline), SUMMARY, call.output)
    show_rows(found.tasks, TASKS, call.output, empty="No node was asked for anything.")
    show_rows(found.proofs, PROOFS, call.output, empty="Nothing is proven yet.")


@show_command(command, "get", show=show_inspected)
def inspect_allocation(call: Call, id: IdArgument) -> InspectedAllocation:
    """Show all there is to know: its timeline, what its node was asked and answered, every proof."""
    return call.client.admin.allocations.inspect(id)


@action_command(command, "force-release", lambda process: summary(process.now))
def force_release(call: Call, id: IdArgument, reason: ReasonOption = "") -> Action[Allocation]:
    """Release somebody's allocation for them."""
    return Action(
        ask=Question(
            words=f"Release {id} by force?",
            lost="every process and file inside it; its holder is told that an operator did it.",
            survives="its timeline. Its slots stay blocked until cleanup is proven.",
        ),
        run=lambda: call.client.admin.allocations.force_release(id, reason=reason),
    )


@action_command(command, "force-cleanup", lambda process: summary(process.now))
def force_cleanup(
    call: Call,
    id: IdArgument,
    *,
    reason: Annotated[str, typer.Option("--reason", help="What you saw on the node; written on the timeline.")],
    verified_absent: Annotated[
        bool,
        typer.Option(
            "--verified-absent/--not-verified", help="You looked: nothing of it is left. Only then its slots are free."
        ),
    ] = False,
) -> Action[Allocation]:
    """Settle a cleanup that the agent cannot prove.

    \b
    Example:
      gpuaas admin allocations force-cleanup alloc_… --verified-absent --reason "disk replaced"
    """
    settle = call.client.admin.allocations.force_cleanup
    return Action(
        ask=Question(
            words=f"Settle the cleanup of {id} by hand?",
            lost="the agent's proof: your word stands in its place.",
            survives="the slots become free." if verified_absent else "the slots stay blocked.",
        ),
        run=lambda: settle(id, runtime_verified_absent=verified_absent, reason=reason),
    )


@command.command("break-glass")
def break_glass(
    ctx: typer.Context,
    id: IdArgument,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; the people of the allocation see it.")],
    minutes: Annotated[int, typer.Option("--minutes", min=1, max=240, help="How long the access lasts.")] = 60,
    yes: YesOption = False,
) -> None:
    """Open a recorded terminal on somebody's allocation. Its people see who, why and until when, and can end it.

    \b
    Example:
      gpuaas admin allocations break-glass alloc_… --reason "ticket 4711: fan alarm" --minutes 30
    """
    require_terminal("gpuaas admin allocations get shows what is known of it")
    confirm(
        f"Open a terminal on {id}?",
        lost="nothing; its people are told that you are in, and why, and what it shows is recorded.",
        survives="everything inside it.",
        yes=yes,
    )
    with connected(ctx) as client:

        def mint(session_id: str | None) -> str:
            opened = client.admin.allocations.break_glass(id, reason=reason, minutes=minutes, session_id=session_id)
            return opened.terminal.token

        session, outcome = run_terminal(ctx, id, mint)
    conclude(id, session, outcome)


@action_command(command, "end-break-glass", asks=False)
def end_break_glass(call: Call, id: IdArgument) -> Action[None]:
    """End all break-glass access to an allocation; terminals are closed."""
    return Action(run=lambda: call.client.admin.allocations.end_break_glass(id), done=lambda _: "Ended.")
