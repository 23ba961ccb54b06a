"""`gpuaas admin unknown-environments`."""

from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import NodeArgument, chosen_node
from gpuaas.cli.allocation_views import summary
from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import YesOption, confirm
from gpuaas.cli.surroundings import surroundings_of
from gpuaas.wire.unknown_environments import UnknownEnvironment

command = new_app("Environments on nodes that the database does not know: adopt or remove them.")

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


@command.command("list")
def list_unknown(
    ctx: typer.Context,
    node: Annotated[str | None, typer.Option(help="Only of this node: exact name or id.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """List unknown environments, with the ownership record each carries."""
    with connected(ctx) as client:
        unknown = client.admin.unknown_environments
        rows = unknown.list_of_node(chosen_node(client, node).id) if node else unknown.list()
        show_rows(rows, COLUMNS, output, empty="The database knows every environment.")


@command.command("adopt")
def adopt(
    ctx: typer.Context,
    node: NodeArgument,
    environment: EnvironmentArgument,
    *,
    reason: EvidenceOption,
    holder: Annotated[str | None, typer.Option(help="Id of another member of the same project.")] = None,
    name: Annotated[str | None, typer.Option(help="Another name, if the recorded one is taken.")] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Restore the allocation that the environment's record names, on the same slots, port and host key."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        adopted = client.admin.unknown_environments.adopt(
            found.id, environment, reason=reason, holder_id=holder, name=name
        )
        show_one(adopted, summary(surroundings_of(ctx).now), output)


@command.command("remove")
def remove(
    ctx: typer.Context,
    node: NodeArgument,
    environment: EnvironmentArgument,
    *,
    reason: EvidenceOption,
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Have the node destroy an unknown environment, with proof of cleanup."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Remove the unknown environment {environment} of {found.name}?",
            lost="everything that runs in it, and its disk.",
            survives="volumes.",
            yes=yes,
        )
        removed = client.admin.unknown_environments.remove(found.id, environment, confirm=environment, reason=reason)
        show_one(removed, COLUMNS, output)
