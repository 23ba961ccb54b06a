"""What is left of a quota is shown, operators change it, and ended things free it."""

from typing import Any

from gpuaas.wire.allocations import Status
from gpuaas.wire.quotas import Dimension, QuotaScope
from tests.peek import plant
from tests.quotas.edges import limit, used
from tests.world import Person, World

TENANT, PROJECT = QuotaScope.TENANT, QuotaScope.PROJECT


async def lines(world: World, path: str, person: Person | None = None) -> dict[str, dict[str, Any]]:
    shown = (await (person or world.ada).http.get(f"/api/v1/{path}")).raise_for_status().json()
    return {line["dimension"]: line for line in shown["lines"]}


async def test_the_tightest_limit_is_shown_with_what_remains(world: World) -> None:
    ada = world.ada
    await world.allocation(gpu_count=2)
    (await limit(world, TENANT, ada.tenant_id, gpus=8, volumes=3)).raise_for_status()
    (await limit(world, PROJECT, ada.project_id, gpus=4)).raise_for_status()
    shown = await lines(world, f"projects/{ada.project_id}/quota")
    gpus = {"dimension": "gpus", "limit": 4, "used": 2, "remaining": 2, "limited_by": "project"}
    assert shown["gpus"] == gpus
    assert (shown["volumes"]["remaining"], shown["volumes"]["limited_by"]) == (3, "tenant")
    assert (shown["snapshots"]["limit"], shown["snapshots"]["remaining"]) == (None, None)
    assert (await lines(world, f"tenants/{ada.tenant_id}/quota"))["gpus"]["remaining"] == 6
    assert (await lines(world, "me/quota"))["ssh_keys"]["used"] == 1
    asked = {"sku": "sim-h200-slice", "project_id": ada.project_id}
    explained = (await ada.http.post("/api/v1/placement/explain", json=asked)).raise_for_status().json()
    assert gpus in explained["quota"]


async def test_a_project_may_only_narrow_its_tenant(world: World) -> None:
    ada = world.ada
    (await limit(world, TENANT, ada.tenant_id, gpus=8)).raise_for_status()
    wider = await limit(world, PROJECT, ada.project_id, gpus=9)
    assert (wider.status_code, wider.json()["code"]) == (422, "validation_error")
    (await limit(world, PROJECT, ada.project_id, gpus=8)).raise_for_status()
    (await limit(world, TENANT, ada.tenant_id, gpus=2)).raise_for_status()
    assert (await lines(world, f"projects/{ada.project_id}/quota"))["gpus"]["remaining"] == 2
    await world.nodes.add()
    refused = await world.submit(gpu_count=4)
    assert (refused.status_code, refused.json()["code"]) == (409, "quota_exceeded")
    facts = refused.json()["facts"]
    assert (facts["scope"], facts["dimension"], facts["limit"], facts["used"], facts["requested"]) == (
        "tenant",
        "gpus",
        2,
        0,
        4,
    )


async def test_a_limit_cleared_gives_way_to_the_default_and_each_change_is_audited(world: World) -> None:
    ada, operator = world.ada, world.operator.http
    (await operator.put("/api/v1/admin/quotas", json={"limits": {"gpus": 5}})).raise_for_status()
    (await limit(world, TENANT, ada.tenant_id, gpus=8, volumes=1)).raise_for_status()
    place = f"/api/v1/admin/tenants/{ada.tenant_id}/quotas"
    (await operator.delete(place, params={"dimension": "gpus"})).raise_for_status()
    shown = await lines(world, f"tenants/{ada.tenant_id}/quota")
    assert (shown["gpus"]["limit"], shown["gpus"]["limited_by"]) == (5, "platform")
    assert (shown["volumes"]["limit"], shown["volumes"]["limited_by"]) == (1, "tenant")
    listed = (await operator.get("/api/v1/admin/quotas", params={"limit": 200})).raise_for_status().json()["items"]
    assert ("tenant", "volumes", 1) in {(row["scope"], row["dimension"], row["amount"]) for row in listed}
    told = await world.value("select array_agg(action order by id) from audit where action like 'quota.%'")
    assert told == ["quota.set", "quota.set", "quota.clear"]


async def test_only_proven_cleanup_frees_what_an_allocation_used(world: World) -> None:
    place = (world, TENANT, world.ada.tenant_id, Dimension.ALLOCATIONS)
    id = await world.allocation(Status.RELEASE_FAILED)
    assert await used(*place) == 1
    world.node_of(await world.get(id)).residue = set()
    await world.release(id)
    await world.nodes.settle()
    assert await used(*place) == 0


async def test_what_operators_write_counts_and_is_not_refused(world: World) -> None:
    """Adoption and the end of a resize state what is there; only people's requests are refused."""
    id = await world.allocation()
    (await limit(world, TENANT, world.ada.tenant_id, gpus=1)).raise_for_status()
    await plant(world.db, "update allocations set gpu_count = 4 where id = $1", id)
    assert await used(world, TENANT, world.ada.tenant_id, Dimension.GPUS) == 4


async def test_a_full_quota_is_told_before_a_full_fleet(world: World) -> None:
    await world.nodes.add(gpus=1)
    (await limit(world, TENANT, world.ada.tenant_id, allocations=1)).raise_for_status()
    await world.allocation()
    assert (await world.submit()).json()["code"] == "quota_exceeded"
    (await limit(world, TENANT, world.ada.tenant_id, allocations=2)).raise_for_status()
    assert (await world.submit()).json()["code"] == "sku_unavailable"
