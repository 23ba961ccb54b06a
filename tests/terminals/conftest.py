"""A whole path: a served control plane, an agent with an engine in memory, an active machine."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.allocations import Status
from tests.live import agent, eventually, serving
from tests.world import World


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


@pytest.fixture
async def place(migrated: str, tmp_path: Path) -> AsyncIterator[Place]:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            yield Place(world, url, await active(world, id), engine)
