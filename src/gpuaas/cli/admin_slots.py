"""`gpuaas admin slots`."""

from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import NodeArgument, chosen_node
from gpuaas.cli.apps import new_app
from gpuaas.cli.connections import connected
from gpuaas.cli.output import Column, Output, OutputOption, show_one, show_rows
from gpuaas.cli.speech import ReasonOption, YesOption, confirm
from gpuaas.cli.words import memory
from gpuaas.wire.capacity import Slot

command = new_app("What a node sells: one slot, one GPU and all that goes with it.")

IndexArgument = Annotated[int, typer.Argument(metavar="INDEX", min=0, help="Number of the slot on its node.")]

COLUMNS: list[Column[Slot]] = [
    Column("Slot", lambda slot: slot.index, align="right"),
    Column("Status", lambda slot: slot.status, is_state=True),
    Column("GPU", lambda slot: slot.gpu_family),
    Column("PCI", lambda slot: slot.gpu_pci),
    Column("NUMA", lambda slot: slot.numa, align="right"),
    Column("vCPUs", lambda slot: slot.vcpus, align="right"),
    Column("Memory", lambda slot: slot.memory_mib, memory, align="right"),
    Column("Allocation", lambda slot: slot.allocation_id, may_shrink=True),
]


@command.command("list")
def list_slots(ctx: typer.Context, node: NodeArgument, output: OutputOption = Output.TABLE) -> None:
    """List the slots of a node."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        show_rows(client.admin.slots.list(found.id), COLUMNS, output, empty=f"{found.name} has no slots.")


@command.command("approve")
def approve(
    ctx: typer.Context,
    node: NodeArgument,
    index: IndexArgument,
    reason: ReasonOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Put a slot that the agent found on sale."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        show_one(client.admin.slots.approve(found.id, index, reason=reason), COLUMNS, output)


@command.command("disable")
def disable(
    ctx: typer.Context,
    node: NodeArgument,
    index: IndexArgument,
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Take a slot off sale."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        confirm(
            f"Disable slot {index} of {found.name}?",
            lost="the slot takes no new allocation.",
            survives="an allocation that has it now.",
            yes=yes,
        )
        show_one(client.admin.slots.disable(found.id, index, reason=reason), COLUMNS, output)


@command.command("enable")
def enable(
    ctx: typer.Context,
    node: NodeArgument,
    index: IndexArgument,
    reason: ReasonOption = "",
    output: OutputOption = Output.TABLE,
) -> None:
    """Put a slot back on sale."""
    with connected(ctx) as client:
        found = chosen_node(client, node)
        show_one(client.admin.slots.enable(found.id, index, reason=reason), COLUMNS, output)
