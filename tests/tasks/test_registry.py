"""Registrations of packages: every worker, lane and task kind has one, and none has two."""

from collections import Counter

import pytest

from gpuaas.core.settings import Settings
from gpuaas.domain import registry
from gpuaas.domain.tasks.registration import Overlay, WorkerParts
from gpuaas.wire.allocations import Status
from gpuaas.wire.tasks import CONTRACTS, ENSURE, REMOVE, VOLUME_ATTACH
from tests import peek
from tests.crash.verbs.registry import VERBS
from tests.storage.volumes import attach, new_volume
from tests.world import World

BY_NAME = {each.name: each for each in registry.RESOURCES}
OF_MEMBERS = {"join", "remove_member"}  # a person works in a project at once, without a worker
NO_HOLD = "select kind from holds where not kind = any ($1)"


def parts(world: World) -> WorkerParts:
    made = world.services
    return WorkerParts(db=made.worker_db, ids=made.ids, clock=made.clock, settings=Settings(data=made.data))


def named_twice(*names: str) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def test_nothing_is_registered_twice() -> None:
    assert named_twice(*(each.name for each in registry.RESOURCES)) == []
    assert named_twice(*(lane for each in registry.RESOURCES for lane in each.lanes)) == []
    assert named_twice(*(table for each in registry.RESOURCES for table in each.tables)) == []
    assert named_twice("a", "b", "a") == ["a"], "the red twin"


def test_every_kind_of_task_belongs_to_somebody() -> None:
    assert {task.kind for each in registry.RESOURCES for task in each.tasks} == set(CONTRACTS)


@pytest.mark.parametrize("name", BY_NAME)
def test_what_ends_with_its_environment_is_an_overlay(name: str) -> None:
    each = BY_NAME[name]
    ends = {task.ends_with_environment for task in each.tasks}
    if {ENSURE, REMOVE} != set(each.tasks):
        assert ends <= {isinstance(each, Overlay)}


async def test_whoever_has_a_lane_waits_for_the_results_of_its_tasks(world: World) -> None:
    for each in registry.RESOURCES:
        heard = {topic for make in each.workers for topic in make(parts(world)).topics}
        assert set(each.lanes.values()) <= heard, each.name
        assert bool(each.lanes) is bool(each.tasks), each.name


async def test_the_server_runs_every_registered_worker_once(world: World) -> None:
    registered = [make(parts(world)).name for each in registry.RESOURCES for make in each.workers]
    running = [worker.name for worker in world.services.workers]
    assert named_twice(*running) == []
    assert set(registered) <= set(running)


async def test_every_named_table_is_there(world: World) -> None:
    for each in registry.RESOURCES:
        for table in each.tables:
            assert await peek.value(world.db, "select to_regclass($1)::text", table) == table


async def test_a_release_waits_only_for_declared_holds(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    (await attach(world, a, await new_volume(world))).raise_for_status()
    declared = [each.hold for each in registry.OVERLAYS if each.hold]
    assert await peek.rows(world.db, NO_HOLD, declared) == []
    assert [row["kind"] for row in await peek.rows(world.db, NO_HOLD, [])] == ["volume"], "the red twin"


def test_a_lane_leads_to_the_topic_of_its_worker() -> None:
    assert registry.topic_of("environment") == "allocations"
    assert registry.topic_of("volumes:vol_1") == "volumes"
    assert registry.topic_of("of a later server:x") is None


def test_all_that_people_do_with_a_resource_dies_in_a_crash_test() -> None:
    declared = {action for each in registry.RESOURCES for action in each.actions}
    assert declared | OF_MEMBERS == set(VERBS)
    toy = Overlay(name="toy", workers=(), tasks=(VOLUME_ATTACH,), actions=("play",))
    assert not set(toy.actions) <= set(VERBS), "the red twin"
