"""A node's link put straight to the server's end of it: the test says what comes up, and how what goes down fares."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import asyncpg
import msgspec

from gpuaas.wire.link import Challenge, Down, Up, Welcome
from gpuaas.wire.task_keys import TrustedKey
from tests.isolation.machines import Machine, encode
from tests.patience import PATIENCE_SECONDS
from tests.world import World

T = TypeVar("T")
URL = "http://127.0.0.1:8080"
decoder: msgspec.msgpack.Decoder[Down] = msgspec.msgpack.Decoder(Down)
FAULT = """
    create sequence {name}_tries;
    grant all on sequence {name}_tries to public;
    create function {name}() returns trigger language plpgsql as $$ begin
        if nextval('{name}_tries') <= {times} then raise exception 'planted' using errcode = '{code}'; end if;
        return coalesce(new, old);
    end $$;
    create trigger {name} before {on} for each row execute function {name}();
"""


class Wire:
    """A socket whose other end is the test."""

    def __init__(self) -> None:
        self._up: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._down: asyncio.Queue[bytes] = asyncio.Queue()
        self.takes = 1_000_000  # messages, before it is broken
        self.is_free = asyncio.Event()  # otherwise it is stuck
        self.is_free.set()
        self.held = asyncio.Event()  # something was sent to it while it was stuck
        self.closed: tuple[int, str] | None = None
        self.running: asyncio.Future[None] | None = None

    async def send(self, data: bytes) -> None:
        if not self.is_free.is_set():
            self.held.set()
            await self.is_free.wait()
        if not self.takes:
            raise ConnectionResetError("the node's link is gone")
        self.takes -= 1
        self._down.put_nowait(data)

    async def receive(self) -> bytes:
        data = await self._up.get()
        if data is None:
            raise ConnectionResetError("the node's link is gone")
        return data

    def admit(self) -> None:
        """Its messages have no limit to lift."""

    async def close(self, code: int, reason: str) -> None:
        self.closed = self.closed or (code, reason)
        self._up.put_nowait(None)

    def say(self, *messages: Up | bytes) -> None:
        for message in messages:
            self._up.put_nowait(message if isinstance(message, bytes) else encode(message))

    async def heard(self, kind: type[T]) -> T:
        """The next of this kind; whatever else comes first is let by."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not isinstance(message := decoder.decode(await self._down.get()), kind):
                pass
        return message

    @property
    def is_drained(self) -> bool:
        """Nothing more came down."""
        return self._down.empty()

    async def hang_up(self) -> None:
        self._up.put_nowait(None)
        await self.ended()

    async def ended(self) -> None:
        """The server is done with it; an error of its own would show here."""
        assert self.running
        async with asyncio.timeout(PATIENCE_SECONDS):
            with suppress(ConnectionResetError):
                await self.running


async def dial(
    world: World,
    machine: Machine,
    *,
    takes: int = 1_000_000,
    instance: str = "",
    origin: str = URL,
    trusts: Sequence[TrustedKey] = (),
) -> Wire:
    """As far as the hello."""
    wire = Wire()
    wire.takes = takes
    wire.running = asyncio.ensure_future(world.links.serve(wire, machine.id))
    nonce = (await wire.heard(Challenge)).nonce
    wire.say(machine.hello(nonce, instance=instance, origin=origin, trusts=trusts))
    return wire


async def linked(world: World, machine: Machine, *, instance: str = "", trusts: Sequence[TrustedKey] = ()) -> Wire:
    wire = await dial(world, machine, instance=instance, trusts=trusts)
    await wire.heard(Welcome)
    return wire


@asynccontextmanager
async def writing(world: World) -> AsyncIterator["asyncio.Future[None]"]:
    task = asyncio.ensure_future(world.links.messages.write())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def plant_fault(world: World, name: str, on: str, code: str, times: int) -> None:
    """The database answers the first so many changes of this kind with an error of this code."""
    connection = await asyncpg.connect(world.dsn)
    try:
        await connection.execute(FAULT.format(name=name, on=on, code=code, times=times))
    finally:
        await connection.close()


async def task_of(world: World) -> tuple[str, str]:
    """An allocation on the one node that is online, and the task queued for it."""
    await world.services.index.refresh()
    allocation_id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
    await world.nodes.reconcile()
    return allocation_id, await world.value("select id from node_tasks where allocation_id = $1", allocation_id)


async def is_online(world: World, machine: Machine) -> bool:
    shown = (await world.operator.http.get(f"/api/v1/admin/nodes/{machine.id}")).raise_for_status().json()
    return shown["offline_since"] is None
