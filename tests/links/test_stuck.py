"""A link that takes nothing holds up nobody else's."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from gpuaas.core.points import NoPoints
from gpuaas.domain.tasks import store as tasks
from gpuaas.domain.tasks.store import NewNodeTask
from gpuaas.links.background import BackgroundTasks
from gpuaas.links.dispatch import Dispatch
from gpuaas.links.link import Link
from gpuaas.wire.link import Lease, Task, TaskBody
from gpuaas.wire.storage import Backend
from gpuaas.wire.tasks import ConformStorage, TaskKind
from tests.isolation.machines import enrol
from tests.links.wires import URL, Wire, linked
from tests.world import World


class SerialDispatch(Dispatch):
    """Planted: tasks of all links go down in one step, which ends when the last link has taken its own."""

    async def take(self, node_ids: list[str]) -> list[str]:
        async with self._db.read() as tx:
            rows = await tasks.take_queued(tx, node_ids, self._replica_id, of_each=100, in_all=100)
        await asyncio.gather(*(self.send(self._links[row.node_id], [row]) for row in rows))
        return []


async def leave(link: Link) -> None:
    """It is never cut: whoever waits for it waits for ever."""


@asynccontextmanager
async def dispatching(world: World, kind: type[Dispatch]) -> AsyncIterator[Dispatch]:
    services = world.services
    parts: dict[str, Any] = {"clock": services.clock, "signer_of": world.links.keys.signer, "points": NoPoints()}
    dispatch = kind(
        world.links._links,
        db=world.db,
        hints=services.hints,
        background=BackgroundTasks(),
        cut=leave,
        send_seconds=3600,
        **parts,
    )
    running = asyncio.ensure_future(dispatch.run())
    try:
        yield dispatch
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def ask(world: World, node_id: str, lane: str = "conformance") -> str:
    task = NewNodeTask(
        id=world.services.ids.new("task"),
        node_id=node_id,
        operation_id=None,
        kind=TaskKind.STORAGE_CONFORMANCE,
        wants=ConformStorage(backend=Backend.SHARED),
        lane=f"{lane}:{node_id}",
    )
    async with world.db.write() as tx:
        await tasks.queue_on_node(tx, task, now=world.clock.now())
    return task.id


async def next_task(wire: Wire) -> str:
    return msgspec.msgpack.decode((await wire.heard(Task)).body, type=TaskBody).id


@asynccontextmanager
async def one_stuck(world: World) -> AsyncIterator[tuple[Wire, Wire, str]]:
    """Two nodes; of one, the link takes nothing and a task is on its way to it. Then one that listens, and its node."""
    silent, machine = await enrol(world, "silent"), await enrol(world, "machine")
    stuck, wire = await linked(world, silent), await linked(world, machine)
    stuck.is_free.clear()
    await ask(world, silent.id)
    try:
        yield stuck, wire, machine.id
    finally:
        stuck.is_free.set()
        await stuck.hang_up()
        await wire.hang_up()


async def test_a_task_reaches_its_node_while_another_link_takes_nothing(world: World) -> None:
    async with one_stuck(world) as (stuck, wire, node_id), dispatching(world, Dispatch):
        await stuck.held.wait()
        for _ in range(3):
            asked = await ask(world, node_id)
            assert await next_task(wire) == asked


async def test_the_old_way_holds_everybody_up(world: World) -> None:
    async with one_stuck(world) as (stuck, wire, node_id), dispatching(world, SerialDispatch):
        await stuck.held.wait()
        await ask(world, node_id)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await next_task(wire)


async def test_a_hint_between_taking_and_sending_is_not_lost(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the next task would wait for the look that comes unasked."""
    async with one_stuck(world) as (stuck, wire, node_id), dispatching(world, Dispatch) as dispatch:
        await stuck.held.wait()
        monkeypatch.setattr("gpuaas.links.dispatch.LOOK_SECONDS", 3600)
        await ask(world, node_id)
        await next_task(wire)  # from here on nothing is looked for unasked
        (link,) = (one for one in world.links._links.values() if one.node_id != node_id)
        asked = await ask(world, link.node_id, lane="another")
        link.has_more = False  # as sending begins
        assert await dispatch.take([link.node_id]) == []
        stuck.is_free.set()
        await next_task(stuck)
        assert await next_task(stuck) == asked


async def test_a_lease_and_a_check_in_wait_for_no_link_that_takes_nothing(world: World) -> None:
    async with one_stuck(world) as (_, wire, _):
        await wire.heard(Lease)
        world.clock.advance(minutes=2)
        world.links.renew_leases()
        await wire.heard(Lease)
        await world.links.check_in(URL)
