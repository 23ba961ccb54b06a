"""`gpuaas volumes`."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer

from gpuaas.cli.commands import (
    Action,
    Call,
    Find,
    ProjectId,
    Question,
    Wait,
    action_command,
    carry_out,
    found_allocation,
    list_command,
    show_command,
)
from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.groups import new_group
from gpuaas.cli.names import choose, is_id
from gpuaas.cli.output import Column
from gpuaas.cli.words import clock
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.storage import AccessMode, Attachment, Backend, Snapshot, Volume, WritePolicy

command = new_group("Volumes: data that outlives allocations, attached to them on purpose.")

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


def chosen_volume(call: Call, word: str) -> Volume:
    if is_id(word, "vol"):
        return call.client.volumes.get(call.project_id, word)  # also one that is deleted, with the proof of it
    return choose(word, call.client.volumes.list(call.project_id), lambda one: (one.name, one.id), "volume")


VOLUME = typer.Argument(metavar="VOLUME", help="Exact name or id.")
ALLOCATION = typer.Argument(metavar="ALLOCATION", help="Exact name or id.")
BESIDE = typer.Option("--beside", help="For local ones: on the node of this allocation.")
FoundVolume = Annotated[Volume, Find(VOLUME, chosen_volume, in_project=True)]
FoundMachine = Annotated[Allocation, Find(ALLOCATION, found_allocation, in_project=True)]
SnapshotArgument = Annotated[str, typer.Argument(help="Name or id of one of its snapshots.")]


@action_command(command, "create", CARD, asks=False)
def create_volume(
    call: Call,
    project_id: ProjectId,
    name: Annotated[str, typer.Argument(help="Unique in the project.")],
    *,
    size: Annotated[int, typer.Option("--size", min=1, help="GiB.")] = 10,
    backend: Annotated[Backend, typer.Option("--backend", help="Where it is kept.")] = Backend.SHARED,
    writers: Annotated[WritePolicy, typer.Option("--writers", help="How many may write.")] = WritePolicy.SINGLE_WRITER,
    beside: Annotated[Allocation | None, Find(BESIDE, found_allocation, in_project=True)] = None,
) -> Action[Volume]:
    """Create a volume.

    \b
    Examples:
      gpuaas volumes create datasets --size 100
      gpuaas volumes create cache --backend local --beside train-a
    """
    create = call.client.volumes.create
    allocation_id = beside.id if beside else None
    return Action(
        run=lambda: create(project_id, name, size, backend=backend, write_policy=writers, allocation_id=allocation_id),
        wait=waiting(call, project_id, f"gpuaas volumes get {name}"),
    )


def waiting(call: Call, project_id: str, next_step: str) -> Wait[Volume]:
    """Until the volume is there, or proven gone."""
    return Wait(
        look=lambda volume: call.client.volumes.get(project_id, volume.id),
        again="gpuaas volumes list",
        next_step=next_step,
        project_id=project_id,
    )


def waiting_for_attachment(call: Call, allocation: Allocation, next_step: str) -> Wait[Attachment]:
    return Wait(
        look=lambda attachment: call.client.volumes.attachment(allocation.id, attachment.id),
        again="gpuaas volumes list",
        next_step=next_step,
        project_id=allocation.project_id,
    )


def waiting_for_snapshot(volume: Volume) -> Wait[Snapshot]:
    return Wait(
        look=lambda snapshot: snapshot,
        again="gpuaas volumes list",
        next_step=f"gpuaas volumes snapshot {volume.name}",
        project_id=volume.project_id,
    )


@list_command(command, "list", SUMMARY, empty="No volumes here: gpuaas volumes create NAME --size 100")
def list_volumes(call: Call, project_id: ProjectId) -> Iterable[Volume]:
    """List the volumes of a project, newest first."""
    return call.client.volumes.list(project_id)


@show_command(command, "get", CARD)
def get_volume(_call: Call, volume: FoundVolume) -> Volume:
    """Show one volume, and where it is attached."""
    return volume


@action_command(command, "attach", ATTACHMENT, asks=False)
def attach_volume(
    call: Call,
    volume: FoundVolume,
    allocation: FoundMachine,
    *,
    at: Annotated[str, typer.Option("--at", help="Where it appears in the machine.")] = "/data",
    read_only: Annotated[bool, typer.Option("--read-only", help="Others may write meanwhile.")] = False,
) -> Action[Attachment]:
    """Mount a volume on an allocation, also while it runs.

    \b
    Examples:
      gpuaas volumes attach datasets train-a
      gpuaas volumes attach datasets train-b --at /data/sets --read-only
    """
    mode = AccessMode.READ_ONLY if read_only else AccessMode.READ_WRITE
    return Action(
        run=lambda: call.client.volumes.attach(allocation.id, volume.id, at, access_mode=mode),
        wait=waiting_for_attachment(call, allocation, f"gpuaas allocations timeline {allocation.name}"),
    )


@action_command(command, "detach", ATTACHMENT)
def detach_volume(
    call: Call,
    volume: FoundVolume,
    allocation: FoundMachine,
    *,
    force: Annotated[bool, typer.Option("--force", help="End the processes that use it.")] = False,
) -> Action[Attachment]:
    """Unmount a volume from an allocation; its data stays.

    \b
    Examples:
      gpuaas volumes detach datasets train-a
      gpuaas volumes detach datasets train-a --force
    """
    attached = next((one for one in allocation.attachments if one.volume_id == volume.id), None)
    if attached is None:
        raise Complaint(
            f"{volume.name} is not attached to {allocation.name}.",
            next_step=f"gpuaas volumes get {volume.name}",
            code=ExitCode.NOT_FOUND,
        )
    place = f"its place at {attached.mount_path}"
    retry = f"close what uses it, or: gpuaas volumes detach {volume.name} {allocation.name} --force"
    return Action(
        ask=Question(
            words=f"Detach {volume.name} from {allocation.name}{' by force' if force else ''}?",
            lost=f"every process on {allocation.name} that uses it, and {place}."
            if force
            else f"{place} of {allocation.name}; refused while in use.",
            survives="the volume and everything that was written to it.",
        ),
        run=lambda: call.client.volumes.detach(allocation.id, attached.id, force=force),
        wait=waiting_for_attachment(call, allocation, retry),
    )


@list_command(command, "snapshot", SNAPSHOT, empty="It has no snapshots.")
def snapshot_volume(
    call: Call,
    volume: FoundVolume,
    name: Annotated[str, typer.Argument(help="Of the snapshot; without one, those there are are listed.")] = "",
) -> Iterable[Snapshot]:
    """Copy a volume as it is now, or list its snapshots."""
    if name:
        take = Action(run=lambda: call.client.volumes.snapshot(volume.id, name), wait=waiting_for_snapshot(volume))
        carry_out(call, take)
    return call.client.volumes.snapshots(volume.id)


@action_command(command, "delete-snapshot")
def delete_snapshot(call: Call, volume: FoundVolume, snapshot: SnapshotArgument) -> Action[Snapshot]:
    """Erase a snapshot; the volume and what was restored from it stay."""
    taken = snapshot_of(call, volume, snapshot)
    return Action(
        ask=Question(
            words=f"Delete the snapshot {taken.name} of {volume.name}?",
            lost=f"{volume.name} as it was at {clock(taken.created_at)}. It cannot be undone.",
            survives="the volume as it is now, its other snapshots, and volumes restored from this one.",
        ),
        run=lambda: call.client.volumes.delete_snapshot(volume.id, taken.id),
        wait=waiting_for_snapshot(volume),
        done=lambda _: f"The snapshot {taken.name} is deleted.",
    )


def snapshot_of(call: Call, volume: Volume, word: str) -> Snapshot:
    snapshots, listed = call.client.volumes.snapshots(volume.id), f"gpuaas volumes snapshot {volume.name}"
    return choose(word, snapshots, lambda one: (one.name, one.id), "snapshot", listed=listed)


@action_command(command, "restore", CARD, asks=False)
def restore_volume(
    call: Call,
    volume: FoundVolume,
    snapshot: SnapshotArgument,
    name: Annotated[str, typer.Argument(help="Of the new volume.")],
) -> Action[Volume]:
    """Make a new volume from a snapshot; the old one stays as it is."""
    taken, create = snapshot_of(call, volume, snapshot), call.client.volumes.create
    return Action(
        run=lambda: create(volume.project_id, name, volume.size_gib, backend=volume.backend, snapshot_id=taken.id),
        wait=waiting(call, volume.project_id, f"gpuaas volumes get {name}"),
    )


@show_command(command, "protect", CARD)
def protect_volume(
    call: Call,
    volume: FoundVolume,
    *,
    off: Annotated[bool, typer.Option("--off", help="Take the protection off.")] = False,
) -> Volume:
    """Protect a volume against deletion."""
    return call.client.volumes.change(volume.project_id, volume.id, protected=not off)


@action_command(command, "delete")
def delete_volume(call: Call, volume: FoundVolume) -> Action[Volume]:
    """Erase a volume and its data for good. Refused while it is attached, protected, or has snapshots."""
    return Action(
        ask=Question(
            words=f"Delete {volume.name}?",
            lost=f"everything on {volume.name} ({used(volume)}). It cannot be undone.",
            survives="volumes restored from its snapshots, and the timeline of what happened.",
        ),
        run=lambda: call.client.volumes.delete(volume.project_id, volume.id),
        wait=replace(
            waiting(call, volume.project_id, f"gpuaas volumes delete {volume.name} --yes"), look=lambda gone: gone
        ),
        done=lambda _: f"{volume.name} is deleted, and proven gone.",
    )
