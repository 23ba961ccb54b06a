"""A failed machine is asked for again with one request, which is all that was asked for."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.runtimes.shelves import runtime, shelve
from tests.storage.volumes import attach, detach, new_volume, volume
from tests.world import Person, World


async def fail(world: World, **fields: Any) -> dict[str, Any]:
    """One that cannot be booted, and of which nothing is left."""
    for node in world.nodes.all.values():
        node.broken["booting"] = "the disk is full"
    id = (await world.submit(**fields)).raise_for_status().json()["allocations"][0]["id"]
    await world.nodes.settle()
    for node in world.nodes.all.values():
        node.broken.clear()
    shown = await world.seen(id)
    assert (shown["status"], shown["cleanup_proven"]) == ("failed", True)
    return shown


async def try_again(world: World, failed: dict[str, Any], person: Person | None = None) -> dict[str, Any]:
    """Sent exactly as it was given."""
    headers = {"X-Idempotency-Key": world.services.ids.new("idem")}
    answer = await (person or world.ada).http.post("/api/v1/allocations", json=failed["retry"], headers=headers)
    assert answer.status_code == 202, answer.text
    await world.nodes.settle()
    return await world.seen(answer.json()["allocations"][0]["id"])


async def test_another_try_has_the_limits_the_runtime_and_the_volumes_of_the_first(
    world: World, tmp_path: Path
) -> None:
    await world.nodes.add()
    await shelve(world, tmp_path, "1.0", "2.0")
    datasets = await new_volume(world, name="datasets")
    end = (world.clock.now() + timedelta(days=2)).isoformat()
    failed = await fail(
        world,
        name="train-a",
        gpu_count=2,
        idle_minutes=90,
        expires_at=end,
        runtime_bundle_slug="python-data",
        storage_attachments=[
            {"volume_id": datasets, "mount_path": "/data", "access_mode": "read_only"},
            {"new_volume": {"name": "results", "size_gib": 3}, "mount_path": "/mnt/results"},
        ],
    )
    await shelve(world, tmp_path, "3.0")  # too late to be what was asked for
    made = await try_again(world, failed)
    assert (made["status"], made["name"], made["gpu_count"]) == ("active", "train-a", 2)
    assert (made["limits"]["idle_minutes"], made["limits"]["expires_at"]) == (90, failed["limits"]["expires_at"])
    assert (await runtime(world, made["id"]))["observed_bundle"]["version"] == "2.0"
    mounts = {(one["volume_name"], one["mount_path"], one["access_mode"]) for one in made["attachments"]}
    assert mounts == {("datasets", "/data", "read_only"), ("results", "/mnt/results", "read_write")}
    assert {one["status"] for one in made["attachments"]} == {"attached"}


async def test_another_try_leaves_out_what_was_taken_off_and_what_is_gone(world: World) -> None:
    await world.nodes.add()
    kept, taken_off, erased = [await new_volume(world, name=name) for name in ("kept", "taken-off", "erased")]
    machine = await world.allocation()
    made = {
        id: (await attach(world, machine, id, mount_path=f"/mnt/{number}")).raise_for_status().json()["id"]
        for number, id in enumerate((kept, taken_off, erased))
    }
    await world.nodes.settle()
    await detach(world, machine, made[taken_off])
    node = world.node_of(await world.get(machine))
    await world.nodes.disconnect(node)
    lost = f"/api/v1/admin/nodes/{node.id}/lost"
    (await world.operator.http.post(lost, json={"reason": "it burned"})).raise_for_status()
    force = f"/api/v1/admin/allocations/{machine}/force-cleanup"
    body = {"runtime_verified_absent": True, "reason": "it burned"}
    (await world.operator.http.post(force, json=body)).raise_for_status()
    await world.nodes.connect(node)
    await world.nodes.settle()
    (await world.http.delete(f"/api/v1/projects/{world.ada.project_id}/volumes/{erased}")).raise_for_status()
    await world.nodes.settle()
    assert (await volume(world, erased))["status"] == "deleted"
    again = (await world.seen(machine))["retry"]
    assert [one["volume_id"] for one in again["storage_attachments"]] == [kept]


async def test_an_end_that_is_over_is_not_asked_for_again(world: World) -> None:
    await world.nodes.add()
    failed = await fail(world, expires_at=(world.clock.now() + timedelta(minutes=7)).isoformat())
    assert "expires_at" not in failed["retry"]
    assert (await try_again(world, failed))["limits"]["expires_at"] is None
