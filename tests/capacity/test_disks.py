"""Disk of nodes: never sold twice, also at once; overcommit with a stop; and what a refusal says."""

import asyncio
from collections import Counter
from typing import Any

import asyncpg
import httpx
import pytest
from msgspec import to_builtins

from gpuaas.domain.capacity.disks import store as disks
from gpuaas.domain.skus import store as skus
from gpuaas.wire.capacity import Shape, Size
from gpuaas.wire.environments import DiskSpace, Init
from tests.fleet import Node
from tests.world import World

AT_ONCE = 12
ROOT_GIB = 10
SKU = "disk-test"
NOBODY_COUNTS = "alter table allocations disable trigger count_root_disk_new"


async def sell(world: World, *sizes: Size) -> None:
    row = skus.SkuRow(
        sku=SKU,
        title="Sizes with a disk",
        shape=Shape.GPU_SLICE,
        gpu_family="h200",
        allowed_counts=[1],
        simulated=True,
        sizes=list(sizes),
        price_id=world.services.ids.new("price"),
        amount_minor=1,
        currency="USD",
    )
    async with world.db.write() as tx:
        await skus.add(tx, row, world.clock.now())


def size(name: str, disk_gib: int = ROOT_GIB, **fields: Any) -> Size:
    return Size(name=name, gpu_count=1, vcpus=1, memory_mib=1024, disk_gib=disk_gib, **fields)


async def report(world: World, node: Node, size_gib: int, free_gib: int) -> None:
    async with world.db.write() as tx:
        await disks.reported(tx, {node.id: DiskSpace(size_gib=size_gib, free_gib=free_gib)})
    await world.services.index.refresh()


@pytest.fixture
async def node(world: World) -> Node:
    """35 GiB of which 33 are for sale: three root disks, and 3 GiB more."""
    await sell(world, size("small"), size("large", 13), size("tiny", 5), size("sys", init=Init.SYSTEMD))
    found = await world.nodes.add(gpus=AT_ONCE)
    await report(world, found, 35, 35)
    return found


async def shown(world: World, node: Node) -> dict[str, Any]:
    answer = await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}")
    found: dict[str, Any] = answer.raise_for_status().json()["disk"]
    return found


async def all_at_once(world: World, node: Node) -> Counter[str]:
    """Root disks and local volumes of as much, for the same space."""
    volumes = f"/api/v1/projects/{world.ada.project_id}/volumes"

    async def ask(number: int) -> httpx.Response:
        if number % 3:
            return await world.submit(key=f"k{number}", sku=SKU)
        body = {"name": f"v{number}", "size_gib": ROOT_GIB, "backend": "local"}
        return await world.http.post(volumes, json=body, headers={"X-Idempotency-Key": f"k{number}"})

    answers = await asyncio.gather(*(ask(number) for number in range(AT_ONCE)))
    return Counter("done" if one.is_success else str(one.json()["code"]) for one in answers)


async def truth(world: World, node: Node) -> int:
    return int(await world.value("select sold_gib from node_disk_truth where node_id = $1", node.id))


async def test_requests_at_once_never_sell_more_disk_than_there_is(world: World, node: Node) -> None:
    answers = await all_at_once(world, node)
    assert answers["done"] == 3, answers
    assert set(answers) <= {"done", "sku_unavailable", "node_disk_full", "conflict"}  # the last: raced too often
    assert (await shown(world, node))["sold_gib"] == await truth(world, node) == 3 * ROOT_GIB


async def test_without_the_count_at_commit_more_would_be_sold(world: World, node: Node) -> None:
    """The twin: the test above sees what the trigger prevents."""
    owner = await asyncpg.connect(world.dsn)
    await owner.execute(NOBODY_COUNTS)
    await owner.close()
    await all_at_once(world, node)
    assert await truth(world, node) > 33


async def test_a_refusal_names_the_disk_and_space_returns_with_proof(world: World, node: Node) -> None:
    made = [await world.allocation(sku=SKU) for _ in range(3)]
    refused = (await world.submit(sku=SKU)).json()
    assert (refused["code"], refused["facts"]["kind"]) == ("sku_unavailable", "no_disk")
    assert refused["detail"].startswith(
        f"Nodes with free GPUs have too little disk left. Each allocation needs {ROOT_GIB} GiB."
    )
    await world.release(made[0])
    await world.nodes.settle()
    await world.services.index.refresh()
    assert (await world.submit(sku=SKU)).is_success


