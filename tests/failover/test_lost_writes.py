"""T25: a failover that lost writes, or a restore from a dump: no device has two environments, and none is destroyed.

The runbook docs/runbooks/unknown-environments.md, executed for both cases against real servers.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.core.migrate import migrate
from gpuaas.core.settings import Settings
from gpuaas.engines.fake import FakeEngine
from gpuaas.engines.fake_storage import FakeDisk, FakeMounts, FakeVolumes
from gpuaas.main.server import listener
from gpuaas.wire.environments import EnvironmentSpec
from gpuaas.wire.storage import VolumeOwnership, VolumeRef
from tests.failover.clusters import either, new_cluster, place
from tests.failover.story import GPUS, Story
from tests.live import QuietServer, agent, free_socket, running
from tests.world import Person, World, world_on

RUNS = 20
SEEDS = [pytest.param(seed, marks=pytest.mark.soak) if seed else seed for seed in range(RUNS)]
NO_HOLDS = """
    create function planted() returns trigger language plpgsql as 'begin return null; end';
    create trigger planted before insert on device_holds for each row execute function planted();
"""


@asynccontextmanager
async def serving(dsn: str, data: Path, port: int) -> AsyncIterator[World]:
    """A replica at the address that its agents know."""
    with free_socket(port) as bound:
        async with world_on(dsn, data, clock=SystemClock(), port=port) as world, running(world):
            server = QuietServer(listener(world.app, Settings(data=data, port=port)).config)
            task = asyncio.create_task(server.serve(sockets=[bound]))
            try:
                yield world
            finally:
                server.should_exit = True
                await task


def some_port() -> int:
    with free_socket() as bound:
        port: int = bound.getsockname()[1]
        return port


async def fail_over(tmp_path: Path, seed: int, engine: FakeEngine, *, planted: str = "") -> None:
    chance, port = random.Random(seed), some_port()
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(place())
        primary = await new_cluster(folder / "one")
        stack.push_async_callback(primary.stop)
        await migrate(primary.dsn)
        standby = await primary.standby(folder / "two")
        stack.push_async_callback(standby.stop)
        world = await stack.enter_async_context(serving(either(primary, standby), tmp_path, port))
        await world.furnish()
        node = await stack.enter_async_context(agent(world, f"http://127.0.0.1:{port}", tmp_path / "node", engine))
        story = Story(world, engine, node)
        story.kept = [await story.make() for _ in range(2)]
        await primary.catch_up(standby)
        await standby.stop_streaming()
        await story.lose_writes(chance)
        await primary.kill()
        await standby.promote()
        if planted:
            await standby.sql(planted)
        await story.rush()
        await story.settle()


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_failover_that_lost_writes(tmp_path: Path, seed: int) -> None:
    await fail_over(tmp_path, seed, FakeEngine(clock=SystemClock().now, gpus=GPUS))


class Careless(FakeEngine):
    """A node that does not look whether a device is in use."""

    @contextmanager
    def _reserved(self, spec: EnvironmentSpec) -> Iterator[None]:
        yield


@pytest.mark.soak
async def test_a_planted_node_that_does_not_refuse_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a device has two environments"):
        await fail_over(tmp_path, 0, Careless(clock=SystemClock().now, gpus=GPUS))


@pytest.mark.soak
async def test_a_planted_database_that_does_not_hold_the_slots_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="a slot whose device is in use was sold"):
        await fail_over(tmp_path, 0, FakeEngine(clock=SystemClock().now, gpus=GPUS), planted=NO_HOLDS)


class Recordless(FakeVolumes):
    """Keeps no ownership record."""

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        self.find(volume)


class Remaking(FakeVolumes):
    """Makes the volume again, empty, when it is told whose it is."""

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        await super().set_ownership(volume, ownership)
        self.find(volume).clear()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("planted", "found"), [(Recordless, "the volume was not adopted"), (Remaking, "a volume lost its data")]
)
async def test_a_planted_node_that_fails_its_volumes_is_found(
    tmp_path: Path, planted: type[FakeVolumes], found: str
) -> None:
    clock = SystemClock().now
    engine = FakeEngine(clock=clock, gpus=GPUS)
    engine.volumes = planted(FakeDisk(), clock)
    engine.mounts = FakeMounts(engine.volumes, engine.environments.get)
    with pytest.raises(AssertionError, match=found):
        await fail_over(tmp_path, 0, engine)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_restore_from_a_dump_into_a_new_cluster(tmp_path: Path, seed: int) -> None:
    chance, port = random.Random(seed), some_port()
    engine = FakeEngine(clock=SystemClock().now, gpus=GPUS)
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(place())
        old, new = await new_cluster(folder / "one"), await new_cluster(folder / "two")
        for cluster in (old, new):
            stack.push_async_callback(cluster.stop)
        await migrate(old.dsn)
        async with serving(old.dsn, tmp_path, port) as world:
            await world.furnish()
            people = dict(world.people)
            async with agent(world, f"http://127.0.0.1:{port}", tmp_path / "node", engine) as node:
                story = Story(world, engine, node)
                story.kept = [await story.make() for _ in range(2)]
                dump = await old.dump()
                await story.lose_writes(chance)
        await old.kill()
        await new.restore(dump)
        await migrate(new.dsn)
        story.world = world = await stack.enter_async_context(serving(new.dsn, tmp_path, port))
        world.people.update({name: signed_in(world, person) for name, person in people.items()})
        await stack.enter_async_context(agent(world, f"http://127.0.0.1:{port}", tmp_path / "node", engine))
        await story.settle()


def signed_in(world: World, person: Person) -> Person:
    """Their session was in the dump."""
    return Person(**{**vars(person), "http": world.client(person.token)})
