"""Nodes that do not answer: decided purely, then counted against a moving clock."""

from datetime import datetime, timedelta

import pytest

from gpuaas.domain.allocations.observations.reach import BILLING_ENDS_AFTER, LOST_AFTER, Act, ReachWorker, decide
from gpuaas.domain.allocations.observations.store import OfflineNode
from gpuaas.wire.allocations import Status
from tests import peek
from tests.allocations.rows import NOON
from tests.fleet import Node
from tests.world import World

MOMENT = timedelta(seconds=1)


def offline(for_: timedelta, *, fleet: int = 10, gone: int = 1, since: datetime | None = NOON) -> OfflineNode:
    return OfflineNode(offline_since=since, offline_for=for_, fleet=fleet, fleet_offline=gone)


CASES = {
    "a node that is back resumes": (offline(timedelta(0), since=None), Act(resume_billing=True)),
    "a short absence changes nothing": (offline(BILLING_ENDS_AFTER), Act()),
    "a longer one stops billing": (offline(BILLING_ENDS_AFTER + MOMENT), Act(stop_billing=True)),
    "a day is not yet more than a day": (offline(LOST_AFTER), Act(stop_billing=True)),
    "after a day it is lost": (offline(LOST_AFTER + MOMENT), Act(stop_billing=True, fail=True)),
    "a third of the fleet may be lost": (
        offline(LOST_AFTER + MOMENT, fleet=9, gone=3),
        Act(stop_billing=True, fail=True),
    ),
    "with more gone it is us": (
        offline(LOST_AFTER + MOMENT, fleet=9, gone=4),
        Act(stop_billing=True, alarm=True),
    ),
    "a fleet of one is judged like any node": (
        offline(LOST_AFTER + MOMENT, fleet=1, gone=1),
        Act(stop_billing=True, fail=True),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_decide(case: str) -> None:
    facts, expected = CASES[case]
    assert decide(facts) == expected


async def passes(world: World, node: Node, times: int, **apart: float) -> None:
    worker = next(worker for worker in world.services.workers if isinstance(worker, ReachWorker))
    for _ in range(times):
        world.clock.advance(**apart)
        await worker(node.id)


async def absent(world: World) -> tuple[str, Node]:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    await world.nodes.disconnect(node)
    return a, node


async def test_an_absent_node_shows_its_machines_as_unreachable_at_once(world: World) -> None:
    a, node = await absent(world)
    assert ((await world.seen(a))["status"], (await world.seen(a))["health"]) == ("active", "unreachable")
    await world.nodes.connect(node)
    assert (await world.seen(a))["health"] == "ok"


async def test_billing_stops_at_the_last_proof_of_life_and_resumes_when_the_node_is_back(world: World) -> None:
    a, node = await absent(world)
    gone_since = (await world.get(a)).node_offline_since
    await passes(world, node, 10, minutes=1)
    assert (await world.get(a)).billing_stopped_at is None
    await passes(world, node, 2, minutes=1)
    assert (await world.get(a)).billing_stopped_at == gone_since
    await world.nodes.connect(node)
    await passes(world, node, 1, minutes=1)
    assert (await world.get(a)).billing_stopped_at is None
    assert [entry.phase for entry in await world.timeline(a)][-2:] == ["billing_paused", "billing_resumed"]


async def test_a_pause_is_no_phase_of_the_operation_that_was_last(world: World) -> None:
    """The operation ended long before, and the entry of a pause is dated back."""
    a, node = await absent(world)
    operation = f"/api/v1/operations/{(await world.get(a)).operation_id}"
    before = (await world.http.get(operation)).raise_for_status().json()
    await passes(world, node, 12, minutes=1)
    await world.nodes.connect(node)
    await passes(world, node, 1, minutes=1)
    told = (await world.timeline(a))[-2:]
    assert [(entry.phase, entry.operation_id, entry.outcome) for entry in told] == [
        ("billing_paused", None, "began"),
        ("billing_resumed", None, "began"),
    ]
    assert (await world.http.get(operation)).json() == before


async def test_a_gap_in_our_own_looking_does_not_count_against_the_node(world: World) -> None:
    a, node = await absent(world)
    await passes(world, node, 20, days=1)
    row = await world.get(a)
    assert row.status is Status.ACTIVE


async def test_after_a_day_of_looking_its_machines_have_failed_and_keep_their_slots(world: World) -> None:
    a, node = await absent(world)
    await passes(world, node, 1, minutes=1)
    almost = LOST_AFTER - timedelta(minutes=1)
    await peek.plant(world.db, "update nodes set offline_for = $1", almost)
    await passes(world, node, 2, minutes=1)
    row = await world.get(a)
    assert (row.status, row.status_reason) == (Status.FAILED, "node_lost: The node was offline for a day.")
    assert row.billing_stopped_at == row.node_offline_since
    assert await world.value("select count(*) from claims where released_at is null") == 1


async def test_repeated_passes_fail_a_machine_once(world: World) -> None:
    a, node = await absent(world)
    await peek.plant(world.db, "update nodes set offline_for = interval '25 hours'")
    await passes(world, node, 3, seconds=15)
    assert [entry.phase for entry in await world.timeline(a)].count("failed") == 1


async def test_an_operator_may_declare_an_absent_node_lost_but_not_one_that_answers(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    lost = f"/api/v1/admin/nodes/{node.id}/lost"
    assert (await world.operator.http.post(lost, json={})).status_code == 409
    await world.nodes.disconnect(node)
    assert (await world.operator.http.post(lost, json={"reason": "it burned"})).status_code == 200
    row = await world.get(a)
    assert (row.status, row.status_reason) == (Status.FAILED, "node_lost: it burned")