async def test_overcommit_sells_more_until_the_disk_runs_full(world: World, node: Node) -> None:
    place = f"/api/v1/admin/nodes/{node.id}/disk-overcommit"
    assert (await world.http.put(place, json={"overcommit": 2})).status_code in (403, 404)
    assert (await world.operator.http.put(place, json={"overcommit": 11})).status_code == 422
    changed = await world.operator.http.put(place, json={"overcommit": 2, "reason": "disks are empty"})
    assert changed.raise_for_status().json()["disk"]["for_sale_gib"] == 66
    audited = "select facts ->> 'to' from audit where action = 'node.disk_overcommit' and target_id = $1"
    assert await world.value(audited, node.id) == "2.0"
    await report(world, node, 35, 3)
    answer = (await world.submit(sku=SKU)).json()
    assert (answer["facts"]["kind"], answer["facts"]["blocked"]) == ("readiness_blocks", {"disk_low": AT_ONCE})
    assert "almost full" in answer["detail"]
    assert (await shown(world, node))["is_low"] is True
    await report(world, node, 35, 5)
    for _ in range(6):
        await world.allocation(sku=SKU)
    assert (await world.submit(sku=SKU)).json()["facts"]["kind"] == "no_disk"


async def test_a_resize_grows_the_disk_and_never_shrinks_it(world: World, node: Node) -> None:
    id = await world.allocation(sku=SKU)
    place = f"/api/v1/allocations/{id}/resize"
    refused = await world.http.post(place, json={"gpu_count": 1, "size": "tiny"})
    assert refused.status_code == 409
    assert "cannot shrink" in refused.json()["detail"]
    (await world.http.post(place, json={"gpu_count": 1, "size": "large"})).raise_for_status()
    assert (await shown(world, node))["sold_gib"] == 13  # both are held while it is under way
    await world.nodes.settle()
    seen = await world.seen(id)
    assert (seen["size"], seen["disk_gib"], seen["init"]) == ("large", 13, "plain")
    assert node.environments[id].spec.disk_gib == 13
    assert (await shown(world, node))["sold_gib"] == await truth(world, node) == 13
    await world.allocation(sku=SKU)
    other = await world.allocation(sku=SKU)  # all 33 GiB are sold
    full = await world.http.post(f"/api/v1/allocations/{other}/resize", json={"gpu_count": 1, "size": "large"})
    assert (full.status_code, full.json()["code"]) == (409, "node_disk_full")


async def test_a_failed_resize_is_tried_again_with_the_disk_that_it_holds(world: World, node: Node) -> None:
    ids = [await world.allocation(sku=SKU) for _ in range(3)]
    place, body = f"/api/v1/allocations/{ids[0]}/resize", {"gpu_count": 1, "size": "large"}
    node.broken["booting"] = "no such device"
    (await world.http.post(place, json=body)).raise_for_status()
    await world.nodes.settle()
    assert (await world.seen(ids[0]))["status"] == "restart_failed"
    assert (await shown(world, node))["sold_gib"] == 33  # all that is for sale
    node.broken.clear()
    again = await world.http.post(place, json=body)
    assert again.status_code == 202, again.text
    await world.nodes.settle()
    assert (await world.seen(ids[0]))["disk_gib"] == 13
    assert (await shown(world, node))["sold_gib"] == await truth(world, node) == 33


async def test_systemd_is_placed_only_where_the_engine_declares_it(world: World, node: Node) -> None:
    id = await world.allocation(sku=SKU, size="sys")
    assert node.environments[id].spec.init is Init.SYSTEMD
    facts = to_builtins(await node.probe())
    facts["capabilities"]["systemd"] = False
    async with world.db.write() as tx:
        await tx.run("update nodes set facts = $2 where id = $1", node.id, facts)
    await world.services.index.refresh()
    refused = (await world.submit(sku=SKU, size="sys")).json()
    assert refused["facts"]["kind"] == "size_not_offered"
    assert "no node offers systemd" in refused["detail"]
    sold = (await world.http.get(f"/api/v1/skus/{SKU}")).json()["sizes"]
    assert {one["name"]: one["not_placeable"] for one in sold}["sys"] == "no node offers systemd"
