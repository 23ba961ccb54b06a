"""SEC13: a thief of a node's key says numbers and times that would stop for ever what is compared with them later."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from gpuaas.domain.access.reconcile import TRY_AGAIN_AFTER
from gpuaas.domain.allocations.observations.store import HIGHEST
from gpuaas.wire.environments import Connection
from gpuaas.wire.link import Progress, Report, Result, Sessions, TaskStatus
from tests.attacks.stolen_key import activated, opening, running, said
from tests.isolation.machines import enrol
from tests.links.wires import Wire, task_of
from tests.world import World

LAST = (1 << 31) - 1  # of the column
LARGE = (LAST - 1, LAST, (1 << 64) - 1)
NEVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
KEY_TASKS = "select count(*) from node_tasks where allocation_id = $1 and lane = 'keys' and ended_at is null"


@pytest.fixture
async def wire(world: World) -> AsyncIterator[Wire]:
    async with opening(world, await enrol(world, "robbed")) as linked:
        yield await linked("thief")


async def report(world: World, wire: Wire, allocation_id: str, **told: int) -> None:
    world.clock.advance(seconds=10)  # a report is judged only against what was settled well before it
    await said(world, wire, Report(environments=[running(allocation_id, **told)], at=world.clock.now()))


async def admit_own_keys(world: World, allocation_id: str, *, allowed: bool) -> int:
    """A change of the key set."""
    place = f"/api/v1/allocations/{allocation_id}/own-keys"
    return (await world.http.put(place, json={"allowed": allowed})).status_code


@pytest.mark.parametrize("number", LARGE)
async def test_a_key_generation_of_the_nodes_choice_leaves_access_to_be_changed(
    world: World, wire: Wire, number: int
) -> None:
    allocation_id = await activated(world, wire)
    await report(world, wire, allocation_id, key_generation=number)
    assert await admit_own_keys(world, allocation_id, allowed=True) == 200
    project = f"/api/v1/admin/projects/{world.ada.project_id}"
    assert (await world.operator.http.post(f"{project}/suspend", json={"reason": "abuse"})).status_code < 300


async def test_key_generations_that_rise_step_by_step_leave_as_many_as_they_used(world: World, wire: Wire) -> None:
    allocation_id = await activated(world, wire)
    generation = "select generation from allocation_keysets where allocation_id = $1"
    await report(world, wire, allocation_id, key_generation=500_000)
    assert await world.value(generation, allocation_id) == 500_001, "what lost writes explain is believed"
    async with world.db.write() as tx:
        await tx.run("update allocation_keysets set generation = $1", HIGHEST - 1)
    for _ in range(2):
        await report(world, wire, allocation_id, key_generation=HIGHEST + 1000)
    assert await world.value(generation, allocation_id) <= HIGHEST + 1


@pytest.mark.parametrize("number", LARGE)
async def test_a_boot_of_the_nodes_choice_leaves_the_allocation_to_be_restarted(
    world: World, wire: Wire, number: int
) -> None:
    allocation_id = await activated(world, wire)
    await report(world, wire, allocation_id, boot=number)
    assert (await world.http.post(f"/api/v1/allocations/{allocation_id}/restart", json={})).status_code == 202


@pytest.mark.parametrize("number", LARGE)
async def test_a_key_set_that_a_node_says_it_has_already_is_sent_all_the_same(
    world: World, wire: Wire, number: int
) -> None:
    allocation_id, task_id = await task_of(world)
    made = running(allocation_id, key_generation=number)
    await said(world, wire, Result(task_id=task_id, status=TaskStatus.DONE, at=world.clock.now(), environment=made))
    await world.nodes.reconcile()
    assert (await world.seen(allocation_id))["status"] == "active"
    assert await admit_own_keys(world, allocation_id, allowed=True) == 200
    await world.nodes.reconcile()
    assert await world.value(KEY_TASKS, allocation_id) == 1


async def test_a_key_set_that_failed_in_the_future_is_sent_again(world: World, wire: Wire) -> None:
    allocation_id = await activated(world, wire)
    assert await admit_own_keys(world, allocation_id, allowed=True) == 200
    await world.nodes.reconcile()
    task_id = await world.value("select id from node_tasks where allocation_id = $1 and lane = 'keys'", allocation_id)
    await said(world, wire, Result(task_id=str(task_id), status=TaskStatus.FAILED, at=NEVER))
    assert await world.value(KEY_TASKS, allocation_id) == 0
    world.clock.advance(seconds=TRY_AGAIN_AFTER.total_seconds() + 1)
    await world.nodes.reconcile()
    assert await world.value(KEY_TASKS, allocation_id) == 1


async def test_connections_seen_in_the_future_are_replaced_by_those_seen_now(world: World, wire: Wire) -> None:
    allocation_id = await activated(world, wire)
    inside = Connection(id="con_1", key_fingerprint="SHA256:x", source="10.0.0.1:1", opened_at=NEVER)
    await said(world, wire, Sessions(allocation_id=allocation_id, sessions=[], at=NEVER))
    await said(world, wire, Sessions(allocation_id=allocation_id, sessions=[inside], at=world.clock.now()))
    listed = (await world.http.get(f"/api/v1/allocations/{allocation_id}/sessions")).raise_for_status().json()
    assert [one["id"] for one in listed["items"]] == ["con_1"]
    assert datetime.fromisoformat(listed["items"][0]["opened_at"]) < world.clock.now()


async def test_progress_of_the_future_is_progress_of_now(world: World, wire: Wire) -> None:
    _, task_id = await task_of(world)
    await said(world, wire, Progress(task_id=task_id, phase="booting", note="", at=NEVER))
    latest = await world.value("select max(last_progress_at) from operations")
    assert latest <= world.clock.now() + timedelta(seconds=1)
