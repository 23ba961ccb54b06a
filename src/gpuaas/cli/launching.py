"""What `gpuaas allocations create` fills in, and how it waits."""

from collections.abc import Sequence

import typer

from gpuaas.cli.complaints import Complaint, ExitCode
from gpuaas.cli.config import effective
from gpuaas.cli.names import choose, chosen_project
from gpuaas.cli.process_context import process_context
from gpuaas.cli.progress import follow
from gpuaas.sdk import Client
from gpuaas.wire.access import SshKey
from gpuaas.wire.allocations import Allocation, SubmittedAllocations
from gpuaas.wire.storage import AccessMode, Backend, LaunchAttachment, NewVolume
from gpuaas.wire.timeline import OperationStatus


def chosen_sku(client: Client, sku: str) -> str:
    if sku:
        return sku
    skus = [one.sku for one in client.skus.list()]
    if len(skus) == 1:
        return skus[0]
    if not skus:
        raise Complaint("Nothing is on sale here yet.", next_step="ask whoever runs this GPUaaS")
    raise Complaint(f"Which SKU? There are {', '.join(skus)}.", next_step="--sku NAME; `gpuaas skus` compares them")


def chosen_keys(client: Client, wanted: Sequence[str]) -> list[SshKey]:
    """Those named, or all of them: one's own machine should open to every key one has."""
    keys = list(client.ssh_keys.list())
    if not keys:
        raise Complaint("You have no SSH key here, so nobody could log in.", next_step="gpuaas ssh-keys add")
    if not wanted:
        return keys
    return [choose(word, keys, lambda one: (one.title, one.fingerprint, one.id), "key") for word in wanted]


def chosen_volumes(ctx: typer.Context, client: Client, words: Sequence[str], project: str) -> list[LaunchAttachment]:
    """Each `NAME:/path`, with `:ro` behind it for reading only."""
    if not words:
        return []
    volumes, found = list(client.volumes.list(chosen_project(ctx, client, project))), []
    for word in words:
        name, _, rest = word.partition(":")
        path, _, mode = rest.partition(":")
        if not path.startswith("/") or mode not in ("", "ro", "rw"):
            raise Complaint(f"{word!r} is no NAME:/path or NAME:/path:ro.", next_step="--volume datasets:/data")
        volume = choose(name, volumes, lambda one: (one.name, one.id), "volume")
        access = AccessMode.READ_ONLY if mode == "ro" else AccessMode.READ_WRITE
        found.append(LaunchAttachment(volume_id=volume.id, mount_path=path, access_mode=access))
    return found


def volume_to_make(word: str) -> LaunchAttachment:
    """`NAME:GIB:/path`, with `:local` behind it for one on the node's own disk."""
    name, _, rest = word.partition(":")
    gib, _, rest = rest.partition(":")
    path, _, backend = rest.partition(":")
    if not gib.isdecimal() or not path.startswith("/") or backend not in ("", *Backend):
        raise Complaint(
            f"{word!r} is no NAME:GIB:/path or NAME:GIB:/path:local.", next_step="--new-volume out:50:/data"
        )
    made = NewVolume(name=name, size_gib=int(gib), backend=Backend(backend or Backend.SHARED))
    return LaunchAttachment(mount_path=path, new_volume=made)


def launch_project(ctx: typer.Context, client: Client, word: str) -> str | None:
    """None lets the server take the only project there is, which saves asking it first."""
    if not word and not effective(process_context(ctx)).project:
        return None
    return chosen_project(ctx, client, word)


def finish(ctx: typer.Context, client: Client, submitted: SubmittedAllocations) -> list[Allocation]:
    """Show the work until it has ended; the allocations as they then are."""
    first = submitted.allocations[0]
    is_alone = len(submitted.allocations) == 1
    end = follow(
        ctx,
        client,
        submitted.operation_id,
        come_back=f"gpuaas allocations get {first.name} --watch",
        allocation_id=first.id if is_alone else None,
        project_id=None if is_alone else first.project_id,
    )
    made = [client.allocations.get(one.id) for one in submitted.allocations]
    if end.status is OperationStatus.FAILED:
        reason = end.reason or made[0].status_reason or "no reason was given"
        raise Complaint(
            f"{first.name} could not be made: {reason}",
            next_step=f"gpuaas allocations timeline {first.id}",
            code=ExitCode.SERVER,
        )
    return made
