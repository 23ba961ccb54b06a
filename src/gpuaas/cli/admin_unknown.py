"""`gpuaas admin unknown-environments`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import FoundNode, chosen_node
from gpuaas.cli.allocation_views import summary
from gpuaas.cli.commands import Action, Call, Find, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.wire.allocations import Allocation
from gpuaas.wire.capacity import Node
from gpuaas.wire.unknown_environments import UnknownEnvironment

command = new_group("Environments on nodes that the database does not know: adopt or remove them.")

EnvironmentArgument = Annotated[str, typer.Argument(metavar="ENVIRONMENT", help="Exact id, as the list shows it.")]
EvidenceOption = Annotated[str, typer.Option("--reason", help="What you looked at; kept in the audit log.")]

COLUMNS: list[Column[UnknownEnvironment]] = [
    Column("Environment", lambda one: one.environment_id),
    Column("Node", lambda one: one.node_name, may_shrink=True),
    Column("State", lambda one: one.state, is_state=True),
    Column("Slots", lambda one: ", ".join(map(str, one.slots)) or None),
    Column("Name", lambda one: one.ownership.name if one.ownership else "no record", may_shrink=True),
    Column("Removal", lambda one: one.removal_note or ("requested" if one.removal_requested_at else None)),
]


OfNode = Annotated[
    Node | None,
    Find(typer.Option(help="Only of this node: exact name or id."), lambda call, word: chosen_node(call.client, word)),
]


@list_command(command, "list", COLUMNS, empty="The database knows every environment.")
def list_unknown(call: Call, node: OfNode = None) -> Iterable[UnknownEnvironment]:
    """List unknown environments, with the ownership record each carries."""
    unknown = call.client.admin.unknown_environments
    return unknown.list_of_node(node.id) if node else unknown.list()


@show_command(command, "adopt", lambda process: summary(process.now))
def adopt(
    call: Call,
    node: FoundNode,
    environment: EnvironmentArgument,
    *,
    reason: EvidenceOption,
    holder: Annotated[str | None, typer.Option(help="Id of another member of the same project.")] = None,
    name: Annotated[str | None, typer.Option(help="Another name, if the recorded one is taken.")] = None,
) -> Allocation:
    """Restore the allocation that the environment's record names, on the same slots, port and host key."""
    unknown = call.client.admin.unknown_environments
    return unknown.adopt(node.id, environment, reason=reason, holder_id=holder, name=name)


@action_command(command, "remove", COLUMNS)
def remove(
    call: Call, node: FoundNode, environment: EnvironmentArgument, reason: EvidenceOption
) -> Action[UnknownEnvironment]:
    """Have the node destroy an unknown environment, with proof of cleanup."""
    unknown = call.client.admin.unknown_environments
    return Action(
        ask=Question(
            words=f"Remove the unknown environment {environment} of {node.name}?",
            lost="everything that runs in it, and its disk.",
            survives="volumes.",
        ),
        run=lambda: unknown.remove(node.id, environment, confirm=environment, reason=reason),
    )
