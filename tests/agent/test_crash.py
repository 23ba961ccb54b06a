"""An agent killed at every point it passes: the next one on the same folder ends in the same place."""

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from gpuaas.agent.journal import JournalRefusedError
from gpuaas.wire.link import Result, TaskStatus
from tests.agent.link_server import NOON, eventually
from tests.agent.world import World, conform, ensure, install_keys, remove, world_in


class KilledError(BaseException):
    """The process is gone; nothing of ours may catch it."""


class MortalPoints:
    """Dies when a point is reached for the n-th time, and stays dead: code that still unwinds commits nothing."""

    def __init__(self, name: str = "", nth: int = 1) -> None:
        self._name, self._nth, self.passed = name, nth, list[str]()

    @property
    def is_dead(self) -> bool:
        return self.passed.count(self._name) >= self._nth

    @property
    def heard_all(self) -> bool:
        """The server has acknowledged every task."""
        return self.passed.count("journal:acknowledge:after") >= len(TASKS)

    def reach(self, name: str) -> None:
        self.passed.append(name)
        if self.is_dead:
            raise KilledError(name)


TASKS = {
    "t1": ensure("t1", seq=1),
    "t2": install_keys("t2", seq=2),
    "t3": ensure("t3", "alloc_b", seq=1),
    "t4": conform("t4"),
    "t5": remove("t5", seq=3),
}


async def live_through(world: World, points: MortalPoints) -> bool:
    """One agent's life; whether it saw the end of all tasks."""
    stop = asyncio.Event()
    life = asyncio.create_task(world.run(stop, points=points))

    def is_over(task_id: str) -> bool:
        return life.done() or bool(world.server.all(Result, task_id))

    await eventually(lambda: life.done() or world.server.is_linked)  # so that each task is sent once
    for id, task in TASKS.items():
        if not life.done():
            await world.server.give(id, task)
            await eventually(partial(is_over, id))
    await eventually(lambda: life.done() or (points.heard_all and not points.is_dead))
    stop.set()
    (ending,) = await asyncio.gather(life, return_exceptions=True)
    if isinstance(ending, BaseExceptionGroup):
        assert ending.subgroup(KilledError) is not None
    return ending is None


async def points_of_a_life(folder: Path) -> Counter[str]:
    folder.mkdir()
    async with world_in(folder) as world:
        points = MortalPoints()
        assert await live_through(world, points)
        return Counter(points.passed)


async def die_at(folder: Path, name: str, nth: int) -> bool:
    """Kill the agent there, start the next one and judge it; whether the point was reached at all."""
    folder.mkdir()
    async with world_in(folder) as world:
        if await live_through(world, MortalPoints(name, nth)):
            return False
        async with world.agent():
            for id, task in TASKS.items():
                if not world.server.all(Result, id):
                    await world.server.give(id, task)
                    await world.server.result(id)
        statuses = {id: world.server.all(Result, id)[0].status for id in TASKS}
        assert statuses == dict.fromkeys(TASKS, TaskStatus.DONE), (name, nth)
        assert set(world.engine.here) == {"alloc_b"}
        assert world.engine.made == Counter(alloc_a=1, alloc_b=1), (name, nth)
        return True


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["sample", "every"])
async def test_killed_at_any_point_every_task_ends_as_if_nothing_had_happened(tmp_path: Path, every: bool) -> None:
    """How often an agent passes a point depends on how messages travel together, so on the load of the machine. What
    it does for a task it passes at least once; what it sends by itself (`link:`) may not come while the tasks run."""
    points = await points_of_a_life(tmp_path / "whole")
    assert {"journal:accept:before", "journal:finish:after", "task:environment.ensure:before"} <= set(points)
    died_at = set()
    for number, (name, count) in enumerate(sorted(points.items())):
        for nth in range(1, count + 1) if every else {1, (count + 1) // 2}:
            if await die_at(tmp_path / f"{number}-{nth}", name, nth):
                died_at.add(name)
    assert {name for name in set(points) - died_at if not name.startswith("link:")} == set()
    assert any(name.startswith("link:") for name in died_at)


async def test_killed_between_taking_and_doing_the_task_is_done_without_being_sent_again(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world:
        stop = asyncio.Event()
        life = asyncio.create_task(world.run(stop, points=MortalPoints("journal:accept:after")))
        await world.server.linked_after(0)
        await world.server.say(ensure("t1"))  # once, and never again
        with pytest.raises(BaseExceptionGroup):
            await life
        assert world.engine.made == Counter()
        async with world.agent():
            assert (await world.server.result("t1")).status is TaskStatus.DONE
        assert world.engine.made == Counter(alloc_a=1)


async def test_a_removal_taken_before_the_crash_wins_over_the_ensure_it_overtook(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world:
        world.engine.gates["ensure"].shut()
        world.engine.gates["remove"].shut()
        async with world.agent():
            await world.server.say(ensure("t1"))
            await world.engine.gates["ensure"].reached.wait()
            await world.server.say(remove("t2"))
            await world.engine.gates["remove"].reached.wait()
        world.engine.gates["remove"].open()
        async with world.agent():
            assert (await world.server.result("t2")).status is TaskStatus.DONE
            assert (await world.server.result("t1")).status is TaskStatus.SUPERSEDED
        assert world.engine.made == Counter()


async def test_after_a_boot_of_the_machine_replay_waits_for_the_servers_time(tmp_path: Path) -> None:
    """The monotonic clock began anew, so until a welcome nobody here knows what time it is there."""
    async with world_in(tmp_path) as world:
        world.engine.gates["ensure"].shut()
        async with world.agent():
            await world.server.say(ensure("t1"))
            await world.engine.gates["ensure"].reached.wait()
        world.engine.gates["ensure"].open()
        world.boot_id, world.clock.ticks = "the next boot", 3.0
        async with world.agent():
            done = await world.server.result("t1")
        assert {done.at, *(one.at for one in done.phases)} == {NOON}


async def test_in_the_same_boot_replay_needs_no_server(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world:
        world.engine.gates["ensure"].shut()
        async with world.agent():
            await world.server.say(ensure("t1"))
            await world.engine.gates["ensure"].reached.wait()
        world.engine.gates["ensure"].open()
        await world.server.stop()
        stop = asyncio.Event()
        life = asyncio.create_task(world.run(stop))
        await eventually(lambda: "alloc_a" in world.engine.here)
        stop.set()
        await life


async def test_a_task_that_the_disk_changed_is_not_followed(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world:
        world.engine.gates["ensure"].shut()
        async with world.agent():
            await world.server.say(ensure("t1"))
            await world.engine.gates["ensure"].reached.wait()
        journal = world.journal()
        journal._db.execute("update tasks set body = cast(replace(body, 'ada', 'eve') as blob)")
        journal.close()
        with pytest.raises(JournalRefusedError, match="cannot be performed"):
            await world.run(asyncio.Event())
        assert world.engine.calls == ["start", "ensure alloc_a", "unwound alloc_a"]
