"""A volume that the database forgot keeps its data: listed, adopted as recorded, or removed with proof."""

from typing import Any

import pytest
from msgspec.structs import replace

from gpuaas.domain.storage.unknown.reconcile import observe
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import Mount
from gpuaas.wire.storage import Backend, VolumeReport
from tests.attacks.test_unknown_environments import forget as forget_allocation
from tests.fleet import Node
from tests.storage.volumes import attach, attached, detach, new_volume, volume
from tests.world import World

RESTORED = (
    *("id", "project_id", "name", "status", "size_gib", "backend", "write_policy", "durability", "attaches_to"),
    *("node_id", "quota", "protected", "snapshot_id", "created_at", "created_by", "usage", "is_over_quota"),
)
REASON = {"reason": "seen on the node"}
FORGET_HOLDS = "delete from holds where ref in (select id from storage_attachments where volume_id = any ($1))"
DATA = {"model": b"weights"}


@pytest.fixture(params=list(Backend))
def backend(request: pytest.FixtureRequest) -> Backend:
    return Backend(request.param)


@pytest.fixture
async def node(world: World) -> Node:
    return await world.nodes.add(gpus=2)


async def forget(world: World, *ids: str) -> None:
    """As a failover that lost the writes of these volumes leaves the database."""
    async with world.db.write() as tx:
        await tx.run("set local role gpuaas_owner")
        await tx.run(FORGET_HOLDS, ids)
        await tx.run("delete from storage_attachments where volume_id = any ($1)", ids)
        await tx.run("delete from node_tasks where lane = any ($1)", [f"volume:{id}" for id in ids])
        await tx.run("delete from operations where subject_id = any ($1)", ids)
        await tx.run("delete from volumes where id = any ($1)", ids)


async def forget_attachments(world: World, allocation_id: str) -> None:
    async with world.db.write() as tx:
        await tx.run("set local role gpuaas_owner")
        await tx.run("delete from storage_attachments where allocation_id = $1", allocation_id)


