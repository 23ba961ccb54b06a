"""A refusal tells the truth about the whole fleet, whoever asks and whichever replica answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.world import SLICE, World, database, world_on

PLACEMENT = "/api/v1/placement/explain"


async def test_what_another_tenant_holds_is_not_free(world: World) -> None:
    await world.nodes.add()
    await world.allocation(gpu_count=8)
    eve = await world.sign_up("eve")
    answer = (await eve.http.post(PLACEMENT, json={"sku": SLICE})).json()
    assert (answer["fits"], answer["kind"]) == (False, "no_capacity")
    refused = await world.submit(eve)
    assert (refused.status_code, refused.json()["code"]) == (409, "sku_unavailable")
    assert refused.json()["facts"]["kind"] == "no_capacity"


async def test_three_reasons_are_told_apart(world: World) -> None:
    node, other = await world.nodes.add(), await world.nodes.add()
    await world.allocation(gpu_count=4)
    await world.nodes.disconnect(other)
    await world.services.index.refresh()
    answer = (await world.ada.http.post(PLACEMENT, json={"sku": SLICE, "gpu_count": 8})).json()
    assert (answer["kind"], answer["blocked"]) == ("readiness_blocks", {"node_offline": 8})
    assert {"gpu_count": 4, "count": 1, "region": "local"} in answer["would_fit"]
    await world.nodes.connect(other)
    await world.allocation(gpu_count=4)
    await world.allocation(gpu_count=4)
    assert node.id != other.id
    answer = (await world.ada.http.post(PLACEMENT, json={"sku": SLICE, "gpu_count": 8})).json()
    assert answer["kind"] == "no_capacity"


async def test_a_replica_finds_the_one_free_node_that_others_left(tmp_path: Path) -> None:
    """However many nodes another replica has sold meanwhile."""
    async with database() as dsn, world_on(dsn, tmp_path) as first, world_on(dsn, tmp_path) as second:
        await first.furnish()
        for _ in range(12):
            await first.nodes.add()
        await second.services.index.refresh()
        for _ in range(11):
            assert (await first.submit(gpu_count=8)).status_code == 202
        ada_at_second = replace(first.ada, http=second.client(first.ada.token))
        assert (await second.submit(ada_at_second, gpu_count=8)).status_code == 202


@pytest.mark.parametrize("scopes", [["write"], ["admin"]])
async def test_who_may_change_may_also_look(world: World, scopes: list[str]) -> None:
    made = await world.ada.http.post("/api/v1/auth/tokens", json={"title": "script", "scopes": scopes})
    script = world.client(made.json()["token"])
    a = await world.allocation()
    assert (await script.get(f"/api/v1/allocations/{a}")).status_code == 200
    assert (await script.post(f"/api/v1/allocations/{a}/release", json={})).status_code == 202


async def test_the_same_key_for_another_project_is_another_request(world: World) -> None:
    await world.nodes.add()
    made = await world.ada.http.post("/api/v1/projects", json={"slug": "second"})
    body = {"sku": SLICE, "ssh_key_ids": [world.ada.key_id]}
    headers = {"X-Idempotency-Key": "k"}
    first = await world.ada.http.post(
        "/api/v1/allocations", json=body, headers={**headers, "X-Project-ID": world.ada.project_id}
    )
    other = await world.ada.http.post(
        "/api/v1/allocations", json=body, headers={**headers, "X-Project-ID": made.json()["id"]}
    )
    assert (first.status_code, other.status_code) == (202, 422)
    assert other.json()["code"] == "idempotency_key_reused"
