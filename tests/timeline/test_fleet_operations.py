"""Operators list and read the operations of the whole fleet, those of nodes included."""

from pathlib import Path
from typing import Any

from gpuaas.wire.allocations import Status
from tests.runtimes.shelves import BUNDLES, shelve
from tests.world import World

PATH = "/api/v1/admin/operations"


async def listed(world: World, **wanted: str) -> list[dict[str, Any]]:
    answer = await world.operator.http.get(PATH, params=wanted)
    items: list[dict[str, Any]] = answer.raise_for_status().json()["items"]
    return items


async def test_operations_are_found_by_status_kind_node_project_and_subject(world: World) -> None:
    failed = await world.allocation(Status.FAILED)
    first = world.node_of(await world.get(failed))
    eve = await world.sign_up("eve")
    other = await world.nodes.add()
    await world.nodes.disconnect(first)
    theirs = await world.allocation(of=eve)
    assert world.node_of(await world.get(theirs)) is other
    assert [one["subject_id"] for one in await listed(world)] == [theirs, failed]
    assert [one["subject_id"] for one in await listed(world, status="failed")] == [failed]
    assert [one["subject_id"] for one in await listed(world, status="failed", kind="create")] == [failed]
    assert await listed(world, kind="restart") == []
    assert [one["subject_id"] for one in await listed(world, node_id=other.id)] == [theirs]
    assert [one["subject_id"] for one in await listed(world, project_id=eve.project_id)] == [theirs]
    assert [one["subject_id"] for one in await listed(world, subject_id=failed)] == [failed]
    overview = (await world.operator.http.get("/api/v1/admin/overview")).json()["operations"]
    assert overview["failed_last_hour"] == len(await listed(world, status="failed"))


async def test_pages_follow_each_other(world: World) -> None:
    made = [await world.allocation() for _ in range(3)]
    first = (await world.operator.http.get(PATH, params={"limit": 2})).json()
    rest = (await world.operator.http.get(PATH, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [one["subject_id"] for one in [*first["items"], *rest["items"]]] == made[::-1]


async def test_staging_and_its_removal_can_be_read_by_their_ids_and_their_last_phases_end(
    world: World, tmp_path: Path
) -> None:
    node = await world.nodes.add()
    (bundle,) = await shelve(world, tmp_path, "1.0")
    operator = world.operator.http
    for verb, kind in (("post", "runtime_stage"), ("delete", "runtime_unstage")):
        if verb == "post":
            answer = await operator.post(f"{BUNDLES}/{bundle}/stage", json={"node_ids": [node.id]})
        else:
            answer = await operator.delete(f"{BUNDLES}/{bundle}/nodes/{node.id}")
        answer.raise_for_status()
        await world.nodes.settle()
        (one,) = await listed(world, kind=kind, node_id=node.id)
        shown = (await operator.get(f"{PATH}/{one['id']}")).raise_for_status().json()
        assert (shown["kind"], shown["status"], shown["subject_id"], shown["project_id"]) == (
            kind,
            "succeeded",
            node.id,
            "",
        )
        assert shown["phases"]
        assert all(phase["ended_at"] for phase in shown["phases"])
    detail = (await operator.get(f"{BUNDLES}/{bundle}/nodes/{node.id}")).raise_for_status().json()
    assert all(phase["ended_at"] for phase in detail["phases"])


async def test_nobody_else_reads_them(world: World) -> None:
    allocation = await world.allocation()
    operation_id = (await world.get(allocation)).operation_id
    for path in (PATH, f"{PATH}/{operation_id}", f"{PATH}/op_none"):
        assert (await world.http.get(path)).status_code == 403
    assert (await world.operator.http.get(f"{PATH}/op_none")).status_code == 404
