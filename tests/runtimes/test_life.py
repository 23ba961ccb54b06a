"""A runtime's life on an allocation, through the front door: wanted, staged, applied, switched, cleared."""

from pathlib import Path

from gpuaas.wire.runtimes import STATEMENT
from tests.runtimes.shelves import BUNDLES, applied, ask, clear, for_cuda, publish, runtime, shelve
from tests.world import SLICE, World


async def test_raw_compute_has_no_runtime_and_says_what_is_supported(world: World) -> None:
    id = await world.allocation()
    shown = await runtime(world, id)
    assert (shown["state"], shown["bundle"], shown["statement"]) == ("cleared", None, STATEMENT)
    assert (await world.seen(id))["runtime"] is None


async def test_a_slug_is_staged_and_applied_at_its_newest_version_with_every_phase_told(
    world: World, tmp_path: Path
) -> None:
    await shelve(world, tmp_path, "1.0", "2.0")
    id = await world.allocation()
    asked = await ask(world, id, runtime_bundle_slug="python-data")
    assert (asked.status_code, asked.json()["state"], asked.json()["bundle"]["version"]) == (202, "applying", "2.0")
    await world.nodes.settle()
    shown = await runtime(world, id)
    assert (shown["state"], shown["observed_bundle"]["version"], shown["observed_boot"]) == ("applied", "2.0", 1)
    assert shown["last_applied_at"] is not None
    summary = (await world.seen(id))["runtime"]
    assert (summary["state"], summary["bundle"]["version"]) == ("applied", "2.0")
    told = [entry.phase for entry in await world.timeline(id) if entry.phase.startswith("runtime_")]
    assert told == [
        "runtime_applying",
        "runtime_preparing",
        "runtime_downloading",
        "runtime_installing",
        "runtime_checking",
        "runtime_staged",
        "runtime_applied",
    ]
    operation = (await world.http.get(f"/api/v1/operations/{asked.json()['operation_id']}")).json()
    assert (operation["kind"], operation["status"]) == ("runtime_apply", "succeeded")


async def test_a_version_stays_pinned_when_a_newer_one_is_published_until_it_is_upgraded(
    world: World, tmp_path: Path
) -> None:
    await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    await shelve(world, tmp_path, "2.0")
    await world.nodes.settle()
    assert (await runtime(world, id))["bundle"]["version"] == "1.0"
    assert (await applied(world, id, action="upgrade"))["observed_bundle"]["version"] == "2.0"
    refused = await ask(world, id, action="upgrade")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


