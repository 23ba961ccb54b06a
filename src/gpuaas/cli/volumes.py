"""`gpuaas volumes`."""

from typing import Annotated

import typer

from gpuaas.cli.apps import new_app
from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.connections import connected
from gpuaas.cli.names import MachineArgument, ProjectOption, choose, chosen_allocation, chosen_project, is_id
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.progress import follow
from gpuaas.cli.speech import YesOption, confirm, note
from gpuaas.cli.words import clock
from gpuaas.sdk import Client
from gpuaas.wire.storage import AccessMode, Attachment, Backend, Snapshot, Volume, WritePolicy
from gpuaas.wire.timeline import OperationStatus

command = new_app("Volumes: data that outlives allocations, attached to them on purpose.")

VolumeArgument = Annotated[str, typer.Argument(metavar="VOLUME", help="Exact name or id.")]
MIB = 1 << 20


def used(one: Volume) -> str:
    return f"{one.usage.used_bytes / MIB:.0f} MiB" if one.usage else "not measured"


def proven(one: Volume) -> str | None:
    """What was looked for after its deletion, one below the other."""
    return (
        "\n".join(f"{'ok' if each.ok else 'NOT'} {each.item}: {each.evidence}" for each in one.deletion_proofs) or None
    )


SUMMARY: list[Column[Volume]] = [
    Column("Name", lambda one: one.name, may_shrink=True),
    Column("Status", lambda one: one.status, is_state=True),
    Column("GiB", lambda one: one.size_gib, align="right"),
    Column("Used", used, align="right"),
    Column("Backend", lambda one: one.backend),
    Column("Durability", lambda one: one.durability),
    Column("Attached to", lambda one: ", ".join(each.allocation_name for each in one.attachments), may_shrink=True),
    Column("Protected", lambda one: "yes" if one.protected else ""),
]
CARD: list[Column[Volume]] = [
    *SUMMARY[:2],
    Column("Id", lambda one: one.id),
    Column("Reason", lambda one: one.status_reason),
    *SUMMARY[2:],
    Column("Measured", lambda one: one.usage and one.usage.at),
    Column("Over its size", lambda one: "yes: new writers are refused" if one.is_over_quota else None),
    Column("Size limit", lambda one: one.quota),
    Column("Writers", lambda one: one.write_policy),
    Column("Attaches to", lambda one: one.attaches_to),
    Column("Mounted at", lambda one: ", ".join(f"{at.allocation_name}:{at.mount_path}" for at in one.attachments)),
    Column("Deleted", lambda one: one.deleted_at),
    Column("Proof", proven),
]
ATTACHMENT: list[Column[Attachment]] = [
    Column("Volume", lambda one: one.volume_name),
    Column("Path", lambda one: one.mount_path),
    Column("Mode", lambda one: one.access_mode),
    Column("Status", lambda one: one.status, is_state=True),
    Column("Reason", lambda one: one.status_reason, may_shrink=True),
]
SNAPSHOT: list[Column[Snapshot]] = [
    Column("Name", lambda one: one.name),
    Column("Id", lambda one: one.id),
    Column("Status", lambda one: one.status, is_state=True),
    Column("Bytes", lambda one: one.size_bytes, align="right"),
    Column("Consistency", lambda one: one.consistency, may_shrink=True),
]


def chosen(ctx: typer.Context, client: Client, word: str, project: str) -> Volume:
    project_id = chosen_project(ctx, client, project)
    if is_id(word, "vol"):
        return client.volumes.get(project_id, word)  # also one that is deleted, with the proof of it
    found = client.volumes.list(project_id)
    return choose(word, found, lambda one: (one.name, one.id), "volume")


def finish(ctx: typer.Context, client: Client, operation_id: str, project_id: str, *, retry: str) -> None:
    """Show the work until it has ended; a failure is this command's own."""
    end = follow(ctx, client, operation_id, come_back="gpuaas volumes list", project_id=project_id)
    if end.status is OperationStatus.FAILED:
        raise Complaint(end.reason or "It failed.", next_step=retry, code=ExitCode.SERVER)


