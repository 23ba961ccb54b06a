"""What the agent does with tasks, through its own link and an engine that can be held in the middle."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from gpuaas.agent.jobs import LINES_PER_ATTEMPT
from gpuaas.agent.loop import AT_ONCE, end
from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.link import Ack, Beat, LogLines, Progress, Report, Sessions, TaskStatus, TerminalReport
from gpuaas.wire.storage import VolumeReport
from tests.agent.link_server import NOON, eventually
from tests.agent.world import World, conform, ensure, install_keys, remove, world_in


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with world_in(tmp_path) as world:
        yield world


async def test_an_environment_is_made_and_removed_and_every_phase_is_told(world: World) -> None:
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        made = await world.server.result("t1")
        await world.server.give("t2", remove("t2"))
        gone = await world.server.result("t2")
    assert (made.status, made.environment, made.at) == (TaskStatus.DONE, world_environment("alloc_a"), NOON)
    assert [one.phase for one in made.phases] == ["preparing", "booting", "access_ready"]
    assert made.phases == world.server.all(Progress, "t1")
    assert (gone.status, [proof.item for proof in gone.proofs]) == (TaskStatus.DONE, ["environment"])
    assert world.engine.here == {}
    assert [line for one in world.server.all(LogLines, "t1") for line in one.lines] == [
        "environment.ensure begun",
        "preparing",
        "booting: boot 1",
        "access_ready",
        "environment.ensure done",
    ]
    assert [one.first_seq for one in world.server.all(LogLines, "t1")] == [0, 1, 2, 3, 4]


async def test_the_agent_introduces_itself_beats_and_reports(world: World) -> None:
    async with world.agent():
        await eventually(lambda: bool(world.server.all(Beat)) and bool(world.server.all(Report)))
    hello = world.server.hellos[0]
    assert (hello.node_id, hello.agent_version, hello.engine) == ("node_test", "1.2.3", "stand-in")
    assert hello.facts.vcpus == 8
    assert world.server.all(Report)[0] == Report(environments=[], at=NOON)


async def test_an_agent_that_lacks_something_reports_what_it_has_and_says_nothing_of_what_it_cannot_see(
    world: World,
) -> None:
    """The second agent is the twin: it lacks nothing, and says that nobody is in and that there are no volumes."""
    claims = (Sessions, TerminalReport, VolumeReport)

    def claimed() -> set[type]:
        return {type(said) for said in world.server.heard if isinstance(said, claims)}

    world.engine.here["alloc_a"] = Environment(allocation_id="alloc_a", state=EnvironmentState.UNKNOWN, boot=1)
    world.engine.lacks = ("root",)
    async with world.agent():
        await eventually(lambda: bool(world.server.all(Report)))
        await world.server.give("t1", ensure("t1"))
        await world.server.result("t1")  # by then every loop has had its turn
    assert [one.state for one in world.server.all(Report)[0].environments] == [EnvironmentState.UNKNOWN]
    assert claimed() == set()
    world.engine.lacks = ()
    async with world.agent():
        await eventually(lambda: claimed() == set(claims))


async def test_keys_are_installed_at_any_boot_and_confirmed_at_the_one_they_were_meant_for(world: World) -> None:
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.server.give("t2", install_keys("t2", generation=7))
        installed = await world.server.result("t2")
        await world.server.give("t3", install_keys("t3", seq=3, boot=2, generation=8))
        stale = await world.server.result("t3")
    assert installed.environment
    assert (installed.status, installed.environment.key_generation) == (TaskStatus.DONE, 7)
    assert (stale.status, stale.reason) == (TaskStatus.REFUSED, "stale_boot")
    assert world.engine.here["alloc_a"].key_generation == 8


async def test_a_task_of_the_node_that_comes_after_a_newer_one_of_its_lane_is_too_late(world: World) -> None:
    async with world.agent():
        for id, lane, seq in (("t2", "bundle", 2), ("t1", "bundle", 1), ("t3", "bundle", 2), ("t4", "another", 1)):
            await world.server.give(id, conform(id, lane, seq))
        answers = [(await world.server.result(id)).status for id in ("t1", "t2", "t3", "t4")]
    assert answers == [TaskStatus.SUPERSEDED, TaskStatus.DONE, TaskStatus.SUPERSEDED, TaskStatus.DONE]


async def test_a_task_delivered_again_has_one_effect_and_the_same_result(world: World) -> None:
    world.server.acknowledges = False
    world.engine.gates["ensure"].shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.engine.gates["ensure"].reached.wait()
        await world.server.say(ensure("t1"))  # while it runs
        world.engine.gates["ensure"].open()
        first = await world.server.result("t1")
        await world.server.say(ensure("t1"))  # when it is done
        second = await world.server.result("t1", nth=2)
    assert first == second
    assert world.engine.calls == ["start", "ensure alloc_a"]


async def test_an_acknowledged_task_delivered_once_more_changes_nothing(world: World) -> None:
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.server.result("t1")
        await world.server.say(ensure("t1"))
        again = await world.server.result("t1", nth=2)
    assert again.status is TaskStatus.SUPERSEDED
    assert world.engine.calls == ["start", "ensure alloc_a"]


async def test_an_older_task_is_superseded(world: World) -> None:
    async with world.agent():
        await world.server.give("t5", ensure("t5", seq=5))
        await world.server.result("t5")
        await world.server.give("t4", ensure("t4", seq=4))
        older = await world.server.result("t4")
        await world.server.give("t6", ensure("t6", seq=6))
        newer = await world.server.result("t6")
    assert (older.status, newer.status) == (TaskStatus.SUPERSEDED, TaskStatus.DONE)
    assert world.engine.calls.count("ensure alloc_a") == 2


@pytest.mark.parametrize("seq", [1, 3])
async def test_a_removed_environment_is_never_made_again(world: World, seq: int) -> None:
    async with world.agent():
        await world.server.give("t2", remove("t2", seq=2))
        await world.server.result("t2")
        await world.server.give("t", ensure("t", seq=seq))
        answer = await world.server.result("t")
        await world.server.give("other", ensure("other", "alloc_b", seq=seq))  # the same seq of another is made
        await world.server.result("other")
    assert answer.status is TaskStatus.SUPERSEDED
    assert set(world.engine.made) == {"alloc_b"}


async def test_a_removed_environment_is_never_made_again_by_a_later_agent_either(world: World) -> None:
    async with world.agent():
        await world.server.give("t2", remove("t2"))
        await world.server.result("t2")
    async with world.agent():
        await world.server.give("t3", ensure("t3", seq=3))
        assert (await world.server.result("t3")).status is TaskStatus.SUPERSEDED
        await world.server.give("t4", remove("t4", seq=4))
        assert (await world.server.result("t4")).status is TaskStatus.DONE
    assert not world.engine.made


async def test_a_removal_ends_a_running_ensure_waits_until_it_has_unwound_and_removes(world: World) -> None:
    world.engine.gates["ensure"].shut()
    world.engine.gates["unwind"].shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.engine.gates["ensure"].reached.wait()
        await world.server.give("t2", remove("t2"))
        await world.engine.gates["unwind"].reached.wait()
        assert "remove alloc_a" not in world.engine.calls
        world.engine.gates["unwind"].open()
        ended, removed = await world.server.result("t1"), await world.server.result("t2")
    assert (ended.status, removed.status) == (TaskStatus.SUPERSEDED, TaskStatus.DONE)
    assert world.engine.calls == ["start", "ensure alloc_a", "unwound alloc_a", "remove alloc_a"]
    assert not world.engine.made


async def test_keys_wait_for_the_environment_in_the_making(world: World) -> None:
    world.engine.gates["ensure"].shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.engine.gates["ensure"].reached.wait()
        await world.server.give("t2", install_keys("t2", seq=2, generation=2))
        await world.server.give("t3", install_keys("t3", seq=3, generation=3))
        overtaken = await world.server.result("t2")  # before it began: t3 names the whole set
        world.engine.gates["ensure"].open()
        made, installed = await world.server.result("t1"), await world.server.result("t3")
    assert (overtaken.status, made.status, installed.status) == (
        TaskStatus.SUPERSEDED,
        TaskStatus.DONE,
        TaskStatus.DONE,
    )
    assert world.engine.calls == ["start", "ensure alloc_a", "set_keys alloc_a"]


async def test_a_removal_behind_waiting_tasks_still_waits_for_the_one_that_runs(world: World) -> None:
    world.engine.gates["ensure"].shut()
    world.engine.gates["unwind"].shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.engine.gates["ensure"].reached.wait()
        await world.server.give("t2", install_keys("t2"))
        await world.server.give("t3", remove("t3", seq=3))
        assert (await world.server.result("t2")).status is TaskStatus.SUPERSEDED
        await world.engine.gates["unwind"].reached.wait()
        assert "remove alloc_a" not in world.engine.calls
        world.engine.gates["unwind"].open()
        assert (await world.server.result("t3")).status is TaskStatus.DONE
    assert world.engine.calls[-2:] == ["unwound alloc_a", "remove alloc_a"]


async def test_allocations_are_worked_on_side_by_side_within_a_bound(world: World) -> None:
    many = AT_ONCE + 4
    world.engine.gates["ensure"].shut()
    async with world.agent():
        for n in range(many):
            await world.server.give(f"t{n}", ensure(f"t{n}", f"alloc_{n}"))
        await eventually(lambda: world.engine.most_at_once == AT_ONCE)
        world.engine.gates["ensure"].open()
        results = [await world.server.result(f"t{n}") for n in range(many)]
    assert {one.status for one in results} == {TaskStatus.DONE}
    assert world.engine.most_at_once == AT_ONCE


@pytest.mark.parametrize(
    ("error", "reason", "detail"),
    [
        (EngineError("no ports are left", "range 1-2"), "no ports are left", "range 1-2"),
        (RuntimeError("a bug"), "internal error on the node", "RuntimeError: a bug"),
        (EngineError("in use: \udcff", "/data/\udcff"), "in use: ?", "/data/?"),  # a file's name that is no text
        (OSError("/data/\udcff"), "internal error on the node", "OSError: /data/?"),
    ],
)
async def test_a_failure_is_answered_with_its_reason(world: World, error: Exception, reason: str, detail: str) -> None:
    world.engine.fails_with = error
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        failed = await world.server.result("t1")
        world.engine.fails_with = None
        await world.server.give("t2", ensure("t2", seq=2))
        assert (await world.server.result("t2")).status is TaskStatus.DONE
    assert (failed.status, failed.reason, failed.detail) == (TaskStatus.FAILED, reason, detail)
    assert [one.phase for one in failed.phases] == ["preparing"]


async def test_a_removal_that_leaves_something_behind_fails_and_names_it(world: World) -> None:
    world.engine.fails_with = EngineError("a folder is busy", "")
    async with world.agent():
        await world.server.give("t1", remove("t1"))
        failed = await world.server.result("t1")
    assert (failed.status, failed.reason) == (TaskStatus.FAILED, "not cleaned: environment")
    assert [proof.ok for proof in failed.proofs] == [False]


async def test_what_appears_unasked_is_reported_and_never_removed(world: World) -> None:
    stranger = world_environment("alloc_nobody_knows")
    async with world.agent():
        await eventually(lambda: bool(world.server.all(Report)))
        world.engine.here[stranger.allocation_id] = stranger
        await world.server.give("t1", ensure("t1"))
        await eventually(lambda: len(world.server.all(Report)[-1].environments) == 2)
        world.engine.here["alloc_a"] = stopped = msgspec.structs.replace(
            world.engine.here["alloc_a"], state=EnvironmentState.STOPPED
        )
        await world.server.drop()
        await eventually(lambda: world.server.all(Report)[-1].environments == [stopped, stranger])
    assert "remove alloc_nobody_knows" not in world.engine.calls


async def test_a_change_is_told_once_more_when_it_has_settled_and_then_no_more(world: World) -> None:
    async with world.agent():
        await eventually(lambda: len(world.server.all(Report)) == 1)
        world.clock.ticks += 21
        for n in range(1, 4):  # every task makes it look
            await world.server.give(f"p{n}", conform(f"p{n}"))
            await world.server.result(f"p{n}")
            await eventually(lambda: len(world.server.all(Report)) == 2)
        world.engine.here["alloc_b"] = world_environment("alloc_b")
        await world.server.give("p4", conform("p4"))
        await eventually(lambda: len(world.server.all(Report)) == 3)
    assert [len(report.environments) for report in world.server.all(Report)] == [0, 0, 1]


async def test_an_older_sight_never_follows_a_newer_result(world: World) -> None:
    world.engine.gates["observe"].shut()
    async with world.agent():
        await world.engine.gates["observe"].reached.wait()  # it has looked, and saw nothing
        await world.server.give("t1", ensure("t1"))
        await world.server.result("t1")
        world.engine.gates["observe"].open()
        await eventually(lambda: bool(world.server.all(Report)))
    assert [len(report.environments) for report in world.server.all(Report)] == [1]


async def test_stopping_leaves_a_running_task_for_the_next_start(world: World) -> None:
    world.engine.gates["ensure"].shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.engine.gates["ensure"].reached.wait()
    assert world.engine.closed_with == [False]
    async with world.agent():
        world.engine.gates["ensure"].open()
        done = await world.server.result("t1")
    assert (done.status, world.engine.made["alloc_a"]) == (TaskStatus.DONE, 1)
    assert [one.phase for one in done.phases] == ["preparing", "preparing", "booting", "access_ready"]
    numbers = [one.first_seq for one in world.server.all(LogLines, "t1")]
    assert len(numbers) == len(set(numbers))
    assert max(numbers) > LINES_PER_ATTEMPT


async def test_an_acknowledged_result_is_forgotten_and_one_never_given_is_kept(world: World) -> None:
    world.server.acknowledges = False
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await world.server.give("t2", ensure("t2", "alloc_b"))
        await world.server.result("t1")
        await world.server.result("t2")
        await world.server.say(Ack(task_ids=["t1", "never heard of"]))
        await world.server.say(ensure("t2", "alloc_b"))
        await world.server.result("t2", nth=2)  # so the acknowledgement before it was heard
    journal = world.journal()
    assert [result.task_id for result in journal.results()] == ["t2"]
    assert journal.standing("alloc_a", "environment").highest_seq == 1
    journal.close()


async def test_a_second_agent_on_the_same_folder_is_refused(world: World) -> None:
    async with world.agent():
        with pytest.raises(Exception, match="another agent is running on this folder"):
            await world.run(asyncio.Event())


def world_environment(allocation: str) -> Environment:
    return Environment(allocation_id=allocation, state=EnvironmentState.RUNNING, boot=1, port=20000, key_generation=1)


async def test_a_loop_that_loses_a_cancel_ends_all_the_same() -> None:
    async def lose_one() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    losing = asyncio.create_task(lose_one())
    await asyncio.sleep(0)
    await end({losing}, pause=0.01)
    assert losing.cancelled()
