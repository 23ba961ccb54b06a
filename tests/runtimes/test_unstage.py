"""A bundle is taken off a node: never while somebody runs with it, and with proof that it is gone."""

from pathlib import Path
from typing import Any

import pytest

from gpuaas.domain.runtimes.rows import SeenStaging
from gpuaas.domain.runtimes.stagings.reconcile import Gone, Keep, Queue, decide_staging
from gpuaas.sdk import recipes
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.runtimes import IN_USE, StagingStatus
from gpuaas.wire.tasks import TaskKind
from tests.allocations.rows import NOON, removed, task
from tests.runtimes.shelves import BUNDLES, applied, runtime, shelve
from tests.runtimes.test_decide import BUNDLE_ROW, staging
from tests.world import World

KEY = ("python-data", "1.0")


async def unstage(world: World, bundle_id: str, node_id: str) -> Any:
    return await world.operator.http.delete(f"{BUNDLES}/{bundle_id}/nodes/{node_id}")


async def staged(world: World, bundle_id: str, node_id: str) -> dict[str, Any]:
    answer = await world.operator.http.get(f"{BUNDLES}/{bundle_id}/nodes/{node_id}")
    found: dict[str, Any] = answer.raise_for_status().json()["staging"]
    return found


async def test_a_bundle_that_nobody_runs_with_goes_with_proof_and_comes_back_when_asked_for(
    world: World, tmp_path: Path
) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    node = await world.nodes.add()
    (await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={})).raise_for_status()
    await world.nodes.settle()
    assert KEY in node.runtimes.bundles.staged
    begun = await unstage(world, bundle_id, node.id)
    assert (begun.status_code, begun.json()["status"]) == (202, "removing")
    await world.nodes.settle()
    gone = await staged(world, bundle_id, node.id)
    assert (gone["status"], gone["bytes"], gone["staged_at"]) == ("removed", 0, None)
    assert [(proof["item"], proof["ok"]) for proof in gone["proofs"]] == [("bundle_files", True)]
    assert KEY not in node.runtimes.bundles.staged
    again = await unstage(world, bundle_id, node.id)
    assert (again.status_code, again.json()["status"]) == (202, "removed")
    a = await world.allocation()
    assert (await applied(world, a, runtime_bundle_slug="python-data"))["state"] == "applied"
    assert (await staged(world, bundle_id, node.id))["status"] == "staged"


async def test_one_that_a_machine_runs_with_or_may_go_back_to_is_never_removed(world: World, tmp_path: Path) -> None:
    first, second = await shelve(world, tmp_path, "1.0", "2.0")
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    for version in ("1.0", "2.0"):
        await applied(world, a, runtime_bundle_slug="python-data", version=version)
    for bundle_id in (first, second):
        refused = await unstage(world, bundle_id, node.id)
        assert (refused.status_code, refused.json()["code"]) == (409, "bundle_in_use")
        assert refused.json()["facts"] == {"in_use": 1}
    await world.release(a)
    await world.nodes.settle()
    for bundle_id in (first, second):
        assert (await unstage(world, bundle_id, node.id)).status_code == 202


async def test_a_choice_made_while_it_goes_waits_and_then_has_it(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    (await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={})).raise_for_status()
    await world.nodes.settle()
    assert (await unstage(world, bundle_id, node.id)).status_code == 202
    path = f"/api/v1/allocations/{a}/runtime-bundles"
    (await world.http.post(path, json={"runtime_bundle_slug": "python-data"})).raise_for_status()
    await world.nodes.settle()
    assert (await runtime(world, a))["state"] == "applied"
    assert (KEY in node.runtimes.bundles.staged, (await staged(world, bundle_id, node.id))["status"]) == (
        True,
        "staged",
    )


async def test_a_node_that_finds_it_in_use_keeps_it_whatever_the_rows_say(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    a = await world.allocation()
    node = world.node_of(await world.get(a))
    await applied(world, a, runtime_bundle_slug="python-data")
    await world.value("delete from allocation_runtimes where allocation_id = $1 returning 1", a)  # planted: rows forget
    assert (await unstage(world, bundle_id, node.id)).status_code == 202
    await world.nodes.settle()
    kept = await staged(world, bundle_id, node.id)
    assert (kept["status"], kept["reason"], KEY in node.runtimes.bundles.staged) == ("staged", IN_USE, True)


def removing(status: str = "", **fields: Any) -> SeenStaging:
    fields["operation_id"] = "op_removal"
    return SeenStaging(
        row=staging(StagingStatus.REMOVING, operation_id="op_removal"),
        bundle=BUNDLE_ROW,
        recipe=recipes.read("python-data").recipe,
        task=task(TaskKind.UNSTAGE_RUNTIME, status, **fields) if status else None,
        is_busy=True,
        is_check_due=False,
    )


PROOF = ProofItem(item="bundle_files", ok=True, evidence="")
CASES = [
    ("nothing was asked of the node", removing(), Queue()),
    ("it is on its way", removing("sent"), None),
    ("it came too late", removing("expired"), Queue()),
    ("it is gone", removing("done", result=removed([PROOF])), Gone([PROOF])),
    ("somebody runs with it", removing("failed", reason=IN_USE), Keep(StagingStatus.STAGED, IN_USE)),
    ("the node could not", removing("failed", reason="no"), Keep(StagingStatus.FAILED, "no")),
]


@pytest.mark.parametrize(("facts", "decision"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_decided(facts: SeenStaging, decision: object) -> None:
    assert decide_staging(facts, NOON) == decision
