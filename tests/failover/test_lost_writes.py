"""T25: a failover that lost writes, or a restore from a dump: no device has two environments, and none is destroyed.

The runbook docs/runbooks/unknown-environments.md, executed for both cases against real servers.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.core.migrate import migrate
from gpuaas.core.settings import Settings
from gpuaas.engines.fake import FakeEngine
from gpuaas.main.server import listener
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import EnvironmentSpec
from tests.failover.clusters import either, new_cluster, place
from tests.live import QuietServer, agent, free_socket, running
from tests.world import Person, World, world_on

GPUS = 5
RUNS = 20
SEEDS = [pytest.param(seed, marks=pytest.mark.soak) if seed else seed for seed in range(RUNS)]
REASON = {"reason": "seen on the node"}
NO_HOLDS = """
    create function planted() returns trigger language plpgsql as 'begin return null; end';
    create trigger planted before insert on device_holds for each row execute function planted();
"""


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """With more patience than most tests need: two database servers start on a machine that has other work."""
    async with asyncio.timeout(180):
        while not await holds():
            await asyncio.sleep(0.05)


@dataclass
class Story:
    """What is true on the node, whatever the database says."""

    world: World
    engine: FakeEngine
    node_id: str
    kept: list[str] = field(default_factory=list)  # known before the writes that are lost
    lost: list[str] = field(default_factory=list)  # made by them
    released: list[str] = field(default_factory=list)  # released by them

    async def make(self) -> str:
        id = (await self.world.submit()).raise_for_status().json()["allocations"][0]["id"]
        await self.reaches(id, Status.ACTIVE)
        return str(id)

    async def reaches(self, id: str, status: Status) -> None:
        async def is_there() -> bool:
            shown = await self.get(f"/api/v1/allocations/{id}")
            return bool(shown) and shown["status"] == status

        await eventually(is_there)

    async def get(self, path: str, who: Person | None = None) -> Any:
        """None while the control plane cannot answer."""
        answer = await (who or self.world.ada).http.get(path)
        return answer.json() if answer.status_code == httpx.codes.OK else None

    async def lose_writes(self, chance: random.Random) -> None:
        """What people do between the last write that survives and the end of the primary."""
        for _ in range(chance.randint(1, 2)):
            self.lost.append(await self.make())
        gone = chance.choice(self.kept)
        (await self.world.release(gone)).raise_for_status()
        await self.reaches(gone, Status.RELEASED)
        self.kept.remove(gone)
        self.released.append(gone)
        again = chance.choice(self.kept)
        (await self.world.http.post(f"/api/v1/allocations/{again}/restart", json={})).raise_for_status()

        async def is_restarted() -> bool:
            return self.engine.environments[again].boot > 1

        await eventually(is_restarted)
        await self.reaches(again, Status.ACTIVE)
        self.lost.append(await self.make())

    async def unknown(self) -> list[Any] | None:
        page = await self.get("/api/v1/admin/unknown-environments", self.world.operator)
        return None if page is None else sorted(page["items"], key=lambda item: str(item["environment_id"]))

    async def all_are_listed(self) -> bool:
        found = await self.unknown()
        return found is not None and [item["environment_id"] for item in found] == sorted(self.lost)

    def check_devices(self) -> None:
        """Read on the node: no device is used twice, and nothing that ran was destroyed."""
        used = [device for here in self.engine.environments.values() for device in here.spec.devices]
        assert len(used) == len(set(used)), "a device has two environments"
        assert {*self.kept, *self.lost} <= set(self.engine.environments), "an environment was destroyed"

    async def settle(self) -> None:
        """As the runbooks say: everything unknown is listed, is adopted or removed, and control resumes."""
        await eventually(self.all_are_listed)
        self.check_devices()
        await self.sell_the_rest()
        self.check_devices()
        await self.control(*self.kept[:2])
        for number, item in enumerate(await self.unknown() or []):
            await (self.adopt if number % 2 == 0 else self.remove)(item["environment_id"])
        self.check_devices()

    async def rush(self) -> None:
        """Impatient people ask for every slot the moment the database takes writes again, before any node reported.
        A slot whose device is in use may be sold to them now: its node refuses, and they get nothing or another."""

        async def accepted() -> bool:
            answers = await asyncio.gather(*(self.world.submit() for _ in range(GPUS)))
            sold.extend(each.json() for each in answers if each.status_code == httpx.codes.ACCEPTED)
            return bool(sold)

        sold: list[Any] = []
        await eventually(accepted)
        for each in sold:
            id = each["allocations"][0]["id"]
            if await self.end_of(id) is Status.ACTIVE:
                self.kept.append(id)
            else:
                await self.is_cleaned(id)

    async def is_cleaned(self, id: str) -> None:
        """Its claims are over, so that a slot it was sold is for sale again unless it is held."""

        async def is_proven() -> bool:
            path = f"/api/v1/admin/allocations/{id}"
            shown = await self.get(path, self.world.operator)
            return bool(shown) and "cleanup_proven" in [entry["phase"] for entry in shown["timeline"]]

        await eventually(is_proven)

    async def end_of(self, id: str) -> Status:
        ends: list[Status] = []

        async def has_ended() -> bool:
            shown = await self.get(f"/api/v1/allocations/{id}")
            ends[:] = [Status(shown["status"])] if shown else []
            return bool(ends) and ends[0] in (Status.ACTIVE, Status.FAILED)

        await eventually(has_ended)
        return ends[0]

    async def sell_the_rest(self) -> None:
        """Once the nodes have reported, a slot that is sold is free."""

        async def is_full() -> bool:
            answer = await self.world.submit()
            if answer.status_code == httpx.codes.ACCEPTED:
                id = answer.json()["allocations"][0]["id"]
                assert await self.end_of(id) is Status.ACTIVE, "a slot whose device is in use was sold"
                self.kept.append(id)
            return len(self.kept) + len(self.lost) == GPUS

        await eventually(is_full)
        await self.world.services.index.refresh()
        refused = await self.world.submit()
        assert refused.status_code == httpx.codes.CONFLICT, "a slot whose device is in use was sold"

    async def control(self, *ids: str) -> None:
        """Their tasks are taken, whatever numbers their node has seen."""
        for id in ids:
            before = self.engine.environments[id].boot
            (await self.world.http.post(f"/api/v1/allocations/{id}/restart", json={})).raise_for_status()

            async def is_booted(id: str = id, before: int = before) -> bool:
                return self.engine.environments[id].boot > before

            await eventually(is_booted)
            await self.reaches(id, Status.ACTIVE)

    async def adopt(self, id: str) -> None:
        path = f"/api/v1/admin/nodes/{self.node_id}/unknown-environments/{id}/adopt"

        async def is_adopted() -> bool:
            """Refused while an allocation that was sold too early has its cleanup."""
            return (await self.world.operator.http.post(path, json=REASON)).status_code == httpx.codes.OK

        await eventually(is_adopted)
        await self.reaches(id, Status.ACTIVE)
        self.lost.remove(id)
        self.kept.append(id)
        await self.control(id)

    async def remove(self, id: str) -> None:
        path = f"/api/v1/admin/nodes/{self.node_id}/unknown-environments/{id}/remove"
        body = {**REASON, "confirm": id}
        (await self.world.operator.http.post(path, json=body)).raise_for_status()
        self.lost.remove(id)

        async def is_gone() -> bool:
            page = await self.unknown()
            return id not in self.engine.environments and id not in [item["environment_id"] for item in page or []]

        await eventually(is_gone)


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
