"""64 clients fight for 8 slots: never two owners, checked from what they saw.

`make test` runs a seeded sample bounded by its number of operations; `make soak` the whole minute.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gpuaas.core.db import DbRole, connect
from gpuaas.wire.allocations import Status
from tests import peek
from tests.launch.history import History, double_owners
from tests.world import SLICE, World, furnished, world_on

CLIENTS, SLOTS, OPERATIONS = 64, 8, 300
LIVE_TWICE = """
    select count(*) from claims a join claims b on a.slot_id = b.slot_id and a.id < b.id
    where a.claimed_at < coalesce(b.released_at, 'infinity') and b.claimed_at < coalesce(a.released_at, 'infinity')
"""


class Fight:
    """Clients over some replicas of one control plane, whose machines are made and removed beside them."""

    def __init__(self, replicas: list[World], seed: int) -> None:
        self.replicas, self.history = replicas, History()
        self._random = random.Random(seed)
        self._freed = asyncio.Condition()
        self.operations = 0

    async def client(self, number: int, go_on: Callable[[], bool]) -> None:
        """Ask; keep it for a few steps of the loop; give it back; and again."""
        world = self.replicas[number % len(self.replicas)]
        async with world.client(self.replicas[0].ada.token, number=number) as http:
            while go_on():
                self.operations += 1
                gpus = self._random.choice([1, 1, 1, 2, 4])
                await self.turn(http, f"{number}-{self.operations}", gpus)

    async def turn(self, http: httpx.AsyncClient, key: str, gpus: int) -> None:
        body = {"sku": SLICE, "ssh_key_ids": [self.replicas[0].ada.key_id], "gpu_count": gpus}
        answer = await http.post("/api/v1/allocations", json=body, headers={"X-Idempotency-Key": key})
        if answer.status_code == 409:
            self.history.refused += 1
            assert answer.json()["code"] in ("sku_unavailable", "conflict"), answer.text
            async with self._freed:
                await self._freed.wait()  # until the machines have moved on
            return
        assert answer.status_code == 202, answer.text
        id = answer.json()["allocations"][0]["id"]
        shown = (await http.get(f"/api/v1/allocations/{id}")).raise_for_status().json()
        self.history.got(id, [slot["gpu_uuid"] for slot in shown["slots"]])
        for _ in range(self._random.randrange(4)):
            await asyncio.sleep(0)
        self.history.gives_back(id)
        (await http.post(f"/api/v1/allocations/{id}/release", json={})).raise_for_status()

    async def machines(self, fought: asyncio.Event) -> None:
        """What loops and agents would do, over and over."""
        while not fought.is_set():
            await self.replicas[0].nodes.reconcile()
            await self.replicas[0].nodes.work()
            for replica in self.replicas:
                await replica.services.index.refresh()
            async with self._freed:
                self._freed.notify_all()

    async def run(self, go_on: Callable[[], bool]) -> None:
        fought = asyncio.Event()
        machines = asyncio.create_task(self.machines(fought))
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(CLIENTS):
                    group.create_task(self.client(number, go_on))
        finally:
            fought.set()
            await machines

    async def check(self) -> None:
        world = self.replicas[0]
        assert double_owners(self.history.spans()) == []
        assert await world.value(LIVE_TWICE) == 0
        await world.nodes.settle()
        assert await world.value("select count(*) from claims where released_at is null") == 0
        ended = await world.value("select array_agg(distinct status) from allocations")
        assert ended == [Status.RELEASED.value]


@asynccontextmanager
async def ring(data: Path, replicas: int) -> AsyncIterator[list[World]]:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(furnished(data))
        await first.nodes.add(gpus=SLOTS)
        others = [await stack.enter_async_context(world_on(first.dsn, data)) for _ in range(replicas - 1)]
        yield [first, *others]


@pytest.mark.parametrize("replicas", [1, 2])
async def test_a_seeded_fight_has_no_moment_with_two_owners(tmp_path: Path, replicas: int) -> None:
    async with ring(tmp_path, replicas) as worlds:
        fight = Fight(worlds, seed=7)
        await fight.run(lambda: fight.operations < OPERATIONS)
        await fight.check()
        assert fight.history.refused > 0
        assert len(fight.history.owned) > SLOTS


@pytest.mark.soak
@pytest.mark.parametrize("replicas", [1, 2])
async def test_a_minute_of_fighting_has_no_moment_with_two_owners(tmp_path: Path, replicas: int) -> None:
    async with ring(tmp_path, replicas) as worlds:
        fight = Fight(worlds, seed=random.randrange(1 << 32))
        loop = asyncio.get_running_loop()
        until = loop.time() + 60
        await fight.run(lambda: loop.time() < until)
        await fight.check()


async def test_claims_follow_each_other_whatever_the_clocks_of_the_replicas_say(tmp_path: Path) -> None:
    """The first replica's clock is late: it dates the release after the second replica's next claim."""
    async with ring(tmp_path, 2) as worlds:
        worlds[0].clock.advance(seconds=10)
        fight = Fight(worlds, seed=7)
        for number, world in enumerate(worlds):
            async with world.client(worlds[0].ada.token) as http:
                await fight.turn(http, str(number), gpus=SLOTS)
            await worlds[0].nodes.settle()
            await worlds[1].services.index.refresh()
        assert await worlds[0].value("select count(*) from claims") == 2 * SLOTS
        assert await worlds[0].value(LIVE_TWICE) == 0


async def test_without_the_unique_index_two_replicas_would_sell_twice_and_it_would_be_seen(tmp_path: Path) -> None:
    """The red twin: what keeps the promise is the index, and this is how its absence would look."""
    async with ring(tmp_path, 2) as worlds:
        owner = await connect(worlds[0].dsn, DbRole.OWNER, hints=worlds[0].services.hints)
        await peek.plant(owner, "drop index claims_slot_once")
        await owner.close()
        fight = Fight(worlds, seed=7)
        for number in range(SLOTS + 1):
            world = worlds[number % 2]
            answer = await world.client(worlds[0].ada.token).post(
                "/api/v1/allocations",
                json={"sku": SLICE, "ssh_key_ids": [worlds[0].ada.key_id]},
                headers={"X-Idempotency-Key": str(number)},
            )
            id = answer.json()["allocations"][0]["id"]
            fight.history.got(id, [slot["gpu_uuid"] for slot in (await worlds[0].seen(id))["slots"]])
        assert double_owners(fight.history.spans()) != []
