"""OPS1: operators adopt an unknown environment exactly as its node recorded it, or have it removed with proof."""

from datetime import datetime
from typing import Any

import pytest
from msgspec import structs

from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import Role
from tests.attacks.test_unknown_environments import forget
from tests.fleet import Node
from tests.world import World

RESTORED = (
    *("tenant_id", "project_id", "holder_id", "name", "sku", "shape", "size", "gpu_count", "vcpus", "memory_mib"),
    *("simulated", "node_id", "region", "price_id", "price_minor_per_hour", "currency", "username", "port", "host_key"),
    *("boot", "observed_boot", "ssh_host", "created_at", "requested_by"),
)
REASON = {"reason": "seen on the node: ps and nvidia-smi"}


@pytest.fixture
async def node(world: World) -> Node:
    return await world.nodes.add(gpus=2)


async def facts(world: World, id: str) -> dict[str, object]:
    row = await world.get(id)
    assert isinstance(row.slots, list)
    return {name: getattr(row, name) for name in RESTORED} | {"slots": row.slots}


async def unknown(world: World, node: Node, **fields: Any) -> tuple[str, dict[str, object]]:
    """An environment that the database forgot and the node reported, and what its allocation was."""
    id = await world.allocation(Status.ACTIVE, **fields)
    was = await facts(world, id)
    await forget(world, id)
    await world.nodes.report(node)
    await world.services.index.refresh()
    return id, was


def path(node: Node, id: str, verb: str) -> str:
    return f"/api/v1/admin/nodes/{node.id}/unknown-environments/{id}/{verb}"


async def listed(world: World) -> list[Any]:
    answer = await world.operator.http.get("/api/v1/admin/unknown-environments")
    items: list[Any] = answer.raise_for_status().json()["items"]
    return items


async def adopt(world: World, node: Node, id: str, **fields: str) -> Any:
    return await world.operator.http.post(path(node, id, "adopt"), json={**REASON, **fields})


async def test_it_is_listed_with_its_record_and_adopted_exactly_as_recorded(world: World, node: Node) -> None:
    id, was = await unknown(world, node)
    (found,) = await listed(world)
    assert (found["environment_id"], found["slots"]) == (id, [0])
    assert found["ownership"]["holder_id"] == world.ada.id
    answer = await adopt(world, node, id)
    assert (answer.status_code, answer.json()["status"]) == (200, "active"), answer.text
    assert await facts(world, id) == was
    assert await listed(world) == []
    keys = (await world.http.get(f"/api/v1/allocations/{id}/ssh-keys")).json()
    assert keys["ssh_key_ids"] == [world.ada.key_id]
    boots = list(node.boots)
    await world.nodes.report(node)
    await world.nodes.settle()
    assert node.boots == boots, "it was not restarted"
    assert (await world.get(id)).status is Status.ACTIVE
    await world.release(id)
    await world.nodes.settle()
    assert (await world.get(id)).status is Status.RELEASED
    assert id not in node.environments


FORGET_USAGE = (
    "delete from timeline_entries where subject_id = $1",
    "alter table usage_intervals disable trigger append_only",
    "delete from usage_intervals where resource_id = $1",
    "alter table usage_intervals enable trigger append_only",
)


async def test_usage_of_an_adopted_environment_starts_with_its_adoption(world: World, node: Node) -> None:
    """Its earlier usage is lost with the writes: nothing proves it."""
    id, _ = await unknown(world, node)
    async with world.db.write() as tx:
        await tx.run("set local role gpuaas_owner")
        for statement in FORGET_USAGE:
            await tx.run(statement, *([id] if "$1" in statement else []))
    began = world.clock.now()
    assert (await adopt(world, node, id)).status_code == 200
    (interval,) = (await world.http.get(f"/api/v1/allocations/{id}/usage")).json()["items"]
    assert (interval["quantity"], interval["ended"], interval["evidence"]) == (1, None, "timeline")
    assert began < datetime.fromisoformat(interval["started"]) <= world.clock.now()


