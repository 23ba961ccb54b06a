"""The same over a real engine: a real shell on a real terminal, and an agent that is killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.wire.terminals import Error, Exit
from tests.engines.benches import place as folder_for
from tests.images.real import real_image
from tests.live import agent, eventually, serving
from tests.terminals.browsers import browsing
from tests.terminals.conftest import active
from tests.world import World

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PORTS = "19000-19019"


def oci(folder: Path) -> Any:
    clock = SystemClock()
    ports = range(19_000, 19_020)
    images = real_image().root.parents[1]
    return OciEngine(folder / "oci", clock=clock.now, monotonic=clock.monotonic, ports=ports, images_folder=images)


async def machine(world: World) -> str:
    """As soon as the node is known to be back."""
    made: list[str] = []

    async def is_taken() -> bool:
        answer = await world.submit()
        made.extend(each["id"] for each in answer.json().get("allocations", []))
        return bool(made)

    await eventually(is_taken)
    return await active(world, made[0])


async def test_a_real_shell_has_a_real_terminal(migrated: str, tmp_path: Path) -> None:
    with folder_for(0) as folder:
        engine = oci(folder)
        async with serving(migrated, tmp_path) as (world, url):
            await world.furnish()
            async with agent(world, url, folder, engine):
                id = await machine(world)
                async with browsing(world, url, id, record=True) as browser:
                    await browser.resize(cols=97, rows=31)
                    await browser.type("tty; stty size; echo $TERM\n")
                    await browser.shows("/dev/pts/")
                    await browser.shows("31 97")
                    await browser.shows("xterm-256color")
                    await browser.type("seq 1 60000 | tail -n 1; printf 'do%s\\n' ne; exit 3\n")
                    await browser.shows("60000")
                    await browser.shows("done")
                    assert await browser.ended() == (1000, Exit(code=3))
                async with browsing(world, url, id) as browser:
                    await browser.session()
                    (await world.release(id)).raise_for_status()
                    assert (await browser.ended())[1] == Error(reason="the allocation was released")
                await eventually(lambda: is_gone(engine))


async def is_gone(engine: Any) -> bool:
    return not await engine.observe()


@asynccontextmanager
async def agent_process(world: World, folder: Path, node_id: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gpuaas.main", "agent", "--folder", str(folder), "--ports", PORTS, "--gpus", "8")
    )

    async def is_online() -> bool:
        node = (await world.operator.http.get(f"/api/v1/admin/nodes/{node_id}")).json()
        return node["offline_since"] is None and len(world.services.index.free()) > 0

    try:
        await eventually(is_online)
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def test_a_killed_agent_takes_the_terminal_and_leaves_the_machine(migrated: str, tmp_path: Path) -> None:
    with folder_for(0) as folder:
        async with serving(migrated, tmp_path) as (world, url):
            await world.furnish()
            async with agent(world, url, folder, oci(folder)) as node_id:
                pass
            async with agent_process(world, folder, node_id) as first:
                id = await machine(world)
                async with browsing(world, url, id) as browser:
                    session = await browser.session()
                    await browser.type("echo still here > ~/marker; printf 'wri%s\\n' tten\n")
                    await browser.shows("written")
                    first.kill()
                    code, last = await browser.ended()
                    assert (code, last.reattach) == (4502, True)
            async with agent_process(world, folder, node_id):

                async def is_closed() -> bool:
                    sql = "select closed_at is not null and ended_at is not null from terminals where id = $1"
                    return bool(await world.value(sql, session.session_id))

                await eventually(is_closed)
                async with browsing(world, url, id) as browser:
                    await browser.type("cat ~/marker\n")
                    await browser.shows("still here\r\n")
                (await world.release(id)).raise_for_status()
                await eventually(lambda: is_released(world, id))


async def is_released(world: World, id: str) -> bool:
    return (await world.get(id)).released_at is not None
