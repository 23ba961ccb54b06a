"""What operators do with the catalog, and what of it others see."""

from pathlib import Path

import msgspec
from msgspec import to_builtins

from gpuaas.sdk import recipes
from gpuaas.wire.runtimes import StagingStatus, digest_of
from tests.runtimes.shelves import BUNDLES, applied, ask, runtime, shelve
from tests.runtimes.wheels import publication
from tests.world import World


def test_every_recipe_that_ships_can_be_read_and_locks_the_cpu_build_of_torch() -> None:
    assert recipes.names() == ["jupyter", "python-data", "pytorch"]
    for name in recipes.names():
        bundle = recipes.read(name)
        assert bundle.slug == name
        assert all(each.sha256 for each in bundle.recipe.requirements)
    [torch] = [each for each in recipes.read("pytorch").recipe.requirements if each.name == "torch"]
    assert torch.version == "2.13.0+cpu"
    assert not [each for each in recipes.read("pytorch").recipe.requirements if "nvidia" in each.name.lower()]


async def test_a_published_version_never_changes(world: World, tmp_path: Path) -> None:
    [id] = await shelve(world, tmp_path, "1.0")
    shown = (await world.operator.http.get(f"{BUNDLES}/{id}")).json()
    assert shown["bundle"]["digest"] == digest_of(publication(tmp_path, "1.0").recipe)
    again = await world.operator.http.post(BUNDLES, json=to_builtins(publication(tmp_path, "1.0")))
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


async def test_a_recipe_with_a_word_that_pip_would_read_as_an_option_is_refused(world: World, tmp_path: Path) -> None:
    for name, version in (("-r/etc/passwd", "1"), ("x", "1 --index-url=y"), ("x @ file:///y", "1"), ("x", "1\n-r y")):
        body = to_builtins(publication(tmp_path, "1.0"))
        body["recipe"]["requirements"][0] |= {"name": name, "version": version}
        assert (await world.operator.http.post(BUNDLES, json=body)).status_code == 422
    for slug, version in (("../etc", "1.0"), ("ok", "../1"), ("ok", "current")):
        body = to_builtins(publication(tmp_path, "1.0")) | {"slug": slug, "version": version}
        assert (await world.operator.http.post(BUNDLES, json=body)).status_code == 422


async def test_a_deprecated_version_is_applied_only_when_it_is_named_and_a_retired_one_never(
    world: World, tmp_path: Path
) -> None:
    _, newest = await shelve(world, tmp_path, "1.0", "2.0")
    id = await world.allocation()
    await world.operator.http.post(f"{BUNDLES}/{newest}/deprecate", json={"reason": "slow"})
    assert (await applied(world, id, runtime_bundle_slug="python-data"))["bundle"]["version"] == "1.0"
    assert (await applied(world, id, runtime_bundle_id=newest))["observed_bundle"]["version"] == "2.0"
    retired = await world.operator.http.post(f"{BUNDLES}/{newest}/retire", json={})
    assert retired.json()["state"] == "retired"
    shown = (await world.http.get("/api/v1/runtime-bundles")).json()["items"]
    assert [each["version"] for each in shown] == ["1.0"]
    assert (await runtime(world, id))["state"] == "applied"  # who has it keeps it
    refused = await ask(world, await world.allocation(), runtime_bundle_id=newest)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    back = await world.operator.http.post(f"{BUNDLES}/{newest}/republish", json={})
    assert (back.status_code, back.json()["code"]) == (409, "illegal_move")


