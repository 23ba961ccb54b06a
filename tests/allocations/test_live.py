"""The whole path in one process: routes, loops, link, a real agent, an engine in memory."""

from pathlib import Path

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.allocations import Status
from gpuaas.wire.metrics import Metric
from tests import peek
from tests.live import agent, eventually, serving
from tests.world import World


async def reaches(world: World, id: str, status: Status) -> None:
    async def is_there() -> bool:
        return (await world.get(id)).status is status

    await eventually(is_there)


async def test_a_machine_comes_and_goes_over_a_real_link(migrated: str, tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            await reaches(world, id, Status.ACTIVE)
            assert list(engine.environments) == [id]
            (await world.release(id)).raise_for_status()
            await reaches(world, id, Status.RELEASED)
            assert engine.environments == {}


async def test_a_machine_released_while_its_agent_is_away_is_removed_when_it_is_back(
    migrated: str, tmp_path: Path
) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            await reaches(world, id, Status.ACTIVE)
        (await world.release(id)).raise_for_status()
        async with agent(world, url, tmp_path / "node", engine):
            await reaches(world, id, Status.RELEASED)
        assert engine.environments == {}


async def test_a_machine_that_stopped_unasked_is_booted_again(migrated: str, tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            await reaches(world, id, Status.ACTIVE)
        await peek.plant(world.db, "update allocations set status_since = status_since - interval '5 seconds'")
        await engine.close(stop_environments=True)
        async with agent(world, url, tmp_path / "node", engine):

            async def is_back() -> bool:
                row = await world.get(id)
                return (row.status, row.boot, row.observed_boot) == (Status.ACTIVE, 2, 2)

            await eventually(is_back)
        phases = [entry.phase for entry in await world.timeline(id)]
        assert phases[-7:] == [
            "restarting",
            "preparing",
            "gpus_reset",
            "booting",
            "gpus_checked",
            "access_ready",
            "active",
        ]


async def test_what_a_node_measures_is_read_by_its_owner_over_a_real_link(migrated: str, tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            await reaches(world, id, Status.ACTIVE)
            engine.samples.used[id, Metric.MEMORY] = 4096.0

        async def is_measured() -> bool:
            answer = (await world.http.get(f"/api/v1/allocations/{id}/metrics")).raise_for_status().json()
            found = {series["metric"]: series for series in answer["series"]}
            return "memory" in found and found["memory"]["latest"] == 4096.0

        async with agent(world, url, tmp_path / "node", engine):  # a new link samples at once
            await eventually(is_measured)
        shown = (await world.http.get(f"/api/v1/allocations/{id}/metrics")).json()
        gpus = [series for series in shown["series"] if series["metric"].startswith("gpu")]
        assert gpus
        assert all(series["latest"] is None and "simulated" in series["unavailable"] for series in gpus)
