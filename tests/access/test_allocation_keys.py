"""The keys of a live machine, who holds it, and how the set reaches it."""

from datetime import timedelta
from typing import Any

import asyncssh
import pytest
from msgspec.structs import replace

from gpuaas.domain.access.reconcile import TRY_AGAIN_AFTER, Install, KeysWorker, Observe, decide
from gpuaas.domain.access.store import Seen
from gpuaas.wire.allocations import Status
from gpuaas.wire.environments import KeySet
from gpuaas.wire.identity import Role
from gpuaas.wire.tasks import TaskKind
from tests import peek
from tests.allocations.rows import NOON, row, task
from tests.world import Person, World


def a_key() -> str:
    return asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()


async def add_key(person: Person, title: str) -> str:
    added = await person.http.post("/api/v1/ssh-keys", json={"title": title, "public_key": a_key()})
    return str(added.raise_for_status().json()["id"])


async def admitted(world: World, id: str) -> set[str]:
    await world.nodes.settle()
    return {key.fingerprint for key in world.node_of(await world.get(id)).environments[id].keys.keys}


def keys_of(id: str) -> str:
    return f"/api/v1/allocations/{id}/ssh-keys"


def keys_task(status: str, generation: int = 2, **fields: Any) -> Any:
    made = task(TaskKind.INSTALL_KEYS, status, **fields)
    return replace(made, lane="keys", wants={"keys": {"generation": generation, "keys": []}})


def seen(status: Status = Status.ACTIVE, **fields: Any) -> Seen:
    plain = Seen(row=row(status), keys=KeySet(generation=2), observed_generation=1, reported=1, task=None)
    return replace(plain, **fields)


LATER = NOON + TRY_AGAIN_AFTER + timedelta(seconds=1)
CASES = [
    ("a machine in the making gets its keys with it", seen(Status.PROVISIONING), None),
    ("nothing new", seen(observed_generation=2), None),
    ("a newer set", seen(), Install()),
    ("the machine was made with it", seen(reported=2), Observe(2)),
    ("the machine was made with an older one", seen(observed_generation=0, reported=1), Observe(1)),
    ("it is on its way", seen(task=keys_task("sent")), None),
    ("an older set is on its way", seen(task=keys_task("sent", generation=1)), Install()),
    ("one of another boot", seen(task=replace(keys_task("sent"), boot=9)), Install()),
    ("it failed just now", seen(task=keys_task("failed", ended_at=LATER)), None),
    ("it failed a while ago", seen(task=keys_task("failed", ended_at=NOON)), Install()),
    ("it was refused a while ago", seen(task=keys_task("refused", ended_at=NOON)), Install()),
]


