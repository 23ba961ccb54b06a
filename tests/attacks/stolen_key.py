"""What a thief of a node's key works with: the node's link, and an allocation that runs on the node."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.link import Ack, Result, TaskStatus, Up
from tests.isolation.machines import Machine
from tests.links import wires as wires_of
from tests.links.wires import Wire, task_of, writing
from tests.world import World

Open = Callable[[str], Awaitable[Wire]]


@asynccontextmanager
async def opening(world: World, machine: Machine) -> AsyncIterator[Open]:
    """Opens links of the node as agent processes of these names; all are over afterwards."""
    wires: list[Wire] = []

    async def open(instance: str) -> Wire:
        wires.append(await wires_of.linked(world, machine, instance=instance))
        return wires[-1]

    yield open
    for wire in wires:
        await wire.hang_up()


def running(allocation_id: str, *, boot: int = 1, key_generation: int = 1) -> Environment:
    return Environment(
        allocation_id=allocation_id,
        state=EnvironmentState.RUNNING,
        boot=boot,
        port=20_000,
        host_key="ssh-ed25519 x",
        key_generation=key_generation,
    )


async def activated(world: World, wire: Wire) -> str:
    """An active allocation on the only node that is online."""
    allocation_id, task_id = await task_of(world)
    made = running(allocation_id)
    await said(world, wire, Result(task_id=task_id, status=TaskStatus.DONE, at=world.clock.now(), environment=made))
    await world.nodes.reconcile()
    assert (await world.seen(allocation_id))["status"] == "active"
    return allocation_id


async def said(world: World, wire: Wire, *messages: Up) -> None:
    """Said, and written down: the last word is a result, for it is acknowledged."""
    last = messages[-1]
    if not isinstance(last, Result):
        last = Result(task_id="none of ours", status=TaskStatus.FAILED, at=world.clock.now())
        messages = (*messages, last)
    wire.say(*messages)
    async with writing(world):
        while last.task_id not in (await wire.heard(Ack)).task_ids:
            pass
