"""The same over a real engine: a real shell on a real terminal, and an agent that is killed."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.engines.node import processes
from gpuaas.engines.oci import liveness
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.wire.terminals import Error, Exit, Session
from tests.engines.benches import place as folder_for
from tests.images.real import real_image
from tests.live import agent, eventually, serving
from tests.terminals.browsers import Browser, browsing
from tests.terminals.conftest import active
from tests.terminals.test_recording import bytes_of
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
        return node["offline_since"] is None and any(world.services.index.fleet.views())

    try:
        await eventually(is_online)
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


@asynccontextmanager
async def coming_back(world: World, url: str, id: str, name: str) -> AsyncIterator[Browser]:
    """As a page does: again, until the node answers."""
    while True:
        async with browsing(world, url, id, session_id=name) as browser:
            while not browser.said:
                await browser.next()
            if isinstance(browser.said[0], Session):
                yield browser
                return
            assert browser.said[0] == Error(reason="the node does not answer now", reattach=True)


LOOP = "for i in $(seq %d %d); do echo line $i; done; "
WAIT = "printf 'wai%s\\n' ting; until test -e /tmp/go; do sleep 0.05; done; "


async def test_a_terminal_survives_the_agent_and_ends_with_agent_and_gateway(migrated: str, tmp_path: Path) -> None:
    """The last part is the red twin: a terminal that nobody holds any more must not be reported as live."""
    with folder_for(0) as folder:
        async with serving(migrated, tmp_path) as (world, url):
            await world.furnish()
            async with agent(world, url, folder, oci(folder)) as node_id:
                pass
            async with agent_process(world, folder, node_id) as first:
                id = await machine(world)
                async with browsing(world, url, id, record=True) as browser:
                    name = (await browser.session()).session_id
                    await browser.type(LOOP % (1, 1500) + WAIT + LOOP % (1501, 3000) + "printf 'do%s\\n' ne $$\n")
                    await browser.shows("waiting\r\n")
                    first.kill()
                    code, last = await browser.ended()
                    assert (code, last.reattach) == (4502, True)
                await first.wait()
            inside(folder, id, "tmp/go").touch()  # the shell writes more than a terminal holds while nobody reads
            async with agent_process(world, folder, node_id), coming_back(world, url, id, name) as browser:
                assert (await browser.session()).resumed
                await browser.shows("done\r\n")
                assert re.findall(r"line (\d+)\r\n", browser.seen.decode()) == [str(n) for n in range(1, 3001)]
                await browser.type("shell=$$; echo $shell > ~/shell; printf 'kno%s\\n' wn\n")
                await browser.shows("known\r\n")
            async with agent_process(world, folder, node_id) as last_agent:  # the one before was stopped, not killed
                async with coming_back(world, url, id, name) as browser:
                    await browser.type("test $shell = $$ && test $$ = $(cat ~/shell) && printf 'sa%s\\n' me\n")
                    await browser.shows("same\r\n")
                    shown = bytes(browser.seen)
                    await eventually(lambda: is_recorded(world, id, name, shown))
                    last_agent.kill()
                    os.kill(gateway_of(folder), signal.SIGKILL)
                    await browser.ended()
                await last_agent.wait()
            async with agent_process(world, folder, node_id):
                await eventually(lambda: is_closed(world, name))
                async with browsing(world, url, id) as browser:
                    await browser.type("wc -c < ~/shell | grep -q . && printf 'ke%s\\n' pt\n")
                    await browser.shows("kept\r\n")
                (await world.release(id)).raise_for_status()
                await eventually(lambda: is_released(world, id))


def inside(folder: Path, id: str, path: str) -> Path:
    init = liveness.recorded(folder / "oci" / "environments" / id)
    assert init is not None
    return Path(f"/proc/{init.pid}/root") / path


def gateway_of(folder: Path) -> int:
    (pid,) = [pid for pid in processes.with_argument(str(folder / "oci")) if "gpuaas.gateway" in command_of(pid)]
    return pid


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")


async def is_closed(world: World, name: str) -> bool:
    sql = "select closed_at is not null and ended_at is not null from terminals where id = $1"
    return bool(await world.value(sql, name))


async def is_recorded(world: World, id: str, name: str, shown: bytes) -> bool:
    """All that was shown is in the recording, once; the recording may already have the next prompt."""
    answer = await world.http.get(f"/api/v1/allocations/{id}/terminals/{name}/recording")
    return bytes_of(answer.raise_for_status().content).startswith(shown)


async def is_released(world: World, id: str) -> bool:
    return (await world.get(id)).released_at is not None
