"""Volumes from their making to their proven end, through the front door, on engines in memory."""

from typing import Any

from tests.world import World


async def new_volume(world: World, **fields: Any) -> str:
    body = {"name": "data", "size_gib": 1, **fields}
    answer = await world.http.post(f"/api/v1/projects/{world.ada.project_id}/volumes", json=body)
    assert answer.status_code == 202, answer.text
    await world.nodes.settle()
    return str(answer.json()["id"])


async def volume(world: World, id: str) -> dict[str, Any]:
    answer = await world.http.get(f"/api/v1/projects/{world.ada.project_id}/volumes/{id}")
    shown: dict[str, Any] = answer.raise_for_status().json()
    return shown


async def attach(world: World, allocation_id: str, volume_id: str, **fields: Any) -> Any:
    body = {"volume_id": volume_id, "mount_path": "/data", **fields}
    return await world.http.post(f"/api/v1/allocations/{allocation_id}/storage-attachments", json=body)


async def attachment(world: World, allocation_id: str, id: str) -> dict[str, Any]:
    answer = await world.http.get(f"/api/v1/allocations/{allocation_id}/storage-attachments/{id}")
    shown: dict[str, Any] = answer.raise_for_status().json()
    return shown


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