@command.command("create")
def create_volume(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Unique in the project.")],
    *,
    size: Annotated[int, typer.Option("--size", min=1, help="GiB.")] = 10,
    backend: Annotated[Backend, typer.Option("--backend", help="Where it is kept.")] = Backend.SHARED,
    writers: Annotated[WritePolicy, typer.Option("--writers", help="How many may write.")] = WritePolicy.SINGLE_WRITER,
    beside: Annotated[str, typer.Option("--beside", help="For local ones: on the node of this allocation.")] = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Create a volume.

    \b
    Examples:
      gpuaas volumes create datasets --size 100
      gpuaas volumes create cache --backend local --beside train-a
    """
    with connected(ctx) as client:
        project_id = chosen_project(ctx, client, project)
        machine = chosen_allocation(ctx, client, beside, project) if beside else None
        made = client.volumes.create(
            project_id,
            name,
            size,
            backend=backend,
            write_policy=writers,
            allocation_id=machine.id if machine else None,
        )
        finish(ctx, client, made.operation_id, project_id, retry=f"gpuaas volumes get {name}")
        show_one(client.volumes.get(project_id, made.id), CARD, output)


@command.command("list")
def list_volumes(ctx: typer.Context, project: ProjectOption = "", output: OutputOption = Output.TABLE) -> None:
    """List the volumes of a project, newest first."""
    with connected(ctx) as client:
        found = client.volumes.list(chosen_project(ctx, client, project))
        show_rows(found, SUMMARY, output, empty="No volumes here: gpuaas volumes create NAME --size 100")


@command.command("get")
def get_volume(
    ctx: typer.Context, volume: VolumeArgument, project: ProjectOption = "", output: OutputOption = Output.TABLE
) -> None:
    """Show one volume, and where it is attached."""
    with connected(ctx) as client:
        show_one(chosen(ctx, client, volume, project), CARD, output)


@command.command("attach")
def attach_volume(
    ctx: typer.Context,
    volume: VolumeArgument,
    allocation: MachineArgument,
    *,
    at: Annotated[str, typer.Option("--at", help="Where it appears in the machine.")] = "/data",
    read_only: Annotated[bool, typer.Option("--read-only", help="Others may write meanwhile.")] = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Mount a volume on an allocation, also while it runs.

    \b
    Examples:
      gpuaas volumes attach datasets train-a
      gpuaas volumes attach datasets train-b --at /data/sets --read-only
    """
    mode = AccessMode.READ_ONLY if read_only else AccessMode.READ_WRITE
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        machine = chosen_allocation(ctx, client, allocation, project)
        made = client.volumes.attach(machine.id, found.id, at, access_mode=mode)
        finish(ctx, client, made.operation_id, found.project_id, retry=f"gpuaas allocations timeline {machine.name}")
        show_one(client.volumes.attachment(machine.id, made.id), ATTACHMENT, output)


@command.command("detach")
def detach_volume(
    ctx: typer.Context,
    volume: VolumeArgument,
    allocation: MachineArgument,
    *,
    force: Annotated[bool, typer.Option("--force", help="End the processes that use it.")] = False,
    yes: YesOption = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Unmount a volume from an allocation; its data stays.

    \b
    Examples:
      gpuaas volumes detach datasets train-a
      gpuaas volumes detach datasets train-a --force
    """
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        machine = chosen_allocation(ctx, client, allocation, project)
        attached = next((one for one in machine.attachments if one.volume_id == found.id), None)
        if attached is None:
            raise Complaint(
                f"{found.name} is not attached to {machine.name}.",
                next_step=f"gpuaas volumes get {found.name}",
                code=ExitCode.NOT_FOUND,
            )
        by_force = f"every process on {machine.name} that uses it, and its place at {attached.mount_path}."
        confirm(
            f"Detach {found.name} from {machine.name}{' by force' if force else ''}?",
            lost=by_force if force else f"its place at {attached.mount_path} of {machine.name}; refused while in use.",
            survives="the volume and everything that was written to it.",
            yes=yes,
        )
        gone = client.volumes.detach(machine.id, attached.id, force=force)
        retry = f"close what uses it, or: gpuaas volumes detach {found.name} {machine.name} --force"
        finish(ctx, client, gone.operation_id, found.project_id, retry=retry)
        show_one(client.volumes.attachment(machine.id, attached.id), ATTACHMENT, output)


@command.command("snapshot")
def snapshot_volume(
    ctx: typer.Context,
    volume: VolumeArgument,
    name: Annotated[str, typer.Argument(help="Of the snapshot; without one, those there are are listed.")] = "",
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Copy a volume as it is now, or list its snapshots."""
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        if name:
            taken = client.volumes.snapshot(found.id, name)
            finish(ctx, client, taken.operation_id, found.project_id, retry=f"gpuaas volumes snapshot {found.name}")
        show_rows(client.volumes.snapshots(found.id), SNAPSHOT, output, empty="It has no snapshots.")


@command.command("delete-snapshot")
def delete_snapshot(
    ctx: typer.Context,
    volume: VolumeArgument,
    snapshot: Annotated[str, typer.Argument(help="Name or id of one of its snapshots.")],
    *,
    yes: YesOption = False,
    project: ProjectOption = "",
) -> None:
    """Erase a snapshot; the volume and what was restored from it stay."""
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        taken = snapshot_of(client, found, snapshot)
        confirm(
            f"Delete the snapshot {taken.name} of {found.name}?",
            lost=f"{found.name} as it was at {clock(taken.created_at)}. It cannot be undone.",
            survives="the volume as it is now, its other snapshots, and volumes restored from this one.",
            yes=yes,
        )
        gone = client.volumes.delete_snapshot(found.id, taken.id)
        finish(ctx, client, gone.operation_id, found.project_id, retry=f"gpuaas volumes snapshot {found.name}")
    note(f"The snapshot {taken.name} is deleted.")


def snapshot_of(client: Client, volume: Volume, word: str) -> Snapshot:
    listed = f"gpuaas volumes snapshot {volume.name}"
    return choose(word, client.volumes.snapshots(volume.id), lambda one: (one.name, one.id), "snapshot", listed=listed)


@command.command("restore")
def restore_volume(
    ctx: typer.Context,
    volume: VolumeArgument,
    snapshot: Annotated[str, typer.Argument(help="Name or id of one of its snapshots.")],
    name: Annotated[str, typer.Argument(help="Of the new volume.")],
    *,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Make a new volume from a snapshot; the old one stays as it is."""
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        taken = snapshot_of(client, found, snapshot)
        made = client.volumes.create(
            found.project_id, name, found.size_gib, backend=found.backend, snapshot_id=taken.id
        )
        finish(ctx, client, made.operation_id, found.project_id, retry=f"gpuaas volumes get {name}")
        show_one(client.volumes.get(found.project_id, made.id), CARD, output)


@command.command("protect")
def protect_volume(
    ctx: typer.Context,
    volume: VolumeArgument,
    *,
    off: Annotated[bool, typer.Option("--off", help="Take the protection off.")] = False,
    project: ProjectOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Protect a volume against deletion."""
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        show_one(client.volumes.change(found.project_id, found.id, protected=not off), CARD, output)


@command.command("delete")
def delete_volume(
    ctx: typer.Context, volume: VolumeArgument, *, yes: YesOption = False, project: ProjectOption = ""
) -> None:
    """Erase a volume and its data for good. Refused while it is attached, protected, or has snapshots."""
    with connected(ctx) as client:
        found = chosen(ctx, client, volume, project)
        confirm(
            f"Delete {found.name}?",
            lost=f"everything on {found.name} ({used(found)}). It cannot be undone.",
            survives="volumes restored from its snapshots, and the timeline of what happened.",
            yes=yes,
        )
        gone = client.volumes.delete(found.project_id, found.id)
        finish(ctx, client, gone.operation_id, found.project_id, retry=f"gpuaas volumes delete {found.name} --yes")
    note(f"{found.name} is deleted, and proven gone.")