async def unknown(world: World, node: Node, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A volume with data that the database forgot and the node reported, and what it was."""
    id = await new_volume(world, **fields)
    world.disk.files[id] |= DATA
    was = await volume(world, id)
    await forget(world, id)
    await world.nodes.report_volumes(node)
    return id, was


def path(node: Node, id: str, verb: str = "") -> str:
    return f"/api/v1/admin/nodes/{node.id}/unknown-volumes/{id}{verb and '/'}{verb}"


async def listed(world: World, node: Node | None = None) -> list[Any]:
    where = f"/admin/nodes/{node.id}" if node else "/admin"
    answer = await world.operator.http.get(f"/api/v1{where}/unknown-volumes")
    items: list[Any] = answer.raise_for_status().json()["items"]
    return items


async def adopt(world: World, node: Node, id: str, **fields: str) -> Any:
    return await world.operator.http.post(path(node, id, "adopt"), json={**REASON, **fields})


async def remove(world: World, node: Node, id: str) -> Any:
    return await world.operator.http.post(path(node, id, "remove"), json={**REASON, "confirm": id})


def facts(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: shown[name] for name in RESTORED if name != "usage"}


async def test_it_is_listed_with_its_record_and_adopted_exactly_as_recorded(
    world: World, node: Node, backend: Backend
) -> None:
    id, was = await unknown(world, node, backend=backend)
    (found,) = await listed(world)
    assert (found["volume_id"], found["backend"], found["ownership"]["name"]) == (id, backend, "data")
    assert [one["node_id"] for one in found["sightings"]] == [node.id]
    assert (await world.operator.http.get(path(node, id))).json() == found
    answer = await adopt(world, node, id)
    assert answer.status_code == 200, answer.text
    await world.nodes.settle()
    shown = await volume(world, id)
    assert facts(shown) == facts(was)
    assert shown["usage"]["used_bytes"] == len(b"weights"), "its data was read again"
    await world.nodes.report_volumes(node)
    assert await listed(world) == []
    allocation = await world.allocation(Status.ACTIVE)
    await attached(world, allocation, id)
    assert world.disk.files[id] == DATA


async def test_a_shared_volume_that_two_nodes_see_is_listed_once_until_no_node_sees_it(
    world: World, node: Node
) -> None:
    second = await world.nodes.add(gpus=1)
    shared, _ = await unknown(world, node, name="shared")
    local, _ = await unknown(world, node, name="local", backend="local")
    await world.nodes.report_volumes(second)
    by_id = {one["volume_id"]: one for one in await listed(world)}
    assert set(by_id) == {shared, local}
    assert {one["node_id"] for one in by_id[shared]["sightings"]} == {node.id, second.id}
    home = world.disk.places[local][1]
    assert [one["volume_id"] for one in await listed(world, second)] == [shared]
    kept = world.disk.places.pop(shared)
    await world.nodes.report_volumes(node)
    assert [one["volume_id"] for one in await listed(world, second)] == [shared], "the other node still sees it"
    await world.nodes.report_volumes(second)
    assert [one["volume_id"] for one in await listed(world)] == [local]
    assert (await world.operator.http.get(path(node, shared))).json()["gone_at"]
    assert (await adopt(world, node, shared)).status_code == 409, "nobody reports it"
    world.disk.places[shared] = kept
    await world.nodes.report_volumes(second)
    assert {one["volume_id"] for one in await listed(world)} == {shared, local}
    assert world.disk.places[local][1] == home
    assert shared in world.disk.files
    assert local in world.disk.files


async def test_many_volumes_are_told_in_parts_and_none_is_forgotten(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    known = await new_volume(world, name="known")
    record = world.disk.ownership[id]
    many = [f"vol_{number:026d}" for number in range(1200)]
    for one in many:
        world.disk.places[one], world.disk.ownership[one] = world.disk.places[id], record
        world.disk.files[one] = {}
    await world.nodes.report_volumes(node)
    assert await world.value("select count(*) from unknown_volumes where gone_at is null") == 1201
    for one in many:
        del world.disk.places[one]
    await world.nodes.report_volumes(node)
    assert await world.value("select count(*) from unknown_volumes where gone_at is null") == 1
    assert (await volume(world, known))["status"] == "available"


async def test_a_taken_name_is_refused_until_another_is_given(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    await new_volume(world, name="data")
    refused = await adopt(world, node, id)
    assert (refused.status_code, "Give another name" in refused.json()["detail"]) == (409, True)
    assert (await adopt(world, node, id, name="data-2")).json()["name"] == "data-2"
    await world.nodes.settle()
    assert world.disk.ownership[id].name == "data-2", "the record on disk follows"


async def test_a_record_that_this_database_cannot_keep_is_refused(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    true = world.disk.ownership[id]
    for change in ({"project_id": "proj_x"}, {"tenant_id": "ten_x"}, {"backend": Backend.LOCAL}):
        world.disk.ownership[id] = replace(true, **change)
        await world.nodes.report_volumes(node)
        assert (await adopt(world, node, id)).status_code == 409, change
    del world.disk.ownership[id]
    await world.nodes.report_volumes(node)
    assert "only be removed" in (await adopt(world, node, id)).json()["detail"]


async def test_a_creator_whom_the_database_forgot_too_is_replaced_by_the_operator(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    world.disk.ownership[id] = replace(world.disk.ownership[id], created_by="user_x", snapshot_id="snap_x")
    await world.nodes.report_volumes(node)
    adopted = (await adopt(world, node, id)).json()
    assert (adopted["created_by"], adopted["snapshot_id"]) == (world.operator.id, None)


async def test_an_adoption_counts_against_the_quota_and_is_never_refused_by_it(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    limits = {"limits": {"volumes": 0, "storage_gib": 0}, "reason": "none left"}
    quotas = f"/api/v1/admin/projects/{world.ada.project_id}/quotas"
    (await world.operator.http.put(quotas, json=limits)).raise_for_status()
    assert (await adopt(world, node, id)).status_code == 200
    used = await world.value("select volumes from quota_usage where scope_id = $1", world.ada.project_id)
    assert used == 1
    body = {"name": "more", "size_gib": 1}
    more = await world.http.post(f"/api/v1/projects/{world.ada.project_id}/volumes", json=body)
    assert more.status_code in (403, 409, 429), more.text


async def test_a_second_adoption_is_the_same_volume(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    answers = [await adopt(world, node, id) for _ in range(2)]
    assert [answer.json()["id"] for answer in answers] == [id, id]
    assert await world.value("select count(*) from audit where action = 'volume.adopt' and target_id = $1", id) == 1


async def test_a_removal_needs_the_id_and_ends_with_proof(world: World, node: Node, backend: Backend) -> None:
    id, _ = await unknown(world, node, backend=backend)
    body = {**REASON, "confirm": "yes"}
    assert (await world.operator.http.post(path(node, id, "remove"), json=body)).status_code == 422
    await world.nodes.settle()
    assert world.disk.files[id] == DATA
    assert [(await remove(world, node, id)).status_code for _ in range(2)] == [202, 202]
    assert (await adopt(world, node, id)).status_code == 409, "its removal was requested"
    await world.nodes.settle()
    assert id not in world.disk.files
    assert id in world.disk.deleted, "it is never made again"
    assert await listed(world) == []
    shown = (await world.operator.http.get(path(node, id))).json()
    assert (bool(shown["removed_at"]), [one["ok"] for one in shown["proofs"]]) == (True, [True])
    trail = await world.value("select array_agg(action order by id) from audit where action like 'volume.%unknown%'")
    assert trail == ["volume.remove_unknown", "volume.unknown_removed"]


async def test_another_volume_of_that_id_is_not_removed(world: World, node: Node) -> None:
    """The operator was shown one record; the disk has another."""
    id, _ = await unknown(world, node)
    await remove(world, node, id)
    world.disk.ownership[id] = replace(world.disk.ownership[id], project_id="proj_other")
    await world.nodes.settle()
    assert world.disk.files[id] == DATA
    (found,) = await listed(world)
    assert found["removal_note"] == "another volume"


async def test_a_mounted_volume_is_not_removed(world: World, node: Node) -> None:
    allocation, id = await world.allocation(Status.ACTIVE), await new_volume(world)
    await attached(world, allocation, id)
    await forget(world, id)
    await world.nodes.report_volumes(node)
    (found,) = await listed(world)
    assert found["sightings"][0]["mounted_in"] == [allocation]
    refused = await remove(world, node, id)
    assert (refused.status_code, allocation in refused.json()["detail"]) == (409, True)


async def test_a_node_refuses_to_remove_what_it_finds_mounted(world: World, node: Node) -> None:
    """Whatever the last report said."""
    allocation, (id, _) = await world.allocation(Status.ACTIVE), await unknown(world, node)
    await remove(world, node, id)
    mount = Mount(volume_id=id, mount_path="/data", read_only=True)
    node.environments[allocation].mounts["/data"] = mount
    await world.nodes.settle()
    assert world.disk.files[id] == DATA
    (found,) = await listed(world)
    assert found["removal_note"] == f"the volume is mounted in {allocation}"


@pytest.mark.parametrize("first", ["environment", "volume"])
async def test_the_attachments_of_an_adopted_environment_are_restored(world: World, node: Node, first: str) -> None:
    allocation, id = await world.allocation(Status.ACTIVE), await new_volume(world)
    kept = await new_volume(world, name="kept")
    await attached(world, allocation, id)
    await attached(world, allocation, kept, mount_path="/mnt/kept", access_mode="read_only")
    await forget(world, id)
    await forget_attachments(world, allocation)
    await forget_allocation(world, allocation)
    await world.nodes.report(node)
    await world.nodes.report_volumes(node)
    environment = f"/api/v1/admin/nodes/{node.id}/unknown-environments/{allocation}/adopt"
    if first == "volume":
        (await adopt(world, node, id)).raise_for_status()
    (await world.operator.http.post(environment, json=REASON)).raise_for_status()
    if first == "environment":
        (await adopt(world, node, id)).raise_for_status()
    (await world.operator.http.post(environment, json=REASON)).raise_for_status()  # asked twice it is the same
    await world.nodes.report(node)
    await world.nodes.settle()
    page = await world.http.get(f"/api/v1/allocations/{allocation}/storage-attachments")
    seen = {one["volume_id"]: one for one in page.raise_for_status().json()["items"]}
    assert {(one["mount_path"], one["access_mode"], one["status"]) for one in seen.values()} == {
        ("/data", "read_write", "attached"),
        ("/mnt/kept", "read_only", "attached"),
    }
    (await world.http.post(f"/api/v1/allocations/{allocation}/restart", json={})).raise_for_status()
    await world.nodes.settle()
    assert set(node.environments[allocation].mounts) == {"/data", "/mnt/kept"}, "a boot brings them back"
    await detach(world, allocation, seen[id]["id"])
    assert set(node.environments[allocation].mounts) == {"/mnt/kept"}
    await world.release(allocation)
    await world.nodes.settle()
    assert (await world.get(allocation)).status is Status.RELEASED
    assert {id, kept} <= set(world.disk.files)


async def test_an_unknown_environment_that_writes_to_a_volume_is_its_only_writer(world: World, node: Node) -> None:
    allocation, other, id = await world.allocation(Status.ACTIVE), await world.allocation(), await new_volume(world)
    await attached(world, allocation, id)
    await forget_attachments(world, allocation)
    await forget_allocation(world, allocation)
    await world.nodes.report(node)
    refused = await attach(world, other, id)
    assert (refused.status_code, refused.json()["code"]) == (409, "volume_in_use")
    assert (await attach(world, other, id, access_mode="read_only")).status_code == 202
    await world.nodes.settle()
    del node.environments[allocation]
    await world.nodes.report(node)
    third = await world.allocation()
    await attached(world, third, id)


async def test_a_second_writer_is_not_restored(world: World, node: Node) -> None:
    allocation, other, id = await world.allocation(Status.ACTIVE), await world.allocation(), await new_volume(world)
    await attached(world, allocation, id)
    await forget_attachments(world, allocation)
    await forget_allocation(world, allocation)
    await attached(world, other, id)
    await world.nodes.report(node)
    environment = f"/api/v1/admin/nodes/{node.id}/unknown-environments/{allocation}/adopt"
    (await world.operator.http.post(environment, json=REASON)).raise_for_status()
    page = await world.http.get(f"/api/v1/allocations/{allocation}/storage-attachments")
    assert page.json()["items"] == []


async def test_the_record_on_disk_follows_a_change_and_is_written_where_it_is_missing(world: World, node: Node) -> None:
    id = await new_volume(world)
    assert world.disk.ownership[id].created_by == world.ada.id
    change = {"name": "renamed", "protected": True}
    (await world.http.patch(f"/api/v1/projects/{world.ada.project_id}/volumes/{id}", json=change)).raise_for_status()
    await world.nodes.settle()
    assert (world.disk.ownership[id].name, world.disk.ownership[id].protected) == ("renamed", True)
    del world.disk.ownership[id]  # as an older version made it
    await world.nodes.report_volumes(node)
    await world.nodes.settle()
    assert world.disk.ownership[id].name == "renamed"
    assert await listed(world) == []
    assert await world.value("select count(*) from volumes where record_stale_since is not null") == 0


async def test_a_node_with_an_unknown_volume_on_its_disk_does_not_retire(world: World, node: Node) -> None:
    id, _ = await unknown(world, node, backend="local")
    (await world.operator.http.post(f"/api/v1/admin/nodes/{node.id}/drain", json={})).raise_for_status()
    retire = f"/api/v1/admin/nodes/{node.id}/retire"
    assert (await world.operator.http.post(retire, json={})).status_code == 409
    await remove(world, node, id)
    await world.nodes.settle()
    assert (await world.operator.http.post(retire, json={})).status_code == 200


async def test_a_look_from_before_a_removal_does_not_bring_the_volume_back(world: World, node: Node) -> None:
    id, _ = await unknown(world, node)
    before = world.clock.now()
    late = VolumeReport(volumes=await node.volumes.present(), at=before)
    await remove(world, node, id)
    world.clock.advance(seconds=1)
    await world.nodes.settle()
    async with world.db.write() as tx:
        await observe(tx, node.id, late, ids=world.services.ids, now=world.clock.now())
    assert await listed(world) == []


async def test_they_are_counted_in_the_overview_and_the_metrics(world: World, node: Node) -> None:
    await unknown(world, node, name="local", backend="local")
    await unknown(world, node, name="shared")
    overview = (await world.operator.http.get("/api/v1/admin/overview")).raise_for_status().json()
    assert overview["unknown_volumes"] == {"node-1": 1, "shared": 1}
