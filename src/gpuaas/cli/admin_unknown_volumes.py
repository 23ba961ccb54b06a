"""`gpuaas admin unknown-volumes`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import FoundNode, chosen_node
from gpuaas.cli.admin_unknown import EvidenceOption
from gpuaas.cli.commands import Action, Call, Find, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.cli.volumes import CARD as VOLUME_CARD
from gpuaas.wire.capacity import Node
from gpuaas.wire.storage import Volume
from gpuaas.wire.unknown_volumes import UnknownVolume

command = new_group("Volumes that the database does not know: adopt or remove them.")

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


SEEN_BY = typer.Option(help="Only those that this node sees: exact name or id.")


@list_command(command, "list", COLUMNS, empty="The database knows every volume.")
def list_unknown(
    call: Call, node: Annotated[Node | None, Find(SEEN_BY, lambda call, word: chosen_node(call.client, word))] = None
) -> Iterable[UnknownVolume]:
    """List unknown volumes, with the ownership record each carries."""
    unknown = call.client.admin.unknown_volumes
    return unknown.list_of_node(node.id) if node else unknown.list()


@show_command(command, "show", CARD)
def show(call: Call, node: FoundNode, volume: VolumeArgument) -> UnknownVolume:
    """Show one of them: its record, which nodes see it, and the proof of its removal."""
    return call.client.admin.unknown_volumes.get(node.id, volume)


@show_command(command, "adopt", VOLUME_CARD)
def adopt(
    call: Call,
    node: FoundNode,
    volume: VolumeArgument,
    *,
    reason: EvidenceOption,
    name: Annotated[str | None, typer.Option(help="Another name, if the recorded one is taken.")] = None,
) -> Volume:
    """Restore the volume that its record names, with its data."""
    return call.client.admin.unknown_volumes.adopt(node.id, volume, reason=reason, name=name)


@action_command(command, "remove", COLUMNS)
def remove(call: Call, node: FoundNode, volume: VolumeArgument, reason: EvidenceOption) -> Action[UnknownVolume]:
    """Have a node erase the data of an unknown volume, with proof."""
    return Action(
        ask=Question(
            words=f"Remove the unknown volume {volume}, which {node.name} sees?",
            lost="all of its data. It cannot be restored.",
            survives="its snapshots, if it has any.",
        ),
        run=lambda: call.client.admin.unknown_volumes.remove(node.id, volume, confirm=volume, reason=reason),
    )
