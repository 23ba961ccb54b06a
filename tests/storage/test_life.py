"""Volumes from their making to their proven end, through the front door, on engines in memory."""

import pytest

from tests.storage.volumes import attach, attached, attachment, detach, new_volume, new_volume_on_a_node, volume
from tests.world import World


async def test_a_volume_is_made_attached_seen_and_detached(world: World) -> None:
    machine = await world.allocation()
    id = await new_volume(world)
    made = await volume(world, id)
    assert (made["status"], made["durability"], made["attachments"]) == ("available", "shared", [])
    assert made["usage"]["used_bytes"] == 0
    answer = await attach(world, machine, id)
    assert (answer.status_code, answer.json()["status"]) == (202, "attaching"), answer.text
    await world.nodes.settle()
    seen = await attachment(world, machine, answer.json()["id"])
    assert (seen["status"], seen["observed_boot"]) == ("attached", 1)
    node = world.node_of(await world.get(machine))
    assert node.environments[machine].mounts["/data"].volume_id == id
    gone = await world.http.delete(f"/api/v1/allocations/{machine}/storage-attachments/{seen['id']}")
    assert (gone.status_code, gone.json()["status"]) == (202, "detaching")
    await world.nodes.settle()
    assert (await attachment(world, machine, seen["id"]))["status"] == "detached"
    assert node.environments[machine].mounts == {}
    assert id in world.disk.files


@pytest.mark.parametrize("backend", ["local", "shared"])
async def test_a_volume_is_made_only_on_a_node_that_lacks_nothing(world: World, backend: str) -> None:
    nodes = sorted([await world.nodes.add("one"), await world.nodes.add("two")], key=lambda node: node.id)
    nodes[0].missing = ("the program conmon",)
    await world.nodes.connect(nodes[0])
    id = await new_volume(world, backend=backend)
    assert await world.value("select node_id from node_tasks where lane = $1", f"volume:{id}") == nodes[1].id
    assert (await volume(world, id))["status"] == "available"


async def test_data_outlives_the_machine_that_wrote_it(world: World) -> None:
    id = await new_volume_on_a_node(world)
    first = await world.allocation()
    await attached(world, first, id)
    world.disk.files[id]["model"] = b"weights"
    await world.release(first)
    await world.nodes.settle()
    assert (await world.get(first)).status == "released"
    assert (await volume(world, id))["attachments"] == []
    second = await world.allocation()
    await attached(world, second, id)
    assert world.disk.files[id] == {"model": b"weights"}
    assert (await volume(world, id))["usage"]["used_bytes"] == len(b"weights")


async def test_a_second_writer_is_refused_and_a_reader_is_not(world: World) -> None:
    id = await new_volume_on_a_node(world)
    first, second = await world.allocation(), await world.allocation()
    there = await attached(world, first, id)
    refused = await attach(world, second, id)
    assert (refused.status_code, refused.json()["code"]) == (409, "volume_in_use")
    await attached(world, second, id, access_mode="read_only", mount_path="/data/sets")
    await detach(world, first, there)
    await attached(world, first, id)


async def test_a_lost_writer_is_fenced_until_its_machine_is_proven_gone(world: World) -> None:
    id = await new_volume_on_a_node(world)
    first, second = await world.allocation(), await world.allocation()
    await attached(world, first, id)
    node = world.node_of(await world.get(first))
    await world.nodes.disconnect(node)
    lost = await world.operator.http.post(f"/api/v1/admin/nodes/{node.id}/lost", json={"reason": "fire"})
    assert lost.status_code == 200
    assert (await world.get(first)).status == "failed"
    fresh = await world.nodes.add()
    third = await world.allocation()
    assert world.node_of(await world.get(third)) is fresh
    refused = await attach(world, third, id)
    assert (refused.status_code, refused.json()["code"]) == (409, "volume_in_use")
    looked = {"runtime_verified_absent": True, "reason": "the rack is ash"}
    for machine in (first, second):
        await world.operator.http.post(f"/api/v1/admin/allocations/{machine}/force-cleanup", json=looked)
    await world.nodes.settle()
    await attached(world, third, id)


