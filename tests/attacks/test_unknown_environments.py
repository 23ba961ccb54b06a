"""OPS1: an environment that the database does not know keeps its devices. Nobody else is sold them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuaas.core.migrate import folder
from gpuaas.domain.allocations.observations import drift
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.link import Report
from tests.fleet import Node
from tests.patience import PATIENCE_SECONDS
from tests.world import SLICE, WHOLE, World

OF_AN_ALLOCATION = (
    "allocation_keys",
    "allocation_keysets",
    "claims",
    "holds",
    "task_logs",
    "node_tasks",
    "cleanup_proofs",
)


async def forget(world: World, id: str) -> None:
    """As a failover that lost the writes of this allocation leaves the database."""
    async with world.db.write() as tx:
        await tx.run("set local role gpuaas_owner")
        for table in OF_AN_ALLOCATION:
            await tx.run(f"delete from {table} where allocation_id = $1", id)
        await tx.run("delete from operations where subject_id = $1", id)
        await tx.run("delete from allocations where id = $1", id)


@pytest.fixture
async def node(world: World) -> Node:
    return await world.nodes.add(gpus=2)


async def unknown_on(world: World, node: Node) -> str:
    """An environment on the node's first slot that the database forgot."""
    id = await world.allocation(Status.ACTIVE)
    await forget(world, id)
    await world.services.index.refresh()
    return id


async def holders(node: Node) -> dict[str, list[str]]:
    """Device → environments that use it, as found on the node."""
    found: dict[str, list[str]] = {}
    for each in await node.observe():
        for device in each.devices or ():
            found.setdefault(device, []).append(each.allocation_id)
    return found


async def placement(world: World, **ask: Any) -> Any:
    answer = await world.http.post("/api/v1/placement/explain", json={"sku": SLICE, **ask})
    return answer.raise_for_status().json()


async def slots(world: World, node: Node) -> list[str]:
    answer = await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}/slots")
    return [slot["status"] for slot in answer.raise_for_status().json()["items"]]


async def test_its_slot_is_not_sold_and_the_reason_is_named(world: World, node: Node) -> None:
    stranger = await unknown_on(world, node)
    await world.nodes.report(node)
    await world.services.index.refresh()
    assert (await world.submit()).status_code == 202
    refused = await world.submit()
    assert (refused.status_code, refused.json()["code"]) == (409, "sku_unavailable")
    explained = await placement(world)
    assert (explained["fits"], explained["blocked"]) == (False, {"unknown_environment": 1})
    await world.nodes.settle()
    assert all(len(each) == 1 for each in (await holders(node)).values())
    assert stranger in node.environments
    assert await slots(world, node) == ["unknown_environment", "claimed"]


async def test_a_replica_that_has_not_heard_of_it_is_refused_by_the_claim(world: World, node: Node) -> None:
    await unknown_on(world, node)
    await world.nodes.report(node)  # the index of this replica is not read again
    answers = [await world.submit() for _ in range(2)]
    assert sorted(answer.status_code for answer in answers) == [202, 409]
    assert await slots(world, node) == ["unknown_environment", "claimed"]


async def test_a_whole_node_is_not_sold_with_one_on_it(world: World) -> None:
    node = await world.nodes.add()
    stranger = await unknown_on(world, node)
    await world.nodes.report(node)
    assert (await world.submit(sku=WHOLE, gpu_count=8)).status_code == 409
    del node.environments[stranger]
    await world.nodes.report(node)
    await world.services.index.refresh()
    assert (await world.submit(sku=WHOLE, gpu_count=8)).status_code == 202


async def test_a_claim_that_meets_the_report_waits_and_gets_another_slot(world: World, node: Node) -> None:
    await unknown_on(world, node)
    report = Report(environments=await node.observe(), at=world.clock.now())
    async with world.db.write() as tx:
        await drift.apply(tx, {node.id: report}, ids=world.services.ids, now=world.services.clock.now())
        submitted = asyncio.ensure_future(world.submit())
        await waiting_for_the_node(world)
    assert (await submitted).status_code == 202
    assert await slots(world, node) == ["unknown_environment", "claimed"]


async def waiting_for_the_node(world: World) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await world.value("select exists (select from pg_locks where not granted)"):
            await asyncio.sleep(0.01)


async def test_a_planted_claim_without_the_rule_sells_the_slot(world: World, node: Node) -> None:
    """The red twin: with the rule of before, the tests above see a second sale."""
    stranger = await unknown_on(world, node)
    await world.nodes.report(node)
    async with world.db.write() as tx:
        await tx.run("set local role gpuaas_owner")
        await tx.run(former_claimable())
    assert [(await world.submit()).status_code for _ in range(2)] == [202, 202]
    await world.nodes.settle()
    found = await holders(node)
    assert [stranger] in found.values()
    assert all(len(each) == 1 for each in found.values()), "the engine itself refuses a device in use"


def former_claimable() -> str:
    text = Path(folder() / "0014_lean_submit.sql").read_text()
    return text[text.index("create or replace function claimable") :]


async def test_its_slot_is_free_again_when_it_is_gone(world: World, node: Node) -> None:
    stranger = await unknown_on(world, node)
    await world.nodes.report(node)
    del node.environments[stranger]
    await world.nodes.report(node)
    await world.services.index.refresh()
    assert await slots(world, node) == ["free", "free"]
    assert [(await world.submit()).status_code for _ in range(2)] == [202, 202]


async def test_one_that_cannot_say_its_devices_holds_the_whole_node(world: World, node: Node) -> None:
    unreadable = Environment(allocation_id="alloc_unreadable", state=EnvironmentState.BROKEN, boot=0)
    async with world.db.write() as tx:
        report = Report(environments=[unreadable], at=world.clock.now())
        await drift.apply(tx, {node.id: report}, ids=world.services.ids, now=world.services.clock.now())
    assert await slots(world, node) == ["unknown_environment", "unknown_environment"]


async def test_a_known_allocation_holds_devices_beyond_its_claims(world: World, node: Node) -> None:
    """Its resize was among the writes that were lost: it runs on two devices and has a claim on one."""
    id = await world.allocation(Status.ACTIVE)
    here = node.environments[id]
    second = (await node.probe()).gpus[1]
    extra = replace(here.spec.slots[0], index=1, gpu_uuid=second.gpu_uuid, gpu_pci=second.gpu_pci)
    here.spec = replace(here.spec, slots=(*here.spec.slots, extra))
    await world.nodes.report(node)
    await world.services.index.refresh()
    assert await slots(world, node) == ["claimed", "unknown_environment"]
    assert (await world.submit()).status_code == 409
