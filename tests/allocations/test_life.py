"""An allocation's life through the front door, with fake machines behind it."""

from gpuaas.domain.allocations.reconcile import REMOVE_ATTEMPTS, AllocationWorker
from gpuaas.engines.fake import PROOFS
from gpuaas.wire.allocations import Status
from gpuaas.wire.timeline import Outcome
from tests import peek
from tests.world import KEY, World

LIVE_CLAIMS = "select count(*) from claims where released_at is null"


async def phases(world: World, id: str) -> list[str]:
    return [entry.phase for entry in await world.timeline(id)]


async def test_a_request_becomes_a_machine_one_can_enter(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    shown = await world.seen(a)
    assert (shown["status"], shown["health"], shown["boot"]) == ("active", "ok", 1)
    assert shown["connection"]["command"].startswith(f"ssh -o HostKeyAlias={a} -p 20000 gpu@")
    assert shown["billing"] == {"state": "running", "started_at": shown["active_at"], "stopped_at": None}
    assert [slot["index"] for slot in shown["slots"]] == [0]
    node = world.node_of(await world.get(a))
    assert [f"{key.type} {key.blob}" for key in node.environments[a].keys.keys] == [KEY]


async def test_the_timeline_tells_every_phase_with_who_and_when(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    await world.release(a, reason="done for today")
    await world.nodes.settle()
    told = await world.timeline(a)
    making = ["requested", "placed", "provisioning", "preparing", "booting", "gpus_checked", "access_ready", "active"]
    ending = [
        "releasing",
        "sessions_ended",
        "environment_removed",
        "gpus_reset",
        "cleaned",
        "cleanup_proven",
        "released",
    ]
    assert [entry.phase for entry in told] == making + ending
    assert [entry.at for entry in told] == sorted(entry.at for entry in told)
    actors = {entry.phase: entry.actor for entry in told}
    assert (actors["requested"], actors["booting"]) == (world.ada.id, (await world.get(a)).node_id)
    assert (actors["releasing"], actors["released"]) == (world.ada.id, "system")
    assert next(entry.note for entry in told if entry.phase == "releasing") == "done for today"


async def test_release_ends_with_a_proof_of_every_item_and_a_free_slot(world: World) -> None:
    a = await world.allocation(Status.RELEASED)
    proofs = await peek.rows(world.db, "select item, ok from cleanup_proofs where allocation_id = $1", a)
    assert {(proof["item"], proof["ok"]) for proof in proofs} == {(item, True) for item in PROOFS}
    assert await world.value(LIVE_CLAIMS) == 0
    row = await world.get(a)
    assert row.cleanup_proven_at == row.released_at is not None
    assert world.node_of(row).environments == {}


async def test_billing_stops_when_release_is_accepted_not_when_it_is_done(world: World) -> None:
    a = await world.allocation(Status.RELEASING)
    stopped = (await world.get(a)).billing_stopped_at
    world.clock.advance(seconds=60)
    await world.nodes.settle()
    row = await world.get(a)
    assert row.status is Status.RELEASED
    assert row.billing_stopped_at == stopped is not None


async def test_release_asked_again_is_the_same_release(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    answers = [(await world.release(a)).json() for _ in range(3)]
    assert len({answer["operation_id"] for answer in answers}) == 1
    await world.nodes.settle()
    assert (await phases(world, a)).count("releasing") == 1


async def test_a_released_machine_cannot_be_released_again(world: World) -> None:
    a = await world.allocation(Status.RELEASED)
    answer = await world.release(a)
    assert (answer.status_code, answer.json()["code"]) == (409, "illegal_move")


async def test_passes_of_the_worker_that_nobody_needed_change_nothing(world: World) -> None:
    a = await world.allocation(Status.REQUESTED)
    worker = next(worker for worker in world.services.workers if isinstance(worker, AllocationWorker))
    for _ in range(4):
        await worker(a)
    await world.nodes.work()
    for _ in range(4):
        await worker(a)
        await world.nodes.work()
    await world.release(a)
    for _ in range(4):
        await worker(a)
        await world.nodes.work()
    node = world.node_of(await world.get(a))
    assert node.boots == [(a, 1)]
    assert await world.value("select count(*) from node_tasks") == 2
    told = await phases(world, a)
    assert len(told) == len(set(told)) == 15


async def test_a_machine_that_cannot_be_made_fails_with_its_reason_and_no_bill(world: World) -> None:
    node = await world.nodes.add()
    node.broken["booting"] = "the disk is full"
    a = (await world.submit()).json()["allocations"][0]["id"]
    await world.nodes.settle()
    shown = await world.seen(a)
    assert (shown["status"], shown["status_reason"]) == ("failed", "the disk is full")
    assert (shown["billing"]["state"], shown["billing"]["stopped_at"] is not None) == ("not_started", True)
    last = [entry for entry in await world.timeline(a) if entry.outcome is Outcome.FAILED]
    assert [(entry.phase, entry.note) for entry in last] == [("failed", "the disk is full")]
    operation = (await world.http.get(f"/api/v1/operations/{shown['operation_id']}")).json()
    assert (operation["status"], operation["reason"]) == ("failed", "the disk is full")


async def test_a_failed_machine_frees_its_slot_once_nothing_of_it_is_left(world: World) -> None:
    node = await world.nodes.add()
    node.broken["booting"] = "the disk is full"
    a = (await world.submit()).json()["allocations"][0]["id"]
    await world.nodes.settle()
    assert ((await world.seen(a))["cleanup_proven"], await world.value(LIVE_CLAIMS)) == (True, 0)


async def test_a_failed_machine_holds_its_slot_until_cleanup_is_proven(world: World) -> None:
    a = await world.allocation(Status.FAILED)
    node = world.node_of(await world.get(a))
    assert ((await world.seen(a))["cleanup_proven"], await world.value(LIVE_CLAIMS)) == (False, 1)
    slots = (await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}/slots")).json()["items"]
    assert slots[0]["cleanup_blocked_at"] is not None
    node.residue.clear()
    world.clock.advance(minutes=2)
    await world.nodes.settle()
    assert ((await world.seen(a))["cleanup_proven"], await world.value(LIVE_CLAIMS)) == (True, 0)
    assert (await world.seen(a))["status"] == "failed"


async def test_a_release_that_leaves_residue_fails_by_name_and_keeps_the_slot(world: World) -> None:
    a = await world.allocation(Status.RELEASE_FAILED)
    shown = await world.seen(a)
    assert shown["status_reason"] == "Still on the node: mounts."
    assert shown["billing"]["state"] == "stopped"
    assert await world.value(LIVE_CLAIMS) == 1
    tries = "select count(*) from node_tasks where kind = 'environment.remove'"
    assert await world.value(tries) == REMOVE_ATTEMPTS


async def test_a_failed_release_can_be_tried_again(world: World) -> None:
    a = await world.allocation(Status.RELEASE_FAILED)
    world.node_of(await world.get(a)).residue.clear()
    assert (await world.release(a)).status_code == 202
    await world.nodes.settle()
    assert ((await world.get(a)).status, await world.value(LIVE_CLAIMS)) == (Status.RELEASED, 0)
    blocked = "select count(*) from slots where cleanup_blocked_at is not null"
    assert await world.value(blocked) == 0


async def test_a_request_can_be_cancelled_before_anything_was_made(world: World) -> None:
    a = await world.allocation(Status.REQUESTED)
    await world.release(a)
    await world.nodes.settle()
    row = await world.get(a)
    assert (row.status, world.node_of(row).boots) == (Status.RELEASED, [])


async def test_a_machine_can_be_cancelled_while_it_is_made(world: World) -> None:
    a = await world.allocation(Status.PROVISIONING)
    operation = (await world.get(a)).operation_id
    await world.release(a)
    await world.nodes.settle()
    row = await world.get(a)
    assert (row.status, world.node_of(row).environments) == (Status.RELEASED, {})
    shown = (await world.http.get(f"/api/v1/operations/{operation}")).json()
    assert (shown["status"], shown["reason"]) == ("failed", "cancelled by release")


async def test_a_node_that_does_not_answer_a_release_makes_it_fail_and_keeps_the_slot(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    world.node_of(await world.get(a)).is_silent = True
    await world.release(a)
    await world.nodes.settle()
    assert (await world.get(a)).status is Status.RELEASING
    world.clock.advance(minutes=6)
    await world.nodes.settle()
    assert (await world.seen(a))["status_reason"] == "The node does not answer."
    assert await world.value(LIVE_CLAIMS) == 1


async def test_a_release_waits_for_what_holds_the_machine(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    await peek.plant(world.db, "insert into holds values ($1, 'volume', 'vol_1')", a)
    await world.release(a)
    await world.nodes.settle()
    assert ((await world.get(a)).status, a in world.node_of(await world.get(a)).environments) == ("releasing", True)
    await peek.plant(world.db, "delete from holds")
    await world.nodes.settle()
    assert (await world.get(a)).status is Status.RELEASED
