"""Several machines in one submit: all or nothing, then each its own way."""

from gpuaas.wire.allocations import Status
from tests.world import World


async def test_a_group_is_named_and_comes_up_whole(world: World) -> None:
    await world.nodes.add()
    submitted = (await world.submit(count=3, gpu_count=2, name="train")).json()
    await world.nodes.settle()
    group = (await world.http.get(f"/api/v1/allocation-groups/{submitted['group_id']}")).json()
    shown = [(member["name"], member["status"]) for member in group["allocations"]]
    assert shown == [(f"train-{number}", "active") for number in (1, 2, 3)]


async def test_a_group_that_does_not_fit_whole_leaves_nothing_behind(world: World) -> None:
    await world.nodes.add()
    answer = await world.submit(count=5, gpu_count=2)
    assert (answer.status_code, answer.json()["code"]) == (409, "sku_unavailable")
    assert "4 of the 5 allocations would fit" in answer.json()["detail"]
    for table in ("allocations", "allocation_groups", "claims", "operations", "idempotency"):
        assert await world.value(f"select count(*) from {table}") == 0
    assert (await world.submit(count=4, gpu_count=2)).status_code == 202


async def test_a_group_with_a_name_in_use_leaves_nothing_behind(world: World) -> None:
    await world.nodes.add()
    await world.submit(name="train-2")
    answer = await world.submit(count=3, name="train")
    assert (answer.status_code, answer.json()["facts"]) == (409, {"name": "train-2"})
    assert await world.value("select count(*) from allocations") == 1
    assert (await world.submit(count=7)).status_code == 202


async def test_releasing_a_group_releases_every_member_that_lives(world: World) -> None:
    await world.nodes.add()
    submitted = (await world.submit(count=3)).json()
    first, *others = [member["id"] for member in submitted["allocations"]]
    await world.nodes.settle()
    await world.release(first)
    await world.nodes.settle()
    answer = await world.http.post(f"/api/v1/allocation-groups/{submitted['group_id']}/release", json={})
    assert answer.status_code == 202
    await world.nodes.settle()
    assert {(await world.get(id)).status for id in (first, *others)} == {Status.RELEASED}
    assert [entry.phase for entry in await world.timeline(first)].count("releasing") == 1


async def test_a_group_of_another_tenant_does_not_exist(world: World) -> None:
    await world.nodes.add()
    group_id = (await world.submit(count=2)).json()["group_id"]
    eve = await world.sign_up("eve")
    answers = [
        await eve.http.get(f"/api/v1/allocation-groups/{group_id}"),
        await eve.http.post(f"/api/v1/allocation-groups/{group_id}/release", json={}),
        await eve.http.get("/api/v1/allocation-groups/group_none"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({(answer.json()["detail"], answer.json()["code"]) for answer in answers}) == 1