async def test_a_second_adoption_is_the_same_allocation(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    first, second = [(await adopt(world, node, id)).json() for _ in range(2)]
    assert first["id"] == second["id"] == id
    assert await world.value("select count(*) from claims where allocation_id = $1 and released_at is null", id) == 1
    trail = await world.value("select count(*) from audit where action = 'environment.adopt' and target_id = $1", id)
    assert trail == 1


async def test_another_holder_is_a_member_of_the_same_project(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    grace, bob = await world.sign_up("grace"), await world.sign_up("bob")
    await world.join(grace, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    refused = await adopt(world, node, id, holder_id=bob.id)
    assert (refused.status_code, "does not work in the project" in refused.json()["detail"]) == (409, True)
    assert (await adopt(world, node, id, holder_id=grace.id)).status_code == 200
    assert (await world.get(id)).holder_id == grace.id


async def test_a_taken_name_is_refused_until_another_is_given(world: World, node: Node) -> None:
    id, _ = await unknown(world, node, name="box")
    await world.allocation(Status.ACTIVE, name="box")
    assert (await adopt(world, node, id)).status_code == 409
    assert (await adopt(world, node, id, name="box-2")).status_code == 200
    assert (await world.get(id)).name == "box-2"


async def test_a_record_that_this_database_cannot_keep_is_refused(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    here = node.environments[id]
    assert here.spec.ownership is not None
    true = here.spec.ownership
    for change in ({"project_id": "proj_x"}, {"price_id": "price_x"}, {"tenant_id": "ten_x"}, {"sku": "sku_x"}):
        here.spec = structs.replace(here.spec, ownership=structs.replace(true, **change))
        await world.nodes.report(node)
        refused = await adopt(world, node, id)
        assert refused.status_code == 409, change
    here.spec = structs.replace(here.spec, ownership=None)
    await world.nodes.report(node)
    assert "only be removed" in (await adopt(world, node, id)).json()["detail"]


async def test_what_the_database_knows_meanwhile_is_neither_adopted_nor_removed(world: World, node: Node) -> None:
    id = await world.allocation(Status.ACTIVE)
    async with world.db.write() as tx:
        await tx.run(
            "insert into unknown_environments (id, node_id, environment_id, environment, first_seen_at, last_seen_at)"
            " values ('unknown_x', $1, $2, $3, now(), now())",
            node.id,
            id,
            (await node.observe())[0],
        )
    assert (await adopt(world, node, id)).status_code == 409
    body = {**REASON, "confirm": id}
    assert (await world.operator.http.post(path(node, id, "remove"), json=body)).status_code == 409
    await world.nodes.settle()
    assert id in node.environments


async def test_a_removal_needs_the_id_and_ends_with_proof(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    remove, http = path(node, id, "remove"), world.operator.http
    assert (await http.post(remove, json={**REASON, "confirm": "yes"})).status_code == 422
    await world.nodes.settle()
    assert id in node.environments
    answers = [await http.post(remove, json={**REASON, "confirm": id}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert (await adopt(world, node, id)).status_code == 409, "its removal was requested"
    assert await slot_statuses(world, node) == ["unknown_environment", "free"]
    await world.nodes.settle()
    assert id not in node.environments
    assert await slot_statuses(world, node) == ["free", "free"]
    assert await listed(world) == []
    assert await world.value("select jsonb_array_length(proofs) from unknown_environments") == 6
    assert await world.value("select count(*) from audit where action like 'environment.%'") == 2


async def test_a_removal_without_proof_keeps_the_devices(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    node.residue = {"mounts"}
    await world.operator.http.post(path(node, id, "remove"), json={**REASON, "confirm": id})
    await world.nodes.settle()
    (found,) = await listed(world)
    assert found["removal_note"] == "not cleaned: mounts"
    assert (await slot_statuses(world, node))[0] == "unknown_environment"


async def test_another_environment_of_that_id_is_not_removed(world: World, node: Node) -> None:
    """The operator was shown one host key; the node has another."""
    id, _ = await unknown(world, node)
    async with world.db.write() as tx:
        other = '{"host_key": "ssh-ed25519 AAAAother"}'
        await tx.run(f"update unknown_environments set environment = environment || '{other}'::jsonb")
    await world.operator.http.post(path(node, id, "remove"), json={**REASON, "confirm": id})
    await world.nodes.settle()
    assert id in node.environments


async def test_a_new_holder_reaches_the_record_on_the_node(world: World, node: Node) -> None:
    id = await world.allocation(Status.ACTIVE)
    grace = await world.sign_up("grace")
    await world.join(grace, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    body = {"user_id": grace.id, "ssh_key_ids": [grace.key_id]}
    (await world.http.post(f"/api/v1/allocations/{id}/handover", json=body)).raise_for_status()
    await world.nodes.settle()
    recorded = node.environments[id].spec.ownership
    assert recorded is not None
    assert recorded.holder_id == grace.id


async def slot_statuses(world: World, node: Node) -> list[str]:
    answer = await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}/slots")
    return [slot["status"] for slot in answer.raise_for_status().json()["items"]]
