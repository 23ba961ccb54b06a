"""What tests do with volumes, through the front door."""

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


async def detach(world: World, allocation_id: str, id: str, *, force: bool = False) -> None:
    query = {"force": "true"} if force else {}
    answer = await world.http.delete(f"/api/v1/allocations/{allocation_id}/storage-attachments/{id}", params=query)
    assert answer.status_code == 202, answer.text
    await world.nodes.settle()


async def attached(world: World, allocation_id: str, volume_id: str, **fields: Any) -> str:
    answer = await attach(world, allocation_id, volume_id, **fields)
    assert answer.status_code == 202, answer.text
    await world.nodes.settle()
    id = str(answer.json()["id"])
    assert (await attachment(world, allocation_id, id))["status"] == "attached"
    return id


async def new_volume_on_a_node(world: World, **fields: Any) -> str:
    await world.nodes.add()
    return await new_volume(world, **fields)