@pytest.mark.parametrize(("facts", "decision"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_decided(facts: Seen, decision: object) -> None:
    assert decide(facts, LATER) == decision


async def test_the_holder_changes_the_keys_of_a_running_machine(world: World) -> None:
    a, desk = await world.allocation(), await add_key(world.ada, "desk")
    before = await admitted(world, a)
    changed = await world.http.put(keys_of(a), json={"ssh_key_ids": [desk]})
    assert (changed.status_code, changed.json()["installed"], changed.json()["generation"]) == (200, False, 2)
    after = await admitted(world, a)
    assert (len(after), after & before) == (1, set())
    assert (await world.http.get(keys_of(a))).json()["installed"] is True
    assert (await world.timeline(a))[-1].phase == "keys_changed"
    kinds = "select array_agg(kind || ' ' || lane order by seq) from node_tasks where allocation_id = $1"
    assert await world.value(kinds, a) == ["environment.ensure environment", f"{TaskKind.INSTALL_KEYS} keys"]


async def test_a_machine_that_comes_up_is_seen_to_admit_without_another_task(world: World) -> None:
    a = await world.allocation()
    assert (await world.http.get(keys_of(a))).json()["installed"] is True
    assert await world.value("select count(*) from node_tasks where lane = 'keys'") == 0


async def test_passes_of_the_worker_that_nobody_needed_change_nothing(world: World) -> None:
    a, desk = await world.allocation(), await add_key(world.ada, "desk")
    await world.http.put(keys_of(a), json={"ssh_key_ids": [desk]})
    worker = next(one for one in world.services.workers if isinstance(one, KeysWorker))
    for _ in range(3):
        await worker(a)
    await world.nodes.work()
    for _ in range(3):
        await worker(a)
    assert await world.value("select count(*) from node_tasks where lane = 'keys'") == 1


async def test_keys_that_fail_to_reach_the_machine_are_tried_again(world: World) -> None:
    a, desk = await world.allocation(), await add_key(world.ada, "desk")
    node = world.node_of(await world.get(a))
    node.broken["set_keys"] = "the disk is full"
    await world.http.put(keys_of(a), json={"ssh_key_ids": [desk]})
    await world.nodes.settle()
    assert (await world.http.get(keys_of(a))).json()["installed"] is False
    node.broken.clear()
    world.clock.advance(seconds=10)
    await admitted(world, a)
    assert (await world.http.get(keys_of(a))).json()["installed"] is True


async def test_the_last_way_in_goes_only_if_confirmed(world: World) -> None:
    a = await world.allocation()
    refused = await world.http.put(keys_of(a), json={"ssh_key_ids": []})
    assert (refused.status_code, refused.json()["code"]) == (409, "no_way_in")
    assert len(await admitted(world, a)) == 1
    meant = await world.http.put(keys_of(a), json={"ssh_key_ids": [], "confirm_no_way_in": True})
    assert (meant.status_code, await admitted(world, a)) == (200, set())


async def test_only_the_holder_adds_keys_and_only_their_own(world: World) -> None:
    a = await world.allocation()
    admin = await world.sign_up("ann", key=a_key())
    await world.join(admin, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    stranger = await world.sign_up("eve", key=a_key())
    refused = await admin.http.put(keys_of(a), json={"ssh_key_ids": [world.ada.key_id, admin.key_id]})
    assert refused.status_code == 403
    for key in (stranger.key_id, admin.key_id, "key_none"):
        answer = await world.http.put(keys_of(a), json={"ssh_key_ids": [key]})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "ssh_key_ids")
    taken = await admin.http.put(keys_of(a), json={"ssh_key_ids": [], "confirm_no_way_in": True})
    assert (taken.status_code, await admitted(world, a)) == (200, set())


async def test_a_handover_changes_the_holder_and_nothing_inside(world: World) -> None:
    a = await world.allocation()
    bob = await world.sign_up("bob", key=a_key())
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    assert (await bob.http.put(keys_of(a), json={"ssh_key_ids": [bob.key_id]})).status_code in (403, 422)
    node = world.node_of(await world.get(a))
    handed = await world.http.post(
        f"/api/v1/allocations/{a}/handover", json={"user_id": bob.id, "ssh_key_ids": [bob.key_id]}
    )
    assert (handed.status_code, handed.json()["holder"], handed.json()["requested_by"]) == (200, bob.id, world.ada.id)
    await admitted(world, a)
    assert {key.user_id for key in node.environments[a].keys.keys} == {bob.id}
    assert ((await world.get(a)).boot, node.boots) == (1, [(a, 1)])
    assert (await bob.http.put(keys_of(a), json={"ssh_key_ids": [bob.key_id]})).status_code == 200
    audited = await peek.row(world.db, "select actor, facts from audit where action = 'allocation.handed_over'")
    assert audited is not None
    assert (audited["actor"], audited["facts"]["from"], audited["facts"]["to"]) == (world.ada.id, world.ada.id, bob.id)


async def test_a_grantee_who_becomes_holder_keeps_their_key_without_a_lease(world: World) -> None:
    a = await world.allocation()
    bob = await world.sign_up("bob", key=a_key())
    await world.join(bob, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    wish = {"user_id": bob.id, "ssh_key_id": bob.key_id}
    await world.http.post(f"/api/v1/allocations/{a}/access-grants", json=wish)
    await world.http.post(f"/api/v1/allocations/{a}/handover", json={"user_id": bob.id})
    await admitted(world, a)
    keys = world.node_of(await world.get(a)).environments[a].keys.keys
    assert [(key.user_id, key.granted) for key in keys] == [(bob.id, False)]