async def test_a_restart_mounts_again_and_a_mount_that_is_gone_is_put_back(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    there = await attached(world, machine, id)
    (await world.http.post(f"/api/v1/allocations/{machine}/restart", json={})).raise_for_status()
    await world.nodes.settle()
    seen = await attachment(world, machine, there)
    assert (seen["status"], seen["observed_boot"]) == ("attached", 2)
    node = world.node_of(await world.get(machine))
    del node.environments[machine].mounts["/data"]
    await world.nodes.report(node)
    shown = await world.seen(machine)
    assert [reason["code"] for reason in shown["health_reasons"] if reason["code"] == "mount_gone"]
    await world.nodes.settle()
    assert node.environments[machine].mounts["/data"].volume_id == id
    assert (await world.seen(machine))["attachments"][0]["status"] == "attached"


async def test_a_busy_volume_stays_and_says_by_what_until_forced(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    there = await attached(world, machine, id)
    node = world.node_of(await world.get(machine))
    node.mounts.busy[machine, "/data"] = "python (pid 7) with /data/log"
    await detach(world, machine, there)
    seen = await attachment(world, machine, there)
    assert seen["status"] == "detach_failed"
    assert "python (pid 7) with /data/log" in seen["status_reason"]
    assert node.environments[machine].mounts
    await detach(world, machine, there, force=True)
    assert (await attachment(world, machine, there))["status"] == "detached"


async def test_a_volume_too_busy_to_detach_is_there_again_after_a_restart(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    there = await attached(world, machine, id)
    node = world.node_of(await world.get(machine))
    node.mounts.busy[machine, "/data"] = "python (pid 7) with /data/log"
    await detach(world, machine, there)
    said = (await world.http.get(f"/api/v1/allocations/{machine}/consequences?of=restart")).json()["survives"]
    assert [one["ref"] for one in said if one["what"].startswith("volume")] == [id]
    await world.http.post(f"/api/v1/allocations/{machine}/restart", json={})
    await world.nodes.settle()
    assert (await attachment(world, machine, there))["status"] == "attached"
    assert node.environments[machine].mounts["/data"].volume_id == id


async def test_release_waits_until_the_volume_is_off(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    await attached(world, machine, id)
    await world.release(machine)
    held = await world.value("select count(*) from holds where allocation_id = $1", machine)
    assert held == 1
    await world.nodes.settle()
    assert (await world.get(machine)).status == "released"
    phases = [entry.phase for entry in await world.timeline(machine)]
    assert phases.index("volume_detached") < phases.index("environment_removed")
    assert await world.value("select count(*) from holds where allocation_id = $1", machine) == 0


async def test_deleting_is_refused_while_it_would_hurt_and_proven_when_done(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    there = await attached(world, machine, id)
    path = f"/api/v1/projects/{world.ada.project_id}/volumes/{id}"
    assert (await world.http.delete(path)).status_code == 409
    await detach(world, machine, there)
    (await world.http.patch(path, json={"protected": True})).raise_for_status()
    assert (await world.http.delete(path)).json()["code"] == "volume_protected"
    (await world.http.patch(path, json={"protected": False})).raise_for_status()
    assert (await world.http.delete(path)).status_code == 202
    await world.nodes.settle()
    gone = await volume(world, id)
    assert gone["status"] == "deleted"
    assert all(proof["ok"] for proof in gone["deletion_proofs"])
    assert id not in world.disk.files
    assert (await attach(world, machine, id)).json()["code"] == "volume_not_ready"


async def test_a_snapshot_is_restored_into_a_new_volume(world: World) -> None:
    id = await new_volume_on_a_node(world)
    world.disk.files[id]["a"] = b"1"
    taken = await world.http.post(f"/api/v1/volumes/{id}/snapshots", json={"name": "monday"})
    assert taken.status_code == 202
    await world.nodes.settle()
    world.disk.files[id]["a"] = b"2"
    copy = await new_volume(world, name="copy", snapshot_id=taken.json()["id"])
    assert world.disk.files[copy] == {"a": b"1"}
    listed = (await world.http.get(f"/api/v1/volumes/{id}/snapshots")).json()["items"]
    assert (listed[0]["status"], listed[0]["consistency"] != "") == ("ready", True)
    path = f"/api/v1/projects/{world.ada.project_id}/volumes/{id}"
    assert "snapshots" in (await world.http.delete(path)).json()["facts"]


async def test_many_writers_are_offered_only_after_a_run_that_passed(world: World) -> None:
    node = await world.nodes.add()
    path = f"/api/v1/projects/{world.ada.project_id}/volumes"
    body = {"name": "many", "size_gib": 1, "write_policy": "multi_writer"}
    assert (await world.http.post(path, json=body)).json()["code"] == "multi_writer_unavailable"
    run = "/api/v1/admin/storage-backends/shared/conformance"
    world.disk.failing_checks = {"locks"}
    (await world.operator.http.post(run, json={"node_id": node.id})).raise_for_status()
    await world.nodes.settle()
    assert (await world.http.post(path, json=body)).status_code == 409
    world.disk.failing_checks = set()
    (await world.operator.http.post(run, json={"node_id": node.id})).raise_for_status()
    await world.nodes.settle()
    shown = (await world.http.get("/api/v1/storage-backends")).json()["items"]
    assert next(one for one in shown if one["backend"] == "shared")["conformance"]["passed"] is True
    many = (await world.http.post(path, json=body)).raise_for_status().json()["id"]
    await world.nodes.settle()
    for _ in range(2):
        await attached(world, await world.allocation(), many)


async def test_a_new_volume_comes_with_the_machine_or_not_at_all(world: World) -> None:
    await world.nodes.add()
    wanted = {"new_volume": {"name": "fresh", "size_gib": 1}, "mount_path": "/data"}
    machine = await world.allocation(storage_attachments=[wanted])
    shown = await world.seen(machine)
    assert [(one["volume_name"], one["status"]) for one in shown["attachments"]] == [("fresh", "attached")]
    before = await world.value("select count(*) from allocations")
    again = await world.submit(storage_attachments=[wanted])
    assert again.status_code == 409
    assert await world.value("select count(*) from allocations") == before
    refused = await world.submit(storage_attachments=[{**wanted, "mount_path": "/etc"}])
    assert refused.json()["code"] == "mount_path_refused"


async def test_a_volume_on_one_node_steers_the_machine_there_or_says_so(world: World) -> None:
    first = await world.nodes.add(gpus=1)
    id = await new_volume(world, backend="local")
    second = await world.nodes.add(gpus=8)
    assert (await volume(world, id))["node_id"] == first.id
    wanted = [{"volume_id": id, "mount_path": "/data"}]
    machine = await world.allocation(storage_attachments=wanted)
    assert (await world.get(machine)).node_id == first.id
    refused = await world.submit(storage_attachments=wanted)
    assert (refused.status_code, refused.json()["code"]) == (409, "sku_unavailable")
    assert first.id in refused.json()["detail"]
    elsewhere = await world.allocation()
    assert (await world.get(elsewhere)).node_id == second.id
    assert (await attach(world, elsewhere, id, access_mode="read_only")).json()["code"] == "volume_on_another_node"
    await world.release(machine)
    await world.nodes.settle()
    retire = await world.operator.http.post(f"/api/v1/admin/nodes/{first.id}/retire", json={})
    assert (retire.status_code, retire.json()["facts"]["volumes"]) == (409, 1)


async def test_what_survives_is_said_before(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    await attached(world, machine, id)
    for of in ("release", "restart"):
        said = (await world.http.get(f"/api/v1/allocations/{machine}/consequences", params={"of": of})).json()
        assert [one["what"] for one in said["survives"] if one["ref"] == id] == ["volume data at /data"]


async def test_a_volume_over_its_measured_quota_takes_no_new_writer(world: World) -> None:
    id = await new_volume_on_a_node(world)
    machine = await world.allocation()
    await world.value("update volumes set used_bytes = 2::bigint << 30, used_at = now() where id = $1 returning 1", id)
    assert (await volume(world, id))["is_over_quota"] is True
    assert (await attach(world, machine, id)).json()["code"] == "volume_over_quota"
    await attached(world, machine, id, access_mode="read_only")
