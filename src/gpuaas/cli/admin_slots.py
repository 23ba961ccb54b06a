"""`gpuaas admin slots`."""

from collections.abc import Iterable
from typing import Annotated

import typer

from gpuaas.cli.admin_nodes import FoundNode
from gpuaas.cli.commands import Action, Call, Question, action_command, list_command, show_command
from gpuaas.cli.groups import new_group
from gpuaas.cli.output import Column
from gpuaas.cli.speech import ReasonOption
from gpuaas.cli.words import memory
from gpuaas.wire.capacity import Slot

command = new_group("What a node sells: one slot, one GPU and all that goes with it.")

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


@list_command(command, "list", COLUMNS, empty="The node has no slots.")
def list_slots(call: Call, node: FoundNode) -> Iterable[Slot]:
    """List the slots of a node."""
    return call.client.admin.slots.list(node.id)


@show_command(command, "approve", COLUMNS)
def approve(call: Call, node: FoundNode, index: IndexArgument, reason: ReasonOption = "") -> Slot:
    """Put a slot that the agent found on sale."""
    return call.client.admin.slots.approve(node.id, index, reason=reason)


@action_command(command, "disable", COLUMNS)
def disable(call: Call, node: FoundNode, index: IndexArgument, reason: ReasonOption = "") -> Action[Slot]:
    """Take a slot off sale."""
    return Action(
        ask=Question(
            words=f"Disable slot {index} of {node.name}?",
            lost="the slot takes no new allocation.",
            survives="an allocation that has it now.",
        ),
        run=lambda: call.client.admin.slots.disable(node.id, index, reason=reason),
    )


@show_command(command, "enable", COLUMNS)
def enable(call: Call, node: FoundNode, index: IndexArgument, reason: ReasonOption = "") -> Slot:
    """Put a slot back on sale."""
    return call.client.admin.slots.enable(node.id, index, reason=reason)
