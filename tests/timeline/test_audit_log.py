"""The audit log of a project, as those who lead it read it."""

from gpuaas.domain.timeline.store import DENIALS_A_MINUTE
from gpuaas.wire.identity import Role
from tests import peek
from tests.world import World


async def test_it_tells_who_did_what_newest_first_and_page_by_page(world: World) -> None:
    a = await world.allocation()
    await world.http.post(f"/api/v1/allocations/{a}/restart", json={"reason": "because"})
    path = f"/api/v1/projects/{world.ada.project_id}/audit"
    first = (await world.http.get(path, params={"limit": 1})).raise_for_status().json()
    (row,) = first["items"]
    assert (row["action"], row["actor"], row["actor_name"]) == ("allocation.restarting", world.ada.id, world.ada.email)
    assert (row["target_id"], row["result"], row["facts"]) == (a, "done", {"note": "because"})
    second = (await world.http.get(path, params={"limit": 1, "cursor": first["next_cursor"]})).json()
    assert second["items"][0]["id"] < row["id"]


async def test_a_member_who_does_not_lead_may_not_read_it(world: World) -> None:
    await world.allocation()
    bob = await world.sign_up("bob")
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    assert (await bob.http.get(f"/api/v1/projects/{world.ada.project_id}/audit")).status_code == 403


async def test_it_is_filtered_by_who_what_result_and_time(world: World) -> None:
    a = await world.allocation()
    world.clock.advance(hours=1)
    later = world.clock.now().isoformat()
    await world.http.post(f"/api/v1/allocations/{a}/restart", json={})
    path = f"/api/v1/projects/{world.ada.project_id}/audit"

    async def actions(**wanted: str) -> list[str]:
        return [row["action"] for row in (await world.http.get(path, params=wanted)).raise_for_status().json()["items"]]

    everything = await actions()
    assert await actions(since=later) == ["allocation.restarting"]
    assert await actions(until=later) == everything[1:]
    assert await actions(action="allocation.restart", actor=world.ada.id) == ["allocation.restarting"]
    assert await actions(actor="somebody") == []
    assert await actions(target=a) == [action for action in everything if action.startswith("allocation.")]
    assert await actions(target="something") == []
    assert await actions(result="denied") == []
    assert (await world.http.get(path, params={"result": "perhaps"})).status_code == 422


async def test_a_refusal_is_in_the_log_of_the_project_it_happened_in(world: World) -> None:
    a = await world.allocation()
    bob = await world.sign_up("bob")
    await world.join(bob, world.ada, project=Role.VIEWER, tenant=Role.MEMBER)
    for _ in range(2):
        assert (await bob.http.post(f"/api/v1/allocations/{a}/release", json={})).status_code == 403
    path = f"/api/v1/projects/{world.ada.project_id}/audit"
    (row,) = (await world.http.get(path, params={"result": "denied"})).json()["items"]
    assert (row["actor_name"], row["action"], row["repeats"]) == (bob.email, "allocations:release", 2)
    assert row["target_id"] == f"POST /api/v1/allocations/{a}/release"


async def test_somebody_who_is_refused_again_and_again_cannot_fill_the_log(world: World) -> None:
    tries = DENIALS_A_MINUTE + 10
    for number in range(tries):
        assert (await world.http.get(f"/api/v1/admin/tenants/tenant_{number}/quotas")).status_code == 403
    rows = await peek.rows(
        world.db,
        "select coalesce(r.repeats, 1) as repeats from audit a left join audit_repeats r on r.audit_id = a.id "
        "where result = 'denied'",
    )
    assert len(rows) == DENIALS_A_MINUTE
    assert sum(row["repeats"] for row in rows) == tries
