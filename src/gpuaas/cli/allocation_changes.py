"""Changes to a live allocation: `gpuaas allocations restart|resize|extend|release`, with what each ends and leaves."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Annotated

import typer
from msgspec import UNSET

from gpuaas.cli.allocation_views import card, say_how_to_get_in, summary
from gpuaas.cli.commands import Action, Call, FoundAllocation, Question, Wait, action_command, show_command
from gpuaas.cli.limits import IdleOption, MoreHoursOption
from gpuaas.cli.output import Column, Output, show_json, show_rows
from gpuaas.cli.speech import ReasonOption, note
from gpuaas.cli.words import age
from gpuaas.wire.allocations import Allocation, Consequence, Disruption, LimitsNow, Status, UseSignal


def add_to(command: typer.Typer) -> None:
    change = partial(action_command, command, show=show_changed, no_wait=True)
    change("restart")(restart_allocation)
    change("resize")(resize_allocation)
    show_command(command, "extend", lambda process: card(process.now))(extend_allocation)
    show_command(command, "limits", show=show_limits)(limits_of)
    change("release")(release_allocation)


def release_allocation(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[Allocation]:
    """End an allocation and everything in it.

    Waits until it is proven that nothing of it is left on the node.

    \b
    Examples:
      gpuaas allocations release train-a
      gpuaas allocations release train-a --yes --no-wait
    """
    run = partial(call.client.allocations.release, name.id, reason=reason)
    return changing(call, name, Disruption.RELEASE, run, f"gpuaas allocations release {name.id} --yes tries again")


def restart_allocation(call: Call, name: FoundAllocation, reason: ReasonOption = "") -> Action[Allocation]:
    """Reboot a machine: its disk, address, host key, keys and all that lies over it stay.

    \b
    Examples:
      gpuaas allocations restart train-a
      gpuaas allocations restart train-a --yes --reason "driver hung"
    """
    run = partial(call.client.allocations.restart, name.id, reason=reason)
    next_step = f"gpuaas allocations restart {name.id} tries again; `release` gives it back"
    return changing(call, name, Disruption.RESTART, run, next_step)


def resize_allocation(
    call: Call,
    name: FoundAllocation,
    *,
    gpus: Annotated[int, typer.Option("--gpus", "-g", min=1, help="GPUs it shall have.")],
    size: Annotated[str, typer.Option("--size", help="vCPU and memory, by name; otherwise the SKU's default.")] = "",
    reason: ReasonOption = "",
) -> Action[Allocation]:
    """Give a machine another GPU count or size on its node, by way of a restart; its disk stays.

    \b
    Examples:
      gpuaas allocations resize train-a --gpus 2
      gpuaas allocations resize train-a --gpus 1 --size large --yes
    """
    run = partial(call.client.allocations.resize, name.id, gpus, size=size or None, reason=reason)
    back = f"gpuaas allocations resize {name.id} --gpus {name.gpu_count}"
    next_step = f"gpuaas allocations restart {name.id} finishes it; {back} reverts it"
    return changing(call, name, Disruption.RESIZE, run, next_step)


def extend_allocation(
    call: Call,
    name: FoundAllocation,
    *,
    hours: MoreHoursOption = None,
    until: Annotated[datetime | None, typer.Option("--until", help="The end itself, in your time.")] = None,
    forever: Annotated[bool, typer.Option("--forever", help="Remove the end; an idle limit stays.")] = False,
    idle: IdleOption = None,
    no_idle: Annotated[bool, typer.Option("--no-idle", help="Remove the idle limit.")] = False,
) -> Allocation:
    """Change when a machine ends by itself.

    \b
    Examples:
      gpuaas allocations extend train-a --hours 4
      gpuaas allocations extend train-a --forever --idle 120
    """
    if sum((hours is not None, until is not None, forever)) > 1:
        raise typer.BadParameter("give one of --hours, --until and --forever")
    if idle is not None and no_idle:
        raise typer.BadParameter("give one of --idle and --no-idle")
    if hours is None and until is None and idle is None and not (forever or no_idle):
        raise typer.BadParameter("say what to change: --hours, --until, --forever, --idle or --no-idle")
    end = until.astimezone() if until else None
    return call.client.allocations.extend(
        name.id,
        hours=UNSET if hours is None else hours,
        expires_at=end if end or forever else UNSET,
        idle_minutes=UNSET if idle is None and not no_idle else idle,
    )


def limits_of(call: Call, name: FoundAllocation) -> LimitsNow:
    """Show when a machine ends by itself, the time left, and what shows that it is used.

    \b
    Example:
      gpuaas allocations limits train-a
    """
    return call.client.allocations.limits(name.id)


def show_limits(call: Call, found: LimitsNow) -> None:
    if call.output is Output.JSON:
        show_json(found)
        return
    now = call.process.now
    columns: list[Column[UseSignal]] = [
        Column("Signal", lambda one: one.kind),
        Column("Last work", last_work, lambda at: at if isinstance(at, str) else f"{age(at, now())} ago"),
        Column("Not known because", lambda one: one.unavailable),
    ]
    show_rows(found.signals, columns, call.output)
    if call.output is Output.TABLE:
        note(ending(found))


def last_work(one: UseSignal) -> datetime | str | None:
    return one.last_at or (None if one.unavailable else "none seen")


def ending(found: LimitsNow) -> str:
    ends = []
    if found.expires_in_seconds is not None:
        ends.append(f"Ends in {found.expires_in_seconds / 3600:.1f} h.")
    if found.limits.idle_minutes and found.idle_ends_in_seconds is None:
        ends.append("Its idle clock stands still: not every signal can be read.")
    elif found.idle_ends_in_seconds is not None:
        ends.append(f"Idle; ends in {found.idle_ends_in_seconds / 60:.0f} min unless it works.")
    return " ".join(ends) or "It has no end of its own: gpuaas allocations extend NAME --hours 8"


def changing(
    call: Call, found: Allocation, of: Disruption, run: Callable[[], Allocation], next_step: str
) -> Action[Allocation]:
    """The question is in the server's words: what is lost and what survives."""
    consequences = call.client.allocations.consequences(found.id, of)

    def failure(why: str) -> str:
        now = call.client.allocations.get(found.id)
        return f"{now.name} is {now.status}: {why or now.status_reason}"

    return Action(
        ask=Question(
            words=f"{of.value.capitalize()} {found.name}?",
            lost=_listed(consequences.lost),
            survives=f"{_listed(consequences.survives)}\n{consequences.billing}",
        ),
        run=run,
        wait=Wait(
            look=lambda _: call.client.allocations.get(found.id),
            again=f"gpuaas allocations get {found.id} --watch",
            failure=failure,
            next_step=next_step,
            allocation_id=found.id,
        ),
    )


def _listed(consequences: list[Consequence]) -> str:
    return "".join(f"\n  {each.what}: {each.detail}" for each in consequences) or "nothing"


def show_changed(call: Call, changed: Allocation) -> None:
    if call.output is Output.JSON:
        show_json(changed)
    elif call.output is not Output.TABLE:
        show_rows([changed], summary(call.process.now), call.output)
    elif changed.status is Status.ACTIVE:
        say_how_to_get_in([changed])
    else:
        note(f"{changed.name} is {changed.status}.")
