"""The audit log of a project, as those who lead it read it."""

from gpuaas.wire.identity import Role
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
