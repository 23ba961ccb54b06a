"""A task that could not be sent is sent again; and it is sent by the replica that has the node's newest link."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from gpuaas.core.errors import Raced
from gpuaas.domain.tasks import store as tasks
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import Task, TaskBody
from gpuaas.wire.tasks import RemoveEnvironment, TaskKind
from tests.isolation.machines import enrol
from tests.links.wires import linked, task_of
from tests.world import World, world_on

STATUS = "select status from node_tasks where id = $1"


@asynccontextmanager
async def dispatching(world: World) -> AsyncIterator[None]:
    task = asyncio.ensure_future(world.links.dispatch.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_link_that_takes_no_task_is_cut_and_the_next_one_gets_it(world: World) -> None:
    machine = await enrol(world, "machine")
    wire = await linked(world, machine)
    _, task_id = await task_of(world)
    wire.takes = 0
    async with dispatching(world):
        await wire.ended()
    assert wire.closed == (4408, "does not accept messages")
    again = await linked(world, machine)
    body = msgspec.msgpack.decode((await again.heard(Task)).body, type=TaskBody)
    assert body.id == task_id
    await again.hang_up()


async def test_only_the_replica_with_the_newest_link_takes_a_nodes_tasks(world: World, tmp_path: Path) -> None:
    machine = await enrol(world, "machine")
    async with world_on(world.dsn, tmp_path) as other:
        stale, wire = await linked(world, machine), await linked(other, machine)
        _, task_id = await task_of(world)
        await world.links.dispatch.take([machine.id])
        assert await world.value(STATUS, task_id) == "queued"
        await other.links.dispatch.take([machine.id])
        assert msgspec.msgpack.decode((await wire.heard(Task)).body, type=TaskBody).id == task_id
        await stale.hang_up()
        await wire.hang_up()


async def test_a_worker_that_slept_through_a_release_queues_nothing(world: World) -> None:
    id = await world.allocation(Status.PROVISIONING)
    before = await world.get(id)
    await world.release(id)
    count = await world.value("select count(*) from node_tasks")
    late = tasks.NewTask(
        id=world.services.ids.new("task"),
        node_id=before.node_id,
        allocation_id=id,
        operation_id=before.operation_id,
        boot=before.boot,
        kind=TaskKind.REMOVE,
        wants=RemoveEnvironment(),
    )
    with pytest.raises(Raced):
        async with world.db.write() as tx:
            await tasks.queue(tx, late, version=before.version, now=world.clock.now())
    assert await world.value("select count(*) from node_tasks") == count
    async with world.db.write() as tx:
        await tasks.queue(tx, late, version=(await world.get(id)).version, now=world.clock.now())
    assert await world.value(STATUS, late.id) == "queued"