async def test_a_version_in_use_is_never_removed_from_its_node(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    await world.operator.http.post(f"{BUNDLES}/{bundle_id}/retire", json={})
    await world.nodes.settle()
    [node] = world.nodes.all.values()
    assert [each.version for each in await node.runtimes.staged()] == ["1.0"]
    [staging] = (await world.operator.http.get(f"{BUNDLES}/{bundle_id}/nodes")).json()["items"]
    assert (staging["status"], staging["in_use"]) == ("staged", 1)


async def test_staging_is_shown_phase_by_phase_with_its_evidence(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    node = await world.nodes.add()
    begun = await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={})
    assert begun.status_code == 202
    assert begun.json()["stagings"][0]["operation_id"]
    await world.nodes.settle()
    shown = (await world.operator.http.get(f"{BUNDLES}/{bundle_id}/nodes/{node.id}")).json()
    assert (shown["staging"]["status"], shown["staging"]["health"]) == (StagingStatus.STAGED, "checked in memory")
    phases = [phase["phase"] for phase in shown["phases"]]
    assert phases == ["preparing", "downloading", "installing", "checking", "staged"]
    again = await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={"node_ids": [node.id]})
    assert again.json()["stagings"][0]["status"] == "staged"


async def test_every_phase_of_a_staging_ends_with_its_operation(world: World, tmp_path: Path) -> None:
    """Staged, compared, removed, and staged in vain: no phase is left running."""
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    [bad_id] = await shelve(world, tmp_path, "2.0", check=["python", "fail"])
    node = await world.nodes.add()

    async def last_phase(bundle_id: str) -> tuple[str, str]:
        await world.nodes.settle()
        place = f"{BUNDLES}/{bundle_id}/nodes/{node.id}"
        shown = (await world.operator.http.get(place)).raise_for_status().json()
        operation = f"/api/v1/admin/operations/{shown['staging']['operation_id']}"
        told = (await world.operator.http.get(operation)).raise_for_status().json()["phases"]
        assert [one["phase"] for one in told] == [one["phase"] for one in shown["phases"]]
        assert all(one["ended_at"] for one in [*told, *shown["phases"]])
        assert (told[-1]["phase"], told[-1]["outcome"]) == (
            shown["phases"][-1]["phase"],
            shown["phases"][-1]["outcome"],
        )
        return told[-1]["phase"], told[-1]["outcome"]

    await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={})
    assert await last_phase(bundle_id) == ("staged", "done")
    async with world.db.write() as tx:
        await tx.run("update node_bundles set checked_at = checked_at - interval '7 hours'")
    assert await last_phase(bundle_id) == ("staged", "done")
    (await world.operator.http.delete(f"{BUNDLES}/{bundle_id}/nodes/{node.id}")).raise_for_status()
    assert await last_phase(bundle_id) == ("bundle_removed", "done")
    await world.operator.http.post(f"{BUNDLES}/{bad_id}/stage", json={})
    assert await last_phase(bad_id) == ("staging_failed", "failed")


async def test_what_lies_on_a_node_is_compared_with_its_checksums_every_few_hours(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    node = await world.nodes.add()
    await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={})
    await world.nodes.settle()
    node.runtimes.bundles.tampered["python-data", "1.0"] = ["bin/python"]
    await world.nodes.settle()
    assert node.runtimes.bundles.tampered, "not yet"
    async with world.db.write() as tx:
        await tx.run("update node_bundles set checked_at = checked_at - interval '7 hours'")
    await world.nodes.settle()
    [staging] = (await world.operator.http.get(f"{BUNDLES}/{bundle_id}/nodes")).json()["items"]
    assert (staging["status"], staging["drift"]) == ("staged", ["bin/python"])
    told = await world.value(
        "select note from timeline_entries where subject_id = $1 and phase = 'drift_repaired'", node.id
    )
    assert told == "python-data 1.0: bin/python"


async def test_no_secret_and_no_recipe_is_told_to_those_who_only_use_it(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0")
    answer = await world.http.get("/api/v1/runtime-bundles")
    assert b"sha256" in answer.content
    assert "recipe" not in msgspec.json.decode(answer.content)["items"][0]
    for path in ("", "/x", "/x/nodes", "/x/nodes/y"):
        assert (await world.http.get(f"{BUNDLES}{path}")).status_code == 403
