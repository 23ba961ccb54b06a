"""Restart: the same machine at its next boot, asked for by a person or made necessary by a crash."""

import pytest

from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import Role
from tests import peek
from tests.world import World

KEPT = ("id", "node", "slots", "connection", "size", "holder", "created_at", "active_at")


async def restart(world: World, id: str, who: str = "ada", **body: object) -> int:
    return (await world.as_(who).post(f"/api/v1/allocations/{id}/restart", json=body)).status_code


async def test_a_restarted_machine_is_the_same_one_at_its_next_boot(world: World) -> None:
    a = await world.allocation()
    before = await world.seen(a)
    answer = await world.http.post(f"/api/v1/allocations/{a}/restart", json={"reason": "driver hung"})
    assert (answer.status_code, answer.json()["status"], answer.json()["boot"]) == (202, "restarting", 2)
    await world.nodes.settle()
    after = await world.seen(a)
    assert (after["status"], after["boot"]) == ("active", 2)
    assert {field: after[field] for field in KEPT} == {field: before[field] for field in KEPT}
    assert world.node_of(await world.get(a)).boots == [(a, 1), (a, 2)]


async def test_its_timeline_says_who_why_and_every_phase_in_an_operation_of_its_own(world: World) -> None:
    a = await world.allocation()
    made = len(await world.timeline(a))
    answer = await world.http.post(f"/api/v1/allocations/{a}/restart", json={"reason": "driver hung"})
    await world.nodes.settle()
    told = (await world.timeline(a))[made:]
    assert [entry.phase for entry in told] == [
        "restarting",
        "preparing",
        "gpus_reset",
        "booting",
        "gpus_checked",
        "access_ready",
        "active",
    ]
    assert (told[0].actor, told[0].note) == (world.ada.id, "driver hung")
    assert {entry.operation_id for entry in told} == {answer.json()["operation_id"]}
    operation = (await world.http.get(f"/api/v1/operations/{answer.json()['operation_id']}")).json()
    assert (operation["kind"], operation["status"]) == ("restart", "succeeded")


async def test_a_restart_asked_for_while_it_restarts_is_refused_with_where_it_stands(world: World) -> None:
    a = await world.allocation()
    await restart(world, a)
    answer = await world.http.post(f"/api/v1/allocations/{a}/restart", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "illegal_move")


async def test_a_failed_restart_stops_billing_says_why_and_can_be_tried_again_or_released(world: World) -> None:
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    node.broken["booting"] = "the disk is full"
    await restart(world, a)
    await world.nodes.settle()
    shown = await world.seen(a)
    assert (shown["status"], shown["status_reason"], shown["health"]) == (
        "restart_failed",
        "the disk is full",
        "degraded",
    )
    assert shown["billing"]["state"] == "stopped"
    node.broken.clear()
    assert await restart(world, a) == 202
    await world.nodes.settle()
    shown = await world.seen(a)
    assert (shown["status"], shown["boot"], shown["billing"]["state"]) == ("active", 3, "running")
    node.broken["booting"] = "the disk is full"
    await restart(world, a)
    await world.nodes.settle()
    node.broken.clear()
    await world.release(a)
    await world.nodes.settle()
    assert (await world.get(a)).status is Status.RELEASED


@pytest.mark.parametrize(
    ("project", "tenant", "expected"),
    [
        (Role.VIEWER, Role.MEMBER, 403),
        (Role.MEMBER, Role.MEMBER, 403),
        (Role.ADMIN, Role.MEMBER, 202),
        (None, Role.ADMIN, 202),
        (None, Role.MEMBER, 404),
    ],
)
async def test_it_is_the_holders_and_the_leaders_to_restart(
    world: World, project: Role | None, tenant: Role | None, expected: int
) -> None:
    a = await world.allocation()
    bob = await world.sign_up("bob")
    await world.join(bob, world.ada, project=project, tenant=tenant)
    assert await restart(world, a, "bob") == expected


async def test_every_restart_is_audited_with_who_asked(world: World) -> None:
    a = await world.allocation()
    await restart(world, a, reason="because")
    rows = await peek.rows(
        world.db, "select actor, facts from audit where target_id = $1 and action = 'allocation.restarting'", a
    )
    assert [(row["actor"], row["facts"]["note"]) for row in rows] == [(world.ada.id, "because")]