async def test_a_switch_can_be_rolled_back_and_a_runtime_cleared_to_raw_compute(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0", "2.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data", version="1.0")
    assert (await ask(world, id, action="roll_back")).status_code == 409
    await applied(world, id, runtime_bundle_slug="python-data", version="2.0")
    back = await applied(world, id, action="roll_back")
    assert (back["observed_bundle"]["version"], back["previous_bundle"]["version"]) == ("1.0", "2.0")
    assert (await clear(world, id)).json()["state"] == "clearing"
    await world.nodes.settle()
    shown = await runtime(world, id)
    assert (shown["state"], shown["observed_bundle"], shown["previous_bundle"]["version"]) == ("cleared", None, "1.0")
    [node] = world.nodes.all.values()
    assert await node.runtimes.descriptor(id) is None
    assert (await clear(world, id)).json()["state"] == "cleared"


async def test_a_bundle_that_fails_its_check_fails_alone(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0", check=["python", "fail"])
    id = await world.allocation()
    shown = await applied(world, id, runtime_bundle_slug="python-data")
    assert (shown["state"], shown["reason"]) == ("failed", "its health check failed: planted")
    assert (await world.seen(id))["status"] == "active"
    operation = (await world.http.get(f"/api/v1/operations/{shown['operation_id']}")).json()
    assert (operation["status"], operation["reason"]) == ("failed", "its health check failed: planted")


async def test_after_a_failed_switch_repair_is_of_what_is_in_force(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    await shelve(world, tmp_path, "3.0", check=["python", "fail"])
    assert (await applied(world, id, runtime_bundle_slug="python-data", version="3.0"))["state"] == "failed"
    repaired = await applied(world, id, action="repair")
    assert (repaired["state"], repaired["bundle"]["version"]) == ("applied", "1.0")


async def test_a_roll_back_that_leads_nowhere_is_not_offered(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    await clear(world, id)
    await world.nodes.settle()
    back = await applied(world, id, action="roll_back")
    assert (back["observed_bundle"]["version"], back["previous_bundle"]) == ("1.0", None)
    assert (await ask(world, id, action="roll_back")).status_code == 409


async def test_asking_again_after_a_failure_tries_the_node_again(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0", check=["python", "fail"])
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    before = await world.value("select count(*) from node_tasks where kind = 'runtime.stage'")
    await applied(world, id, runtime_bundle_slug="python-data")
    assert await world.value("select count(*) from node_tasks where kind = 'runtime.stage'") == before + 1


async def test_a_submit_may_name_a_bundle_and_the_machine_is_active_before_it(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    id = await world.allocation(runtime_bundle_slug="python-data")
    await world.nodes.settle()
    assert (await runtime(world, id))["state"] == "applied"
    phases = [entry.phase for entry in await world.timeline(id)]
    assert phases.index("active") < phases.index("runtime_applied")
    other = await world.submit(runtime_bundle_id=bundle_id)
    assert other.json()["allocations"][0]["runtime"]["bundle"]["version"] == "1.0"


async def test_a_submit_with_a_bundle_that_is_unknown_twofold_or_unfit_makes_nothing(
    world: World, tmp_path: Path
) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    await publish(world, for_cuda(tmp_path))
    await world.nodes.add()
    unknown = await world.submit(runtime_bundle_slug="pytorch-of-tomorrow")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "runtime_bundle_slug")
    both = await world.submit(runtime_bundle_slug="python-data", runtime_bundle_id=bundle_id)
    assert (both.status_code, both.json()["code"]) == (422, "validation_error")
    unfit = await world.submit(runtime_bundle_slug="cuda-data")
    assert (unfit.status_code, unfit.json()["code"]) == (409, "bundle_incompatible")
    assert "the node does not report one; its GPUs are simulated" in unfit.json()["detail"]
    assert await world.value("select count(*) from allocations") == 0


async def test_bundles_are_shown_with_whether_they_fit_a_machine_and_are_ready_there(
    world: World, tmp_path: Path
) -> None:
    await shelve(world, tmp_path, "1.0")
    await publish(world, for_cuda(tmp_path))
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    shown = (await world.http.get("/api/v1/runtime-bundles", params={"allocation_id": id})).json()["items"]
    judged = {each["slug"]: each["compatibility"] for each in shown}
    assert judged["python-data"] == {"compatible": True, "reason": "", "staged": True}
    assert (judged["cuda-data"]["compatible"], judged["cuda-data"]["staged"]) == (False, False)
    assert "it needs an NVIDIA driver" in judged["cuda-data"]["reason"]
    refused = await ask(world, id, runtime_bundle_slug="cuda-data")
    assert refused.json()["facts"]["reason"] == judged["cuda-data"]["reason"]


async def test_bundles_are_judged_for_a_sku_before_there_is_a_machine(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    await publish(world, for_cuda(tmp_path))

    async def judged() -> dict[str, dict[str, object]]:
        shown = await world.http.get("/api/v1/runtime-bundles", params={"sku": SLICE})
        return {each["slug"]: each["compatibility"] for each in shown.json()["items"]}

    assert (await judged())["python-data"]["reason"] == "no node offers such allocations now."
    await world.nodes.add()
    found = await judged()
    assert found["python-data"] == {"compatible": True, "reason": "", "staged": False}
    assert found["cuda-data"]["compatible"] is False
    assert "it needs an NVIDIA driver" in str(found["cuda-data"]["reason"])
    await world.operator.http.post(f"{BUNDLES}/{bundle_id}/stage", json={})
    await world.nodes.settle()
    assert (await judged())["python-data"]["staged"] is True
    unknown = await world.http.get("/api/v1/runtime-bundles", params={"sku": "no-such"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "sku_not_found")


async def test_what_the_check_of_a_bundle_said_is_shown_with_the_machine(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    assert (await runtime(world, id))["health"] == ""
    shown = await applied(world, id, runtime_bundle_slug="python-data")
    assert shown["health"]
    assert shown["checked_at"] is not None
    await clear(world, id)
    await world.nodes.settle()
    assert (await runtime(world, id))["health"] == ""


async def test_a_machine_that_boots_again_gets_its_runtime_again(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    [node] = world.nodes.all.values()
    await node.close(stop_environments=True)
    node.runtimes.bundles.descriptors.clear()
    await world.nodes.report(node)
    await world.nodes.settle()
    shown = await runtime(world, id)
    assert (shown["state"], shown["observed_boot"], (await world.get(id)).boot) == ("applied", 2, 2)
    assert await node.runtimes.descriptor(id) is not None


async def test_a_node_that_lost_its_bundle_is_staged_anew(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0", "2.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    await applied(world, id, runtime_bundle_slug="python-data", version="1.0")
    [node] = world.nodes.all.values()
    node.runtimes.bundles.staged.clear()
    shown = await applied(world, id, runtime_bundle_slug="python-data")
    assert (shown["state"], shown["observed_bundle"]["version"]) == ("applied", "2.0")


async def test_repair_finds_what_was_changed_and_puts_it_right(world: World, tmp_path: Path) -> None:
    [bundle_id] = await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    await applied(world, id, runtime_bundle_slug="python-data")
    [node] = world.nodes.all.values()
    node.runtimes.bundles.tampered["python-data", "1.0"] = ["lib/site.py"]
    shown = await applied(world, id, action="repair")
    assert shown["state"] == "applied"
    [staging] = (await world.operator.http.get(f"/api/v1/admin/runtime-bundles/{bundle_id}/nodes")).json()["items"]
    assert (staging["status"], staging["drift"], staging["in_use"]) == ("staged", ["lib/site.py"], 1)


async def test_an_allocation_that_is_given_back_ends_its_runtime_too(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0")
    id = await world.allocation()
    asked = await ask(world, id, runtime_bundle_slug="python-data")
    await world.release(id)
    await world.nodes.settle()
    assert (await world.seen(id))["status"] == "released"
    operation = (await world.http.get(f"/api/v1/operations/{asked.json()['operation_id']}")).json()
    assert operation["status"] == "failed"
    late = await ask(world, id, runtime_bundle_slug="python-data")
    assert (late.status_code, late.json()["code"]) == (409, "conflict")


async def test_a_newer_choice_overtakes_one_on_its_way(world: World, tmp_path: Path) -> None:
    await shelve(world, tmp_path, "1.0", "2.0")
    id = await world.allocation()
    first = await ask(world, id, runtime_bundle_slug="python-data", version="1.0")
    shown = await applied(world, id, runtime_bundle_slug="python-data", version="2.0")
    assert shown["observed_bundle"]["version"] == "2.0"
    operation = (await world.http.get(f"/api/v1/operations/{first.json()['operation_id']}")).json()
    assert (operation["status"], operation["reason"]) == ("failed", "superseded by a newer choice")
