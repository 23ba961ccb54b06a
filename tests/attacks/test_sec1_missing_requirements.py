"""SEC1: a node that has lost something it needs offers no capacity, and gives up nothing that it can no longer see."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.real_agent import allocation, enrol, running_agent
from tests.engines.benches import place
from tests.engines.openssh import OpenSsh
from tests.live import eventually, serving
from tests.world import World, database

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the oci engine")
PORTS = range(28_580, 28_590)
HIDDEN = 'mount --bind /dev/null "$(command -v conmon)" && exec "$@"'
WITHOUT_CONMON = ("unshare", "--mount", "sh", "-c", HIDDEN, "sh")
MISSING = ["the program conmon"]
Agent = AbstractAsyncContextManager[asyncio.subprocess.Process]


@dataclass(frozen=True)
class Scene:
    world: World
    folder: Path
    node_id: str
    id: str
    ssh: OpenSsh

    def agent(self, *, wrap: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> Agent:
        return running_agent(self.world, self.folder, self.node_id, ports=PORTS, wrap=wrap, options=options)

    async def seen(self) -> dict[str, Any]:
        return await self.world.seen(self.id)

    async def is_well(self) -> bool:
        return bool((await self.seen())["health"] == "ok")

    async def is_unknown(self) -> bool:
        shown = await self.seen()
        assert (shown["status"], shown["boot"]) == ("active", 1)
        return "environment_unknown" in [reason["code"] for reason in shown["health_reasons"]]

    async def node(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.world.operator.http.get(f"/api/v1/admin/nodes/{self.node_id}")).json()
        return found


@asynccontextmanager
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """An allocation on a node whose agent was just killed."""
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        with place(0) as folder:
            node = folder / "node-a"
            node_id = await enrol(world, url, node, gpus=2)
            async with running_agent(world, node, node_id, ports=PORTS) as agent:
                id, ssh, _ = await allocation(world, tmp_path)
                agent.kill()
                await agent.wait()
            yield Scene(world, node, node_id, id, ssh)


async def test_a_node_that_lacks_a_program_offers_nothing_and_keeps_what_it_has(tmp_path: Path) -> None:
    """The last part is the twin: an agent that takes what it cannot see for absent loses the environment."""
    async with scene(tmp_path) as on:
        first = await on.ssh.says("cat /proc/1/stat | cut -d' ' -f22")
        async with on.agent(wrap=WITHOUT_CONMON):
            await eventually(on.is_unknown)
            words = (await on.seen())["health_reasons"][0]["words"]
            assert "the node lacks the program conmon" in words
            node = await on.node()
            assert (node["facts"]["missing"], node["slots_free"], node["slots_blocked"]) == (MISSING, 0, 1)
            assert sorted(slot["status"] for slot in node["slots"]) == ["claimed", "missing_requirements"]
            refusal = (await on.world.submit()).json()
            assert refusal["facts"]["blocked"] == {"missing_requirements": 1}
            assert await on.ssh.says("echo inside") == "inside"
        async with on.agent() as agent:  # with conmon; the one before stopped nothing, though it was asked to
            await eventually(on.is_well)
            assert await on.ssh.says("cat /proc/1/stat | cut -d' ' -f22") == first
            assert (await on.node())["facts"]["missing"] == []
            assert (await on.world.submit()).status_code == 202
            agent.kill()
            await agent.wait()
        async with on.agent(options=("--engine", "fake")):
            await eventually(lambda: has_failed(on))


async def has_failed(on: Scene) -> bool:
    return bool((await on.seen())["status"] == "failed")
