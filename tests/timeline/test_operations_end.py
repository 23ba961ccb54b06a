"""Every operation ends: when its subject takes another operation, the former one is over, whoever started it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests import peek
from tests.postgres import run
from tests.runtimes.shelves import BUNDLES, applied, ask, shelve
from tests.storage.volumes import attach, new_volume, new_volume_on_a_node
from tests.world import World

RUNNING = "select kind, subject_id from operations where status = 'running'"
REASON = "select kind, status, reason, ended_at is not null as is_over from operations where id = $1"
Hurry = Callable[[World, Path], Awaitable[str]]


async def detach_at_once(world: World, _: Path) -> str:
    allocation = await world.allocation()
    answer = (await attach(world, allocation, await new_volume(world))).raise_for_status().json()
    await world.http.delete(f"/api/v1/allocations/{allocation}/storage-attachments/{answer['id']}")
    return str(answer["operation_id"])


async def detach_while_it_is_asked_for(world: World, _: Path) -> str:
    """The node has the task to attach already."""
    allocation = await world.allocation()
    answer = (await attach(world, allocation, await new_volume(world))).raise_for_status().json()
    await world.nodes.reconcile()
    await world.http.delete(f"/api/v1/allocations/{allocation}/storage-attachments/{answer['id']}")
    return str(answer["operation_id"])


async def switch_runtime_at_once(world: World, folder: Path) -> str:
    await shelve(world, folder, "1.0", "2.0")
    allocation = await world.allocation()
    first = (await ask(world, allocation, runtime_bundle_slug="python-data", version="1.0")).raise_for_status()
    (await ask(world, allocation, runtime_bundle_slug="python-data", version="2.0")).raise_for_status()
    return str(first.json()["operation_id"])


async def release_while_it_restarts(world: World, _: Path) -> str:
    allocation = await world.allocation()
    restarted = (await world.http.post(f"/api/v1/allocations/{allocation}/restart", json={})).raise_for_status()
    await world.release(allocation)
    return str(restarted.json()["operation_id"])


async def stage_again_while_it_is_checked(world: World, folder: Path) -> str:
    (bundle,) = await shelve(world, folder, "1.0")
    await applied(world, await world.allocation(), runtime_bundle_slug="python-data")
    await peek.plant(world.db, "update node_bundles set checked_at = now() - interval '1 day'")
    await world.nodes.reconcile()  # a check is under way
    checking = await peek.value(world.db, "select operation_id from node_bundles where bundle_id = $1", bundle)
    await peek.plant(world.db, "delete from allocation_runtimes")
    node_id = next(iter(world.nodes.all))
    (await world.operator.http.delete(f"{BUNDLES}/{bundle}/nodes/{node_id}")).raise_for_status()
    return str(checking)


@pytest.mark.parametrize(
    "hurry",
    [
        detach_at_once,
        detach_while_it_is_asked_for,
        switch_runtime_at_once,
        release_while_it_restarts,
        stage_again_while_it_is_checked,
    ],
)
async def test_an_operation_overtaken_by_another_ends(world: World, tmp_path: Path, hurry: Hurry) -> None:
    former = await hurry(world, tmp_path)
    ended = await peek.row(world.db, REASON, former)
    assert ended is not None
    assert (ended["status"], ended["is_over"]) == ("failed", True), ended["kind"]
    assert ended["reason"]
    await world.nodes.settle()
    assert await peek.rows(world.db, RUNNING) == []


async def test_without_the_trigger_the_overtaken_operation_runs_for_ever(world: World, tmp_path: Path) -> None:
    """The red twin."""
    await run(world.dsn, "set role gpuaas_owner; drop trigger one_operation on storage_attachments")
    former = await detach_at_once(world, tmp_path)
    await world.nodes.settle()
    (left,) = await peek.rows(world.db, "select id from operations where status = 'running'")
    assert left["id"] == former


async def test_the_reason_names_what_took_its_place(world: World, tmp_path: Path) -> None:
    former = await detach_at_once(world, tmp_path)
    answer = (await world.http.get(f"/api/v1/operations/{former}")).raise_for_status().json()
    assert (answer["kind"], answer["reason"]) == ("attach", "superseded by detach")
    assert answer["phases"][-1]["ended_at"] is not None


async def test_an_operation_whose_subject_goes_away_ends(world: World) -> None:
    await new_volume_on_a_node(world)
    await peek.plant(world.db, "update operations set status = 'running', ended_at = null")
    await peek.plant(world.db, "delete from volumes")
    (ended,) = await peek.rows(world.db, "select status, reason from operations where kind = 'volume.create'")
    assert tuple(ended) == ("failed", "its subject was removed")
