"""Who is in, as the agent tells it: once when somebody came or went, now and then while they stay, all of it anew."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from gpuaas.agent.doorkeeper import TELL_AGAIN_AFTER, Doorkeeper
from gpuaas.agent.outgoing import Outgoing
from gpuaas.wire.environments import Connection, Environment, EnvironmentState
from gpuaas.wire.link import LEASE_SECONDS, Lease, Sessions
from tests.agent.link_server import NOON, eventually
from tests.agent.stand_in import StandInEngine
from tests.agent.world import ensure, world_in

SECOND = timedelta(seconds=1)


def visitor(id: str, allocation: str = "alloc_a", **fields: int) -> Connection:
    opened = datetime(2026, 5, 4, tzinfo=UTC)
    plain = Connection(
        id=id, allocation_id=allocation, key_fingerprint="SHA256:x", source="10.0.0.1:1", opened_at=opened
    )
    return msgspec.structs.replace(plain, **fields)


class Desk:
    def __init__(self) -> None:
        self.engine, self._outgoing = StandInEngine(), Outgoing()
        self._outgoing.open()
        self.keeper = Doorkeeper(self.engine, self._outgoing)
        self.now = NOON

    async def told(self, *inside: Connection, after: timedelta = SECOND) -> dict[str, list[str]]:
        """What one look at these made the agent say."""
        self.engine.inside, self.now = [*inside], self.now + after
        await self.keeper.look(self.now)
        said: dict[str, list[str]] = {}
        while self._outgoing._waiting:
            message = await self._outgoing.get()
            assert isinstance(message, Sessions)
            said[message.allocation_id] = [one.id for one in message.sessions]
        return said


async def test_somebody_who_comes_or_goes_is_told_once() -> None:
    desk = Desk()
    assert await desk.told() == {}
    assert await desk.told(visitor("a")) == {"alloc_a": ["a"]}
    assert await desk.told(visitor("a", bytes_in=9)) == {}
    assert await desk.told(visitor("a"), visitor("b", "alloc_b")) == {"alloc_b": ["b"]}
    assert await desk.told(visitor("b", "alloc_b")) == {"alloc_a": []}
    assert await desk.told(visitor("b", "alloc_b")) == {}


async def test_who_stays_is_told_again_now_and_then_and_an_empty_machine_is_not() -> None:
    desk = Desk()
    await desk.told(visitor("a"))
    assert await desk.told(visitor("a"), after=TELL_AGAIN_AFTER) == {"alloc_a": ["a"]}
    await desk.told()
    assert await desk.told(after=TELL_AGAIN_AFTER) == {}


async def test_a_new_link_hears_all_of_it() -> None:
    desk = Desk()
    await desk.told(visitor("a"))
    desk.keeper.forget()
    assert await desk.told(visitor("a")) == {"alloc_a": ["a"]}


async def test_a_new_link_hears_of_a_machine_that_was_left_while_nobody_could_be_told() -> None:
    desk = Desk()
    desk.engine.here["alloc_a"] = Environment(allocation_id="alloc_a", state=EnvironmentState.RUNNING, boot=1)
    await desk.told(visitor("a"))
    desk.keeper.forget()
    assert await desk.told() == {"alloc_a": []}
    assert await desk.told() == {}


async def test_a_lease_from_the_server_reaches_the_engine_and_sessions_reach_the_server(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world, world.agent():
        await world.server.give("task_1", ensure("task_1"))
        await world.server.say(Lease(server_time=NOON, seconds=LEASE_SECONDS))
        await eventually(lambda: "lease 300" in world.engine.calls)
        world.engine.inside = [visitor("a")]
        await eventually(lambda: any(isinstance(one, Sessions) for one in world.server.heard))
