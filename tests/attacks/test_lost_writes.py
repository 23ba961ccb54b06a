"""OPS3: the database goes back in time under nodes that do not. Tasks are done, environments stay, access follows."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from gpuaas.core.clock import SystemClock
from gpuaas.domain.allocations import limits
from gpuaas.domain.allocations.reconcile import Move, decide
from gpuaas.domain.allocations.store import Seen
from gpuaas.domain.tasks import store as tasks
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.allocations import Status
from gpuaas.wire.link import Result, TaskStatus
from tests.agent.world import ensure, install_keys, remove, world_in
from tests.allocations.rows import NOON, row
from tests.isolation.machines import enrol
from tests.links.wires import linked
from tests.world import World

HOUR = timedelta(hours=1)
OPEN_TASK = "select id from node_tasks where allocation_id = $1 and ended_at is null"


async def test_the_agent_names_the_highest_number_it_has_taken(tmp_path: Path) -> None:
    async with world_in(tmp_path) as world, world.agent(FakeEngine(clock=SystemClock().now)):
        await world.server.give("t1", ensure("t1", seq=7))
        assert (await world.server.result("t1")).status is TaskStatus.DONE
        await world.server.give("t2", install_keys("t2", seq=3))
        refused = await world.server.result("t2")
        assert (refused.status, refused.highest_seq) == (TaskStatus.SUPERSEDED, 7)
        await world.server.give("t3", remove("t3", seq=8))
        assert (await world.server.result("t3")).status is TaskStatus.DONE
        await world.server.give("t4", ensure("t4", seq=9))
        removed = await world.server.result("t4")
        assert (removed.status, removed.highest_seq) == (TaskStatus.SUPERSEDED, 0), "a removal is final"


async def superseded(world: World, task_id: str, node_id: str, highest: int) -> list[tasks.EndedTask]:
    answer = Result(task_id=task_id, status=TaskStatus.SUPERSEDED, at=world.clock.now(), highest_seq=highest)
    async with world.db.write() as tx:
        return await tasks.end_all(tx, [(node_id, answer)])


async def test_a_task_whose_number_the_node_has_used_up_is_sent_again_with_the_next(world: World) -> None:
    id = await world.allocation(Status.PROVISIONING)
    node = world.node_of(await world.get(id))
    task_id = await world.value(OPEN_TASK, id)
    assert await superseded(world, task_id, node.id, 41) == []
    numbered = await world.value("select status || ' ' || seq from node_tasks where id = $1", task_id)
    assert numbered == "queued 42"
    await world.nodes.settle()
    assert (await world.get(id)).status is Status.ACTIVE
    assert id in node.environments


@pytest.mark.parametrize("highest", [0, 1 << 40])
async def test_without_a_believable_number_it_ends_as_superseded(world: World, highest: int) -> None:
    """The red twin: the task ends, and after a pause another one is queued instead of it."""
    id = await world.allocation(Status.PROVISIONING)
    node = world.node_of(await world.get(id))
    ended = await superseded(world, await world.value(OPEN_TASK, id), node.id, highest)
    assert [task.status for task in ended] == ["superseded"]
    await world.nodes.settle()
    assert (await world.get(id)).status is Status.PROVISIONING
    world.clock.advance(seconds=3)
    await world.nodes.settle()
    assert (await world.get(id)).status is Status.ACTIVE
    statuses = await world.value("select array_agg(status order by seq) from node_tasks where allocation_id = $1", id)
    assert statuses == ["superseded", "done"]


async def test_a_node_that_refuses_every_number_is_not_asked_for_ever(world: World) -> None:
    id = await world.allocation(Status.PROVISIONING)
    node, task_id = world.node_of(await world.get(id)), await world.value(OPEN_TASK, id)
    async with world.db.write() as tx:
        await tx.run("update node_tasks set attempt = $2 where id = $1", task_id, tasks.MOST_RENUMBERED)
    assert [task.status for task in await superseded(world, task_id, node.id, 41)] == ["superseded"]


def seen(resumed: timedelta | None) -> Seen:
    """A task that was open when the dump was made, hours ago."""
    open_task = msgspec.convert(
        {
            **dict.fromkeys(("id", "node_id", "allocation_id", "operation_id", "reason", "detail"), "x"),
            "lane": "environment",
            "seq": 1,
            "boot": 1,
            "kind": "environment.ensure",
            "wants": {},
            "status": "sent",
            "attempt": 1,
            "created_at": NOON,
            "ended_at": None,
            "result": None,
        },
        tasks.TaskRow,
    )
    at = None if resumed is None else NOON + resumed
    provisioning = row(Status.PROVISIONING)
    return Seen(row=provisioning, task=open_task, holds=[], attempts=0, blocked=False, resumed_at=at)


def test_a_deadline_counts_from_the_moment_the_database_resumed() -> None:
    assert decide(seen(3 * HOUR), NOON + 3 * HOUR) is None
    late = decide(seen(3 * HOUR), NOON + 4 * HOUR)
    assert isinstance(late, Move)


def test_without_that_moment_a_restored_allocation_fails_at_once() -> None:
    """The red twin: its environment runs, and the cleanup of a failed allocation would remove it."""
    failed = decide(seen(None), NOON + 3 * HOUR)
    assert isinstance(failed, Move)
    assert failed.to is Status.FAILED


def test_an_end_that_passed_while_the_database_was_away_is_told_again_and_an_hour_before() -> None:
    limited = row(Status.ACTIVE, expires_at=NOON + HOUR, expiry_warned_at=NOON + HOUR)
    resumed = NOON + 5 * HOUR
    assert isinstance(limits.decide(limited, None, resumed, resumed), limits.Warn)
    told = msgspec.structs.replace(limited, expiry_warned_at=resumed + timedelta(minutes=1))
    assert limits.decide(told, None, resumed + HOUR, resumed) is None
    assert isinstance(limits.decide(told, None, resumed + 2 * HOUR, resumed), limits.End)
    assert isinstance(limits.decide(limited, None, resumed, None), limits.End), "the red twin"


async def test_a_newer_boot_and_newer_keys_on_the_node_are_overtaken_and_not_ignored(world: World) -> None:
    id = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(id))
    here = node.environments[id]
    here.boot, here.keys = 4, msgspec.structs.replace(here.keys, generation=9, keys=())
    await world.nodes.report(node)
    await world.nodes.settle()
    found = await world.get(id)
    assert (found.boot, found.observed_boot) == (4, 4)
    assert (here.keys.generation, len(here.keys.keys)) == (10, 1), "the set of the database is in force"
    await world.http.post(f"/api/v1/allocations/{id}/restart", json={})
    await world.nodes.settle()
    assert node.boots[-1] == (id, 5)


async def test_links_are_opened_again_when_the_database_has_another_history(world: World) -> None:
    machine = await enrol(world, "first")
    wire = await linked(world, machine)
    watch = world.services.watch
    await watch.look()
    assert world.links.count == 1
    assert await world.value("select resumed_at()") is None
    watch.history = "another/00000001/5"
    async with world.db.write() as tx:
        await tx.run("update platform set value = $1 where key = 'history'", watch.history)
    await watch.look()
    await wire.ended()
    assert wire.closed == (4410, "the database changed")
    assert await world.value("select value from platform where key = 'history'") == watch.history
    assert await world.value("select resumed_at()") is not None


async def test_deadlines_count_from_the_moment_a_disk_image_was_put_back(world: World) -> None:
    """Cluster, timeline and database are the same then; only the position went back."""
    watch = world.services.watch
    await watch.look()
    watch._position += 1 << 40
    await watch.look()
    assert await world.value("select resumed_at()") is not None
