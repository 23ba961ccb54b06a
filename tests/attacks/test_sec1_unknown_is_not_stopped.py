"""SEC1: one tenant made the agent run out of file descriptors, and every environment of the node was restarted."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import pytest

from tests.attacks.real_agent import AGENT, allocation, enrol, running_agent
from tests.engines.benches import Key, place
from tests.engines.openssh import OpenSsh
from tests.live import eventually, serving
from tests.starving import starve
from tests.world import World, database

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the oci engine")
PORTS = range(28_560, 28_580)
FILES = 256  # the agent's limit in this test
SESSIONS = 64  # that one connection may have
CARELESS = ("-m", "tests.attacks.careless_agent", "agent")


@dataclass(frozen=True)
class Scene:
    world: World
    agent: asyncio.subprocess.Process
    neighbour: str
    attacker: tuple[OpenSsh, Key]
    job: OpenSsh

    async def start_job(self) -> None:
        started = "setsid sh -c 'while :; do date +%s%N > ~/beat; sleep 0.1; done' > /dev/null 2>&1 & echo started"
        assert await self.job.says(started) == "started"

    async def job_lives(self) -> None:
        """It goes on writing; only a login is needed to see that."""
        first = await self.job.says("cat ~/beat")

        async def has_moved() -> bool:
            return await self.job.says("cat ~/beat") != first

        await eventually(has_moved)


@asynccontextmanager
async def scene(tmp_path: Path, *, program: tuple[str, ...] = AGENT) -> AsyncIterator[Scene]:
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        with place(0) as folder:
            node = folder / "node-a"
            node_id = await enrol(world, url, node, gpus=2)
            async with running_agent(world, node, node_id, program=program, ports=PORTS, files=FILES) as agent:
                (tmp_path / "one").mkdir()
                (tmp_path / "two").mkdir()
                neighbour, job, _ = await allocation(world, tmp_path / "one")
                _, ssh, key = await allocation(world, tmp_path / "two")
                yield Scene(world, agent, neighbour, (ssh, key), job)


async def flood(on: Scene) -> None:
    """As many processes over SSH as the attacker can start. They cost the agent nothing: SSH ends in the gateway."""
    ssh, key = on.attacker
    before = len(list(Path(f"/proc/{on.agent.pid}/fd").iterdir()))
    async with asyncssh.connect(
        "127.0.0.1",
        ssh.environment.port or 0,
        config=None,
        known_hosts=None,
        client_keys=[key.private],
        username="gpu",
        agent_path=None,
    ) as connection:
        for _ in range(SESSIONS + 6):
            with suppress(asyncssh.ChannelOpenError):
                await connection.create_process("exec sleep 600")
        assert len(list(Path(f"/proc/{on.agent.pid}/fd").iterdir())) < before + 10
        shown = await on.world.seen(on.neighbour)
        assert (shown["status"], shown["boot"]) == ("active", 1)


async def test_neither_a_flood_of_connections_nor_an_agent_without_descriptors_restarts_a_neighbour(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as on:
        await on.start_job()
        await flood(on)
        await eventually(lambda: is_unknown(on))
        starve(None, on.agent.pid)
        await eventually(lambda: is_well(on))
        shown = await on.world.seen(on.neighbour)
        assert (shown["status"], shown["boot"]) == ("active", 1)
        await on.job_lives()
        assert "restarting" not in [entry.phase for entry in await on.world.timeline(on.neighbour)]


async def is_unknown(on: Scene) -> bool:
    starve(0, on.agent.pid)  # again: what it held meanwhile, it may have let go of
    shown = await on.world.seen(on.neighbour)
    codes = [reason["code"] for reason in shown["health_reasons"]]
    assert shown["status"] == "active"
    return shown["health"] == "unknown" and codes == ["environment_unknown"]


async def is_well(on: Scene) -> bool:
    return bool((await on.world.seen(on.neighbour))["health"] == "ok")


async def test_the_twin_that_takes_every_error_for_a_dead_environment_is_found(tmp_path: Path) -> None:
    async with scene(tmp_path, program=CARELESS) as on:

        async def is_restarted() -> bool:
            starve(0, on.agent.pid)  # again: what it held meanwhile, it may have let go of
            return bool((await on.world.seen(on.neighbour))["boot"] > 1)

        await eventually(is_restarted)
        starve(None, on.agent.pid)
