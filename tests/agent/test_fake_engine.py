"""The agent over the fake engine, as the fleet simulator runs it: two lives of one node."""

import asyncio
from pathlib import Path

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.environments import EnvironmentState
from gpuaas.wire.link import Report, TaskStatus
from tests.agent.link_server import eventually
from tests.agent.world import World, ensure, install_keys, remove, world_in


async def test_a_node_makes_stops_reports_and_removes(tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with world_in(tmp_path) as world:
        async with world.agent(engine):
            await world.server.give("t1", ensure("t1"))
            made = await world.server.result("t1")
            await world.server.give("t2", install_keys("t2"))
            keyed = await world.server.result("t2")
        await stop_environments(world, engine)
        async with world.agent(FakeEngine(clock=SystemClock().now, environments=engine.environments)):
            await eventually(lambda: is_reported_stopped(world))
            await world.server.give("t3", remove("t3", seq=3))
            removed = await world.server.result("t3")
    assert [one.status for one in (made, keyed, removed)] == [TaskStatus.DONE] * 3
    assert made.environment is not None
    assert made.environment.state is EnvironmentState.RUNNING
    assert removed.proofs
    assert all(proof.ok for proof in removed.proofs)
    assert engine.environments == {}


async def stop_environments(world: World, engine: FakeEngine) -> None:
    """A polite stop that ends the environments too, as Ctrl-C does."""
    stop = asyncio.Event()
    stop.set()
    await world.run(stop, engine=engine, stop_environments=True)


def is_reported_stopped(world: World) -> bool:
    report = world.server.all(Report)[-1]
    return [one.state for one in report.environments] == [EnvironmentState.STOPPED]
