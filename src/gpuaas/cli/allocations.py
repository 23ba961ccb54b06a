"""`gpuaas allocations`."""

from datetime import timedelta
from typing import Annotated

import typer

from gpuaas.cli import allocation_access, allocation_changes, allocation_terminals
from gpuaas.cli.allocation_views import SUMMARY, card, say_how_to_get_in, show_changes, summary, timeline_rows
from gpuaas.cli.commands import Call, FoundAllocation, NoWaitOption, show_command
from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.connections import connected
from gpuaas.cli.groups import new_group
from gpuaas.cli.launching import chosen_keys, chosen_sku, chosen_volumes, finish, launch_project, volume_to_make
from gpuaas.cli.limits import IdleOption, LifetimeOption
from gpuaas.cli.names import ENDED, NameArgument, ProjectOption, chosen_allocation, chosen_project
from gpuaas.cli.output import Output, OutputOption, show_json, show_one, show_rows
from gpuaas.cli.process_context import process_context
from gpuaas.cli.speech import note
from gpuaas.cli.watching import look, show_watch
from gpuaas.sdk import Client
from gpuaas.wire.allocations import Status, SubmittedAllocations
from gpuaas.wire.timeline import Entry

command = new_group("Environments on the fleet: create, follow, restart, resize, release.")

allocation_changes.add_to(command)
allocation_access.add_to(command)
allocation_terminals.add_to(command)


VolumesOption = Annotated[
    list[str] | None, typer.Option("--volume", help="NAME:/path or NAME:/path:ro; repeat for several.")
]
NewVolumesOption = Annotated[
    list[str] | None,
    typer.Option("--new-volume", help="NAME:GIB:/path, made with it; :local behind it for its node's disk."),
]


@command.command("create")
def create_allocation(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Option("--name", help="Unique in the project; otherwise made up for you.")] = "",
    sku: Annotated[str, typer.Option("--sku", help="One of `gpuaas skus`; may be left out if there is only one.")] = "",
    gpus: Annotated[int, typer.Option("--gpus", "-g", min=1, help="GPUs of each.")] = 1,
    size: Annotated[str, typer.Option("--size", help="vCPU and memory, by name; otherwise the SKU's default.")] = "",
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many, all or none.")] = 1,
    region: Annotated[str, typer.Option("--region", help="Only there; otherwise anywhere.")] = "",
    hours: LifetimeOption = None,
    idle: IdleOption = None,
    runtime: Annotated[str, typer.Option("--runtime", help="One of `gpuaas runtimes list`, laid over it.")] = "",
    key: Annotated[
        list[str] | None, typer.Option("--key", "-k", help="SSH key by title; repeat for several. Otherwise all yours.")
    ] = None,
    volume: VolumesOption = None,
    new_volume: NewVolumesOption = None,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Create an allocation, show its phases, and say how to get in.

    \b
    Examples:
      gpuaas allocations create --sku sim-h200-slice --name train-a
      gpuaas allocations create --sku sim-h200-slice --gpus 4 --key laptop --runtime pytorch
      gpuaas allocations create --sku sim-h200-slice --volume datasets:/data:ro --new-volume out:50:/workspace
      gpuaas allocations create --sku sim-h200-slice --name sweep --count 8 --no-wait -o json
    """
    with connected(ctx) as client:
        submitted = client.allocations.create(
            chosen_sku(client, sku),
            [one.id for one in chosen_keys(client, key or [])],
            project_id=launch_project(ctx, client, project),
            name=name or None,
            gpu_count=gpus,
            size=size or None,
            count=count,
            region=region or None,
            expires_at=process_context(ctx).now() + timedelta(hours=hours) if hours is not None else None,
            idle_minutes=idle,
            runtime_bundle_slug=runtime or None,
            storage_attachments=[
                *chosen_volumes(ctx, client, volume or [], project),
                *(volume_to_make(word) for word in new_volume or []),
            ],
        )
        show_launch(ctx, client, submitted, no_wait=no_wait, output=output)


@command.command("retry")
def retry_allocation(
    ctx: typer.Context,
    name: NameArgument,
    *,
    project: ProjectOption = "",
    no_wait: NoWaitOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Ask again for what a failed allocation was to be; it is a new one, under the same name.

    With its keys, limits, runtime bundle and volumes, as far as they still exist.

    \b
    Example:
      gpuaas allocations retry train-a
    """
    with connected(ctx) as client:
        failed = chosen_allocation(ctx, client, name, project)
        if failed.retry is None:
            raise Complaint(
                f"{failed.name} is {failed.status}: only a failed allocation can be asked for again.",
                next_step="gpuaas allocations create",
                code=ExitCode.CLIENT,
            )
        submitted = client.allocations.submit(failed.retry)
        show_launch(ctx, client, submitted, no_wait=no_wait, output=output)


