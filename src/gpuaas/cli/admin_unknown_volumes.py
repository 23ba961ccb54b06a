"""`gpuaas admin unknown-volumes`."""

from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import NodeArgument, chosen_node
from gpuaas.cli.admin_unknown import EvidenceOption
from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import YesOption, confirm
from gpuaas.cli.volumes import CARD as VOLUME_CARD
from gpuaas.wire.unknown_volumes import UnknownVolume

command = new_app("Volumes that the database does not know: adopt or remove them.")

VolumeArgument = Annotated[str, typer.Argument(metavar="VOLUME", help="Exact id, as the list shows it.")]


def nodes(one: UnknownVolume) -> str:
    return ", ".join(each.node_name for each in one.sightings)


def mounted_in(one: UnknownVolume) -> str | None:
    return ", ".join(sorted({user for each in one.sightings for user in each.mounted_in})) or None


def proven(one: UnknownVolume) -> str | None:
    """What was looked for after its removal, one below the other."""
    return "\n".join(f"{'ok' if each.ok else 'NOT'} {each.item}: {each.evidence}" for each in one.proofs) or None


COLUMNS: list[Column[UnknownVolume]] = [
    Column("Volume", lambda one: one.volume_id),
    Column("Backend", lambda one: one.backend),
    Column("Nodes", nodes, may_shrink=True),
    Column("Name", lambda one: one.ownership.name if one.ownership else one.detail or "no record", may_shrink=True),
    Column("GiB", lambda one: one.ownership.size_gib if one.ownership else None, align="right"),
    Column(
        "Removal",
        lambda one: one.removal_note or ("requested" if one.removal_requested_at else None),
        may_shrink=True,
    ),
]
CARD: list[Column[UnknownVolume]] = [
    *COLUMNS,
    Column("Mounted in", mounted_in),
    Column("Tenant", lambda one: one.ownership and one.ownership.tenant_id),
    Column("Project", lambda one: one.ownership and one.ownership.project_id),
    Column("Created by", lambda one: one.ownership and one.ownership.created_by),
    Column("Created", lambda one: one.ownership and one.ownership.created_at),
    Column("Writers", lambda one: one.ownership and one.ownership.write_policy),
    Column("First seen", lambda one: one.first_seen_at),
    Column("Last seen", lambda one: one.last_seen_at),
    Column("Gone", lambda one: one.gone_at),
    Column("Removed", lambda one: one.removed_at),
    Column("Proof", proven),
]


@command.command("list")
def list_unknown(
    ctx: typer.Context,
    node: Annotated[str | None, typer.Option(help="Only those that this node sees: exact name or id.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """List unknown volumes, with the ownership record each carries."""
    with connected(ctx) as client:
        unknown = client.admin.unknown_volumes
        rows = unknown.list_of_node(chosen_node(client, node).id) if node else unknown.list()
        show_rows(rows, COLUMNS, output, empty="The database knows every volume.")


@command.command("show")
def show(ctx: typer.Context, node: NodeArgument, volume: VolumeArgument, output: OutputOption = Output.TABLE) -> None:
    """Show one of them: its record, which nodes see it, and the proof of its removal."""
    with connected(ctx) as client:
        show_one(client.admin.unknown_volumes.get(chosen_node(client, node).id, volume), CARD, output)


@command.command("adopt")
def adopt(
    ctx: typer.Context,
    node: NodeArgument,
    volume: VolumeArgument,
    *,
    reason: EvidenceOption,
    name: Annotated[str | None, typer.Option(help="Another name, if the recorded one is taken.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Restore the volume that its record names, with its data."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        adopted = client.admin.unknown_volumes.adopt(found.id, volume, reason=reason, name=name)
        show_one(adopted, VOLUME_CARD, output)


@command.command("remove")
def remove(
    ctx: typer.Context,
    node: NodeArgument,
    volume: VolumeArgument,
    *,
    reason: EvidenceOption,
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Have a node erase the data of an unknown volume, with proof."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Remove the unknown volume {volume}, which {found.name} sees?",
            lost="all of its data. It cannot be restored.",
            survives="its snapshots, if it has any.",
            yes=yes,
        )
        removed = client.admin.unknown_volumes.remove(found.id, volume, confirm=volume, reason=reason)
        show_one(removed, COLUMNS, output)
