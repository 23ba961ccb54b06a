"""Resize: other slots of the same node, by way of a restart; never fewer claims than the machine may use."""

from typing import Any

import pytest

from gpuaas.domain.capacity.placement import NodeView, SlotView, reshape
from gpuaas.wire.allocations import Status
from tests import peek
from tests.world import WHOLE, World

CLAIMS = "select count(*) from claims where allocation_id = $1 and released_at is null"


async def resize(world: World, id: str, gpu_count: int, **body: object) -> tuple[int, dict[str, Any]]:
    answer = await world.http.post(f"/api/v1/allocations/{id}/resize", json={"gpu_count": gpu_count, **body})
    return answer.status_code, answer.json()


def indexes(shown: dict[str, Any]) -> list[int]:
    return [slot["index"] for slot in shown["slots"]]


async def test_a_machine_grows_and_shrinks_on_its_node_and_keeps_its_way_in(world: World) -> None:
    a = await world.allocation()
    before = await world.seen(a)
    assert (await resize(world, a, 2))[0] == 202
    await world.nodes.settle()
    grown = await world.seen(a)
    assert (grown["gpu_count"], indexes(grown), grown["boot"]) == (2, [0, 1], 2)
    assert grown["connection"] == before["connection"]
    assert grown["price_per_hour"]["amount_minor"] == 2 * before["price_per_hour"]["amount_minor"]
    assert (await resize(world, a, 1))[0] == 202
    await world.nodes.settle()
    shrunk = await world.seen(a)
    assert (shrunk["gpu_count"], len(indexes(shrunk)), shrunk["resize"]) == (1, 1, None)
    assert await world.value(CLAIMS, a) == 1


async def test_old_and_new_claims_are_held_together_until_it_is_up(world: World) -> None:
    a = await world.allocation(gpu_count=2)
    _, shown = await resize(world, a, 1)
    assert (shown["status"], shown["gpu_count"]) == ("restarting", 2)
    assert (shown["resize"]["gpu_count"], shown["resize"]["size"]) == (1, "sim_1g")
    assert await world.value(CLAIMS, a) == 2
    await world.nodes.settle()
    assert await world.value(CLAIMS, a) == 1
    told = [entry for entry in await world.timeline(a) if entry.phase == "resized"]
    assert told[0].evidence == {"from": "2 GPUs, sim_2g", "to": "1 GPUs, sim_1g"}


async def test_a_node_without_room_is_a_refusal_that_says_what_fits_where(world: World) -> None:
    a = await world.allocation()
    await world.allocation(gpu_count=4)
    await world.allocation(gpu_count=2)
    status, problem = await resize(world, a, 4)
    assert (status, problem["code"]) == (409, "resize_unavailable")
    assert problem["facts"]["fits_here"] == [2]
    assert problem["facts"]["elsewhere"] == []
    await world.nodes.add("other")
    _, problem = await resize(world, a, 4)
    assert problem["facts"]["elsewhere"] == ["local"]
    assert (await world.get(a)).status is Status.ACTIVE
    assert await world.value(CLAIMS, a) == 1


BLOCKED = {
    "is offline and gives out": "update nodes set offline_since = clock_timestamp()",
    "gives out no more GPUs, because an operator takes it out of service": "update nodes set intent = 'draining'",
    "lacks something that environments need; an operator has to provide it": (
        "update nodes set facts = jsonb_set(facts, '{missing}', '[\"root\"]')"
    ),
    "is almost out of disk space and gives out nothing more": (
        "update node_disks set size_gib = 100, free_gib = 1, overcommit = 2"
    ),
}


@pytest.mark.parametrize("reason", BLOCKED)
async def test_a_node_that_gives_out_nothing_is_named_with_the_reason(world: World, reason: str) -> None:
    a = await world.allocation()
    await peek.plant(world.db, BLOCKED[reason])
    status, problem = await resize(world, a, 2)
    assert (status, problem["code"]) == (409, "resize_unavailable")
    assert problem["detail"].startswith(f"The node of this allocation {reason}")


async def test_a_failed_resize_can_be_finished_by_restart_or_reverted_by_resize(world: World) -> None:
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    node.broken["booting"] = "no such device"
    await resize(world, a, 4)
    await world.nodes.settle()
    shown = await world.seen(a)
    assert (shown["status"], shown["gpu_count"], shown["resize"]["gpu_count"]) == ("restart_failed", 1, 4)
    assert await world.value(CLAIMS, a) == 4
    node.broken.clear()
    assert (await resize(world, a, 1))[0] == 202
    await world.nodes.settle()
    shown = await world.seen(a)
    assert (shown["status"], shown["gpu_count"], shown["resize"]) == ("active", 1, None)
    assert await world.value(CLAIMS, a) == 1
    node.broken["booting"] = "no such device"
    await resize(world, a, 4)
    await world.nodes.settle()
    node.broken.clear()
    await world.http.post(f"/api/v1/allocations/{a}/restart", json={})
    await world.nodes.settle()
    shown = await world.seen(a)
    assert (shown["status"], shown["gpu_count"], await world.value(CLAIMS, a)) == ("active", 4, 4)


async def test_a_release_in_the_middle_of_a_resize_gives_back_both_sizes(world: World) -> None:
    a = await world.allocation()
    await resize(world, a, 4)
    await world.release(a)
    await world.nodes.settle()
    assert (await world.get(a)).status is Status.RELEASED
    assert await world.value(CLAIMS, a) == 0


async def test_a_whole_machine_has_no_other_size_and_the_same_size_is_no_change(world: World) -> None:
    a = await world.allocation()
    status, problem = await resize(world, a, 1)
    assert (status, problem["code"]) == (409, "conflict")
    status, problem = await resize(world, a, 3)
    assert (status, problem["code"]) == (422, "validation_error")
    await world.nodes.add("whole")
    b = await world.allocation(sku=WHOLE, gpu_count=8, name="whole")
    status, problem = await resize(world, b, 8)
    assert (status, problem["detail"]) == (
        409,
        "A baremetal allocation has no other size. Release it and create another.",
    )


async def test_the_audit_holds_what_was_asked_for(world: World) -> None:
    a = await world.allocation()
    await resize(world, a, 2)
    facts = await peek.rows(
        world.db, "select facts from audit where action = 'allocation.resize' and target_id = $1", a
    )
    assert [row["facts"]["gpu_count"] for row in facts] == [2]


def view(free: dict[str, int], held: dict[str, int], sold: dict[str, int]) -> NodeView:
    slots = [SlotView(id, numa, claimed=id not in free, blocked=None) for id, numa in {**free, **held, **sold}.items()]
    return NodeView("node", "local", "h200", tuple(slots))


def test_what_is_held_is_kept_and_what_is_added_is_near() -> None:
    node = view({"a": 0, "b": 1, "c": 1}, {"d": 1}, {"e": 1})
    assert reshape(node, {"d"}, 3) == ("b", "c", "d")
    assert reshape(node, {"d"}, 4) == ("a", "b", "c", "d")
    assert reshape(node, {"d"}, 5) is None
    assert reshape(view({}, {"d": 1, "f": 0, "g": 0}, {}), {"d", "f", "g"}, 2) == ("f", "g")
