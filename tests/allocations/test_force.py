"""What operators may force, and what a person sees of it."""

import pytest

from gpuaas.wire.allocations import Status
from tests.world import World

LIVE_CLAIMS = "select count(*) from claims where released_at is null"


async def force(world: World, id: str, verb: str, **body: object) -> tuple[int, dict[str, object]]:
    answer = await world.operator.http.post(f"/api/v1/admin/allocations/{id}/force-{verb}", json=body)
    return answer.status_code, answer.json()


async def test_an_operator_releases_anybodys_machine_and_the_timeline_says_so(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    assert (await force(world, a, "release", reason="non-payment"))[0] == 202
    await world.nodes.settle()
    entry = next(entry for entry in await world.timeline(a) if entry.phase == "releasing")
    assert (entry.actor, entry.note) == (world.operator.id, "non-payment")
    assert (await world.get(a)).status is Status.RELEASED


@pytest.mark.parametrize("status", [Status.RELEASE_FAILED, Status.RELEASING])
async def test_what_an_operator_verified_absent_is_released_and_its_slot_freed(world: World, status: Status) -> None:
    a = await world.allocation(status)
    told, shown = await force(world, a, "cleanup", runtime_verified_absent=True, reason="looked with my own eyes")
    assert (told, shown["status"], shown["cleanup_proven"]) == (202, "released", True)
    assert await world.value(LIVE_CLAIMS) == 0
    proof = "select evidence from cleanup_proofs where allocation_id = $1 and item = 'operator'"
    assert await world.value(proof, a) == "looked with my own eyes"


async def test_a_failed_machine_verified_absent_stays_failed_and_frees_its_slot(world: World) -> None:
    a = await world.allocation(Status.FAILED)
    told, shown = await force(world, a, "cleanup", runtime_verified_absent=True, reason="reinstalled")
    assert (told, shown["status"], shown["cleanup_proven"]) == (202, "failed", True)
    assert await world.value(LIVE_CLAIMS) == 0
    await world.nodes.settle()
    assert (await world.get(a)).status is Status.FAILED


@pytest.mark.parametrize("status", [Status.FAILED, Status.RELEASE_FAILED])
async def test_what_nobody_verified_stays_out_of_sale(world: World, status: Status) -> None:
    a = await world.allocation(status)
    told, shown = await force(world, a, "cleanup", runtime_verified_absent=False, reason="cannot reach the rack")
    assert (told, shown["status"], shown["cleanup_proven"]) == (202, status.value, False)
    assert await world.value(LIVE_CLAIMS) == 1
    assert [entry.phase for entry in await world.timeline(a)][-1] == "cleanup_blocked"


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.RELEASED, Status.REQUESTED])
async def test_force_cleanup_is_for_what_failed_or_is_stuck(world: World, status: Status) -> None:
    a = await world.allocation(status)
    told, problem = await force(world, a, "cleanup", runtime_verified_absent=True, reason="oops")
    assert (told, problem["code"]) == (409, "conflict")
    assert (await world.get(a)).status is status


async def test_forcing_is_audited_with_its_reason(world: World) -> None:
    a = await world.allocation(Status.RELEASE_FAILED)
    await force(world, a, "cleanup", runtime_verified_absent=True, reason="looked")
    facts = await world.value("select facts from audit where action = 'allocation.force_cleanup'")
    assert facts == {"runtime_verified_absent": True, "reason": "looked"}


async def test_nobody_but_an_operator_forces_anything(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    for verb, body in (("release", {}), ("cleanup", {"runtime_verified_absent": True, "reason": "x"})):
        answer = await world.http.post(f"/api/v1/admin/allocations/{a}/force-{verb}", json=body)
        assert answer.status_code == 403
    assert (await world.get(a)).status is Status.ACTIVE


@pytest.mark.parametrize(
    ("only", "found"),
    [
        ("unsettled", {Status.REQUESTED, Status.RELEASING, Status.RELEASE_FAILED, Status.FAILED}),
        ("on_node", {Status.REQUESTED, Status.RELEASING, Status.RELEASE_FAILED, Status.FAILED, Status.ACTIVE}),
    ],
)
async def test_operators_find_what_is_not_at_rest_among_all_there_ever_was(
    world: World, only: str, found: set[Status]
) -> None:
    order = [Status.ACTIVE, Status.RELEASED, Status.RELEASE_FAILED, Status.FAILED, Status.RELEASING, Status.REQUESTED]
    made = {status: await world.allocation(status) for status in order}
    rows = (await world.operator.http.get("/api/v1/admin/allocations", params={"only": only})).json()["items"]
    assert {row["id"] for row in rows} == {made[status] for status in found}


async def test_a_failed_machine_that_is_proven_gone_is_at_rest(world: World) -> None:
    a = await world.allocation(Status.FAILED)
    await force(world, a, "cleanup", runtime_verified_absent=True, reason="reinstalled")
    rows = (await world.operator.http.get("/api/v1/admin/allocations", params={"only": "unsettled"})).json()["items"]
    assert rows == []


async def test_an_operator_reads_whom_a_stuck_machine_belongs_to(world: World) -> None:
    a = await world.allocation(Status.RELEASE_FAILED)
    case = (await world.operator.http.get(f"/api/v1/admin/allocations/{a}")).json()
    assert (case["allocation"]["id"], case["holder_email"]) == (a, world.ada.email)
