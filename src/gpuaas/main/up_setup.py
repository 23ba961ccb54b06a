"""The setup process of `gpuaas up`: starts PostgreSQL, prepares database, demo and node, and ends.

The supervisor runs as long as the platform, and would keep the modules that only setup needs, about 25 MB. Modules that
the database does not need are imported after the start of the server, which takes longest.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import msgspec
import uvloop

from gpuaas.cli.complaints import Complaint
from gpuaas.core import logs
from gpuaas.core.clock import SystemClock
from gpuaas.core.db import DbRole, connect
from gpuaas.core.embedded import Embedded
from gpuaas.core.hints import Hints
from gpuaas.core.ids import Ids
from gpuaas.core.migrate import migrate
from gpuaas.core.owners import MachineError
from gpuaas.main.children import die_with_parent
from gpuaas.main.up_file import SLOTS, UpFile, people, read, write
from gpuaas.main.up_messages import (
    DatabaseReady,
    Done,
    Event,
    MakeToken,
    NeedsNode,
    NodeIs,
    NodeReady,
    NotDone,
    Order,
    Progress,
    SetUp,
    TokenMade,
    encode,
    orders,
)

if TYPE_CHECKING:
    from gpuaas.main.demo import Demo

READY_SECONDS = 60.0
LOOK_SECONDS = 0.03


def tell(event: Event) -> None:
    sys.stdout.buffer.write(encode(event))
    sys.stdout.buffer.flush()


async def next_order() -> Order:
    line = await asyncio.to_thread(sys.stdin.buffer.readline)
    if not line:
        raise Complaint("the start was stopped")
    order: Order = orders.decode(line)
    return order


class Setup:
    def __init__(self, wanted: SetUp) -> None:
        self._wanted, self._file = wanted, wanted.folder / "up.json"
        self._agent_folder = wanted.folder / "agent"

    async def run(self) -> UpFile:
        wanted = self._wanted
        dsn = await Embedded(wanted.folder / "postgres").start()
        await migrate(dsn)
        tell(DatabaseReady(dsn))  # the server takes longest to start, so the rest runs meanwhile
        async with self._demo(dsn) as world:
            file = people(wanted.url, demo=wanted.with_demo, kept=read(self._file))
            file = msgspec.structs.replace(file, engine=wanted.engine)
            write(self._file, file)
            file = await world.ensure_people(file, demo=wanted.with_demo)
            await world.ensure_bundles()
            write(self._file, file)
            node_id = await self._prepare_node(world)
            tell(NodeReady())  # the agent retries until the server answers
            await world.ensure_catalog(await world.machine(node_id))
            if wanted.with_demo:
                await world.approve_slots(node_id, SLOTS)
                await world.stage_bundle(node_id)
            await self._until(self._server_ready, "the server")
            await self._until(self._node_ready, "the node")
        return file

    @asynccontextmanager
    async def _demo(self, dsn: str) -> AsyncIterator["Demo"]:
        from gpuaas.main.demo import Demo

        clock = SystemClock()
        db = await connect(dsn, DbRole.WORKER, hints=Hints("up"), size=2)
        try:
            yield Demo(db, Ids(clock), clock.now())
        finally:
            await db.close()

    async def _prepare_node(self, world: "Demo") -> str:
        """Prepare the node's image and identity; returns its id."""
        from gpuaas.agent.identity import IdentityError
        from gpuaas.main.preparing import ensure_enrolled, ensure_image

        wanted = self._wanted

        async def token() -> str:
            """Called once, by a node that enrols with the server."""
            await self._until(self._server_ready, "the server")
            return await world.enrolment_token()

        if not wanted.has_root:
            await ensure_image(self._agent_folder, wanted.engine, lambda line: tell(Progress(line)))
            try:
                return await ensure_enrolled(self._agent_folder, wanted.engine, wanted.url, gpus=SLOTS, token=token)
            except IdentityError as error:
                raise Complaint(str(error), next_step=f"less {wanted.folder}/logs/*.log") from error
        tell(NeedsNode())
        while True:
            match await next_order():
                case MakeToken():
                    tell(TokenMade(await token()))
                case NodeIs(node_id):
                    return node_id
                case SetUp():
                    raise Complaint("the setup has already begun")

    async def _until(self, ready: Callable[[httpx.AsyncClient], Awaitable[bool]], what: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        async with httpx.AsyncClient(base_url=self._wanted.url, timeout=2) as http:
            while not await ready(http):
                if time.monotonic() > deadline:
                    raise Complaint(f"{what} was not ready in time", next_step=f"less {self._wanted.folder}/logs/*.log")
                await asyncio.sleep(LOOK_SECONDS)

    async def _server_ready(self, http: httpx.AsyncClient) -> bool:
        try:
            return (await http.get("/readyz")).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    async def _node_ready(self, http: httpx.AsyncClient) -> bool:
        answer = await http.get("/readyz")
        return answer.status_code == httpx.codes.OK and answer.json()["links"] > 0


async def set_up() -> None:
    wanted = await next_order()
    assert isinstance(wanted, SetUp)  # noqa: S101 - the supervisor sends it first
    try:
        tell(Done(await Setup(wanted).run()))
    except Complaint as error:
        tell(NotDone(why=error.why, details=error.details, next_step=error.next_step))
    except (MachineError, OSError) as error:
        tell(NotDone(why=str(error), next_step=f"less {wanted.folder}/logs/*.log"))


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    logs.configure(level="warning", human=True)
    uvloop.run(set_up())
    sys.stdout.flush()
    os._exit(0)  # a thread may wait for an order that will not come
