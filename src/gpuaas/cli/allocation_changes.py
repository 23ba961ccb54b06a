"""Changes to a live machine: `gpuaas allocations restart|resize|extend|release`, with what each ends and leaves."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

import typer
from msgspec import UNSET

from gpuaas.cli.allocation_views import card, say_how_to_get_in, summary
from gpuaas.cli.changing import Change, NoWaitOption, Question, make
from gpuaas.cli.connections import connected
from gpuaas.cli.limits import IdleOption, MoreHoursOption
from gpuaas.cli.names import NameArgument, ProjectOption, chosen_allocation
from gpuaas.cli.output import Column, Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, note
from gpuaas.cli.surroundings import surroundings_of
from gpuaas.cli.words import age
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Allocation, Consequence, Disruption, LimitsNow, Status, UseSignal


def release_allocation(
    ctx: typer.Context,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """End an allocation and everything in it.

    Waits until it is proven that nothing of it is left on the node.

    \b
    Examples:
      gpuaas allocations release train-a
      gpuaas allocations release train-a --yes --no-wait
    """

    def act(client: Client, found: Allocation) -> Allocation:
        return client.allocations.release(found.id, reason=reason)

    def again(found: Allocation) -> str:
        return f"gpuaas allocations release {found.id} --yes tries again"

    change = changing(Disruption.RELEASE, act, again)
    show_changed(ctx, make(ctx, name, project, change, yes=yes, no_wait=no_wait), output)


def restart_allocation(
    ctx: typer.Context,
    name: NameArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Reboot a machine: its disk, address, host key, keys and all that lies over it stay.

    \b
    Examples:
      gpuaas allocations restart train-a
      gpuaas allocations restart train-a --yes --reason "driver hung"
    """

    def act(client: Client, found: Allocation) -> Allocation:
        return client.allocations.restart(found.id, reason=reason)

    def ways_out(found: Allocation) -> str:
        return f"gpuaas allocations restart {found.id} tries again; `release` gives it back"

    change = changing(Disruption.RESTART, act, ways_out)
    show_changed(ctx, make(ctx, name, project, change, yes=yes, no_wait=no_wait), output)


def resize_allocation(
    ctx: typer.Context,
    name: NameArgument,
    *,
    gpus: Annotated[int, typer.Option("--gpus", "-g", min=1, help="GPUs it shall have.")],
    size: Annotated[str, typer.Option("--size", help="vCPU and memory, by name; otherwise the SKU's default.")] = "",
    reason: ReasonOption = "",
    yes: YesOption = False,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Give a machine another GPU count or size on its node, by way of a restart; its disk stays.

    \b
    Examples:
      gpuaas allocations resize train-a --gpus 2
      gpuaas allocations resize train-a --gpus 1 --size large --yes
    """

    def act(client: Client, found: Allocation) -> Allocation:
        return client.allocations.resize(found.id, gpus, size=size or None, reason=reason)

    def ways_out(found: Allocation) -> str:
        back = f"gpuaas allocations resize {found.id} --gpus {found.gpu_count}"
        return f"gpuaas allocations restart {found.id} finishes it; {back} reverts it"

    change = changing(Disruption.RESIZE, act, ways_out)
    show_changed(ctx, make(ctx, name, project, change, yes=yes, no_wait=no_wait), output)


def extend_allocation(
    ctx: typer.Context,
    name: NameArgument,
    *,
    hours: MoreHoursOption = None,
    until: Annotated[datetime | None, typer.Option("--until", help="The end itself, in your time.")] = None,
    forever: Annotated[bool, typer.Option("--forever", help="Remove the end; an idle limit stays.")] = False,
    idle: IdleOption = None,
    no_idle: Annotated[bool, typer.Option("--no-idle", help="Remove the idle limit.")] = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
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
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        extended = client.allocations.extend(
            found.id,
            hours=UNSET if hours is None else hours,
            expires_at=end if end or forever else UNSET,
            idle_minutes=UNSET if idle is None and not no_idle else idle,
        )
    show_one(extended, card(surroundings_of(ctx).now), output)


def show_limits(
    ctx: typer.Context, name: NameArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Show when a machine ends by itself, the time left, and what shows that it is used.

    \b
    Example:
      gpuaas allocations limits train-a
    """
    now = surroundings_of(ctx).now
    with connected(ctx) as client:
        found = client.allocations.limits(chosen_allocation(ctx, client, name, project).id)
    if output is Output.JSON:
        show_json(found)
        return
    columns: list[Column[UseSignal]] = [
        Column("Signal", lambda one: one.kind),
        Column("Last work", last_work, lambda at: at if isinstance(at, str) else f"{age(at, now())} ago"),
        Column("Not known because", lambda one: one.unavailable),
    ]
    show_rows(found.signals, columns, output)
    if output is Output.TABLE:
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
    of: Disruption, act: Callable[[Client, Allocation], Allocation], ways_out: Callable[[Allocation], str]
) -> Change[Allocation]:
    return Change(
        act=act,
        look=lambda client, found: client.allocations.get(found.id),
        question=lambda client, found: said_before(client, found, of),
        failure=lambda _found, now, why: f"{now.name} is {now.status}: {why or now.status_reason}",
        ways_out=ways_out,
        come_back=lambda found: f"gpuaas allocations get {found.id} --watch",
    )


def said_before(client: Client, found: Allocation, of: Disruption) -> Question:
    """The server's own words on what is lost and what survives."""
    said = client.allocations.consequences(found.id, of)
    return Question(
        words=f"{of.value.capitalize()} {found.name}?",
        lost=_listed(said.lost),
        survives=f"{_listed(said.survives)}\n{said.billing}",
    )


def _listed(consequences: list[Consequence]) -> str:
    return "".join(f"\n  {each.what}: {each.detail}" for each in consequences) or "nothing"


def show_changed(ctx: typer.Context, changed: Allocation, output: Output) -> None:
    if output is Output.JSON:
        show_json(changed)
    elif output is not Output.TABLE:
        show_rows([changed], summary(surroundings_of(ctx).now), output)
    elif changed.status is Status.ACTIVE:
        say_how_to_get_in([changed])
    else:
        note(f"{changed.name} is {changed.status}.")