def show_launch(
    ctx: typer.Context, client: Client, submitted: SubmittedAllocations, *, no_wait: bool, output: Output
) -> None:
    """What was asked for, at once or once it is there."""
    now = process_context(ctx).now
    made = submitted.allocations if no_wait else finish(ctx, client, submitted)
    if output is Output.TABLE and not no_wait:
        say_how_to_get_in(made)
    elif len(made) == 1:
        show_one(made[0], card(now), output)
    else:
        show_rows(made, summary(now), output)


@command.command("list")
def list_allocations(
    ctx: typer.Context,
    *,
    status: Annotated[Status | None, typer.Option("--status", help="Only those in this state.")] = None,
    name: Annotated[str, typer.Option("--name", help="Only those of this name.")] = "",
    everything: Annotated[bool, typer.Option("--all", "-a", help="Released and failed ones too.")] = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """List the allocations of a project, newest first.

    \b
    Examples:
      gpuaas allocations list
      gpuaas allocations list --all -o csv > allocations.csv
    """
    with connected(ctx) as client:
        found = list(client.allocations.list(chosen_project(ctx, client, project), status=status, name=name or None))
    is_whole = everything or status is not None
    shown = [one for one in found if is_whole or one.status not in ENDED]
    empty = "No allocations here: gpuaas allocations create --sku SKU --name train-a"
    show_rows(shown, summary(process_context(ctx).now), output, empty=empty)
    if len(shown) < len(found) and output is Output.TABLE:
        note(f"{len(found) - len(shown)} released or failed not shown; --all shows them.")


@command.command("get")
def get_allocation(
    ctx: typer.Context,
    name: NameArgument,
    *,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on showing it as it changes.")] = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Show one allocation, all of it.

    \b
    Examples:
      gpuaas allocations get train-a
      gpuaas allocations get train-a --watch
    """
    now = process_context(ctx).now
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        if watch:
            show_changes(client.allocations.watch(found.id), card(now), output)
        else:
            show_one(found, card(now), output)


@command.command("watch")
def watch_allocation(ctx: typer.Context, name: NameArgument, *, project: ProjectOption = "") -> None:
    """Follow one allocation live: its phases, how long each takes, and how it is. Ends when it comes to rest.

    \b
    Example:
      gpuaas allocations watch train-a
    """
    with connected(ctx) as client:
        found = chosen_allocation(ctx, client, name, project)
        changes = client.allocations.watch(found.id, until=Status.ACTIVE)
        show_watch(look(client, changes), process_context(ctx).now)


def show_entries(call: Call, entries: list[Entry]) -> None:
    if call.output is Output.JSON:
        show_json(entries)
    else:
        show_rows(timeline_rows(entries), SUMMARY, call.output, empty="Nothing has happened yet.")


@show_command(command, "timeline", show=show_entries)
def show_timeline(call: Call, name: FoundAllocation) -> list[Entry]:
    """Show what happened, when, by whom, for how long.

    \b
    Example:
      gpuaas allocations timeline train-a
    """
    return list(call.client.allocations.timeline(name.id))
