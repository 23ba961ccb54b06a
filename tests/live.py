"""A control plane as it runs in service: its loops, a real socket, real agents with fake engines behind them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn

from gpuaas.agent import identity
from gpuaas.agent.loop import run_agent
from gpuaas.agent.streams.kinds import Node, StreamsOfKind
from gpuaas.core.clock import Clock, DatabaseClock, SystemClock
from gpuaas.core.points import NoPoints
from gpuaas.core.settings import Settings
from gpuaas.engines.base import Engine
from gpuaas.main.server import listener
from tests.patience import PATIENCE_SECONDS
from tests.world import World, world_on

DEADLINE_SECONDS = PATIENCE_SECONDS


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Look until it is so; a test waits no longer than it must, and never for ever."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await holds():
            await asyncio.sleep(0.02)


class QuietServer(uvicorn.Server):
    """Leaves the process's signals to pytest."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def free_socket(port: int = 0) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    return made


@asynccontextmanager
async def running(world: World, *, loops: bool = True) -> AsyncIterator[None]:
    """The loops that run beside the routes, and the relay of hints; ended with the block."""
    wanted = [lambda: world.services.hints.relay(world.dsn), *(world.background if loops else [])]
    tasks = [asyncio.ensure_future(each()) for each in wanted]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def serving(dsn: str, data: Path, *, clock: Clock | None = None) -> AsyncIterator[tuple[World, str]]:
    """One replica behind a real socket on the loopback, on the database's clock; and its URL."""
    with free_socket() as bound:
        port = bound.getsockname()[1]
        async with (
            world_on(dsn, data, clock=clock or DatabaseClock(SystemClock()), port=port) as world,
            running(world),
        ):
            server = QuietServer(listener(world.app, Settings(data=data, port=port)).config)
            task = asyncio.create_task(server.serve(sockets=[bound]))
            try:
                yield world, f"http://127.0.0.1:{port}"
            finally:
                server.should_exit = True
                await task


@asynccontextmanager
async def agent(
    world: World,
    url: str,
    folder: Path,
    engine: Engine,
    *,
    stream_kinds: Sequence[Callable[[Node], StreamsOfKind]] = (),
) -> AsyncIterator[str]:
    """A real agent, enrolled at the first call with all its slots approved; its node's id."""
    operator = world.operator.http
    if not identity.is_enrolled(folder):
        asked = {"node_name": folder.name.replace("_", "-").strip("-")}
        issued = (await operator.post("/api/v1/admin/enrolment-tokens", json=asked)).raise_for_status().json()
        facts = await engine.probe()
        await identity.enrol(url, issued["token"], folder, facts, agent_version="1", points=NoPoints())
        for gpu in facts.gpus:
            await operator.post(f"/api/v1/admin/nodes/{issued['node_id']}/slots/{gpu.index}/approve", json={})
    node_id = identity.load(folder).node_id

    async def is_online() -> bool:
        node = (await operator.get(f"/api/v1/admin/nodes/{node_id}")).json()
        return node["offline_since"] is None and any(world.services.index.fleet.views())

    stop = asyncio.Event()
    task = asyncio.create_task(
        run_agent(
            folder=folder,
            engine=engine,
            clock=SystemClock(),
            points=NoPoints(),
            stop=stop,
            stop_environments=lambda: False,
            agent_version="1",
            stream_kinds=stream_kinds,
        )
    )
    try:
        await eventually(is_online)
        yield node_id
    finally:
        stop.set()
        await task
