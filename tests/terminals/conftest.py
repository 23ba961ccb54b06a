"""A whole path: a served control plane, an agent with an engine in memory, an active machine."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count

import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.allocations import Status
from tests.live import agent, eventually, serving
from tests.world import World, database

GPUS = 40  # more than a module has tests
_numbers = count(1)


@dataclass(frozen=True)
class Place:
    world: World
    url: str
    allocation_id: str
    engine: FakeEngine


async def active(world: World, id: str, status: Status = Status.ACTIVE) -> str:
    async def is_there() -> bool:
        return (await world.get(id)).status is status

    await eventually(is_there)
    return id


@dataclass(frozen=True)
class Served:
    world: World
    url: str
    engine: FakeEngine


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """One control plane and one node for all tests of a module: starting them takes longer than most tests."""
    folder, engine = tmp_path_factory.mktemp("served"), FakeEngine(clock=SystemClock().now, gpus=GPUS)
    async with database() as dsn, serving(dsn, folder) as (world, url):
        await world.furnish()
        async with agent(world, url, folder / "node", engine):
            yield Served(world, url, engine)


@pytest.fixture
async def place(served: Served) -> AsyncIterator[Place]:
    """An Ada and a machine of the test's own, for a test may end her session, her membership or her machine."""
    world = served.world
    world.people["ada"] = await world.sign_up(f"ada{next(_numbers)}")
    id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
    yield Place(world, served.url, await active(world, id), served.engine)
    served.engine.terminals.end(id, "the test is over")
