"""Nodes and slots as operators handle them."""

import httpx
import pytest

from gpuaas.core.errors import IllegalMove
from gpuaas.domain.capacity import store as capacity
from gpuaas.domain.capacity.states import MACHINE
from gpuaas.wire.allocations import Status
from gpuaas.wire.capacity import Intent
from gpuaas.wire.environments import VIEWS, Fact
from tests import peek
from tests.fleet import Node
from tests.world import WHOLE, World

LEGAL = {
    Intent.ENROLLING: {Intent.ACTIVE, Intent.QUARANTINED, Intent.RETIRED},
    Intent.ACTIVE: {Intent.DRAINING, Intent.QUARANTINED},
    Intent.DRAINING: {Intent.ACTIVE, Intent.QUARANTINED, Intent.RETIRED},
    Intent.QUARANTINED: {Intent.ACTIVE, Intent.DRAINING, Intent.RETIRED},
    Intent.RETIRED: set(),
}


@pytest.mark.parametrize("here", list(Intent))
@pytest.mark.parametrize("there", list(Intent))
def test_a_node_goes_where_the_table_says_and_nowhere_else(here: Intent, there: Intent) -> None:
    if there in LEGAL[here]:
        MACHINE.check(here, there)
    else:
        with pytest.raises(IllegalMove):
            MACHINE.check(here, there)


async def change(world: World, node: Node, verb: str, **body: object) -> httpx.Response:
    return await world.operator.http.post(f"/api/v1/admin/nodes/{node.id}/{verb}", json=body)


async def refusal(world: World) -> tuple[object, object]:
    """Why nothing can be had now, from a fresh read."""
    facts = (await world.submit()).json()["facts"]
    return facts["kind"], facts["blocked"]


@pytest.mark.parametrize("verb", ["drain", "quarantine"])
async def test_a_node_taken_out_gets_nothing_new_and_keeps_what_runs(world: World, verb: str) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    assert (await change(world, node, verb, reason="fans")).status_code == 200
    assert await refusal(world) == ("readiness_blocks", {"node_not_active": 7})
    assert (await world.seen(a))["status"] == "active"
    back = "undrain" if verb == "drain" else "unquarantine"
    assert (await change(world, node, back)).json()["intent"] == "active"
    assert (await world.submit()).status_code == 202


async def test_an_offline_node_gets_nothing_new(world: World) -> None:
    node = await world.nodes.add()
    await world.nodes.disconnect(node)
    assert await refusal(world) == ("readiness_blocks", {"node_offline": 8})


async def test_a_node_that_lacks_something_gets_nothing_new_until_it_has_it(world: World) -> None:
    """The last claim is tried with an index that has not heard of it: the statement itself refuses."""
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    node.missing = ("root", "the program conmon")
    await world.nodes.connect(node)
    assert await refusal(world) == ("readiness_blocks", {"missing_requirements": 7})
    shown = (await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}")).json()
    assert shown["facts"]["missing"] == ["root", "the program conmon"]
    assert (shown["slots_free"], shown["slots_claimed"], shown["slots_blocked"]) == (0, 1, 7)
    assert {mark["status"] for mark in shown["slots"]} == {"claimed", "missing_requirements"}
    overview = (await world.operator.http.get("/api/v1/admin/overview")).json()
    assert (overview["nodes"]["missing_requirements"], overview["capacity"]["free"]) == (1, 0)
    node.missing = ()
    await world.nodes.connect(node)
    assert (await world.submit()).status_code == 202
    await peek.plant(world.db, "update nodes set facts = jsonb_set(facts, '{missing}', '[\"root\"]')")
    assert (await world.submit()).status_code == 409


async def test_a_node_is_retired_only_when_nothing_is_claimed_on_it(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    await change(world, node, "drain")
    answer = await change(world, node, "retire")
    assert (answer.status_code, answer.json()["facts"]) == (409, {"claims": 1})
    await world.release(a)
    await world.nodes.settle()
    assert (await change(world, node, "retire")).json()["intent"] == "retired"
    assert (await change(world, node, "undrain")).json()["code"] == "illegal_move"


async def test_only_approved_slots_are_sold(world: World) -> None:
    await world.nodes.add(approve=[2, 5])
    ids = [(await world.submit()).json()["allocations"][0]["id"] for _ in range(2)]
    assert {(await world.seen(id))["slots"][0]["index"] for id in ids} == {2, 5}
    assert await refusal(world) == ("readiness_blocks", {"not_approved": 6})


async def test_a_disabled_slot_is_not_sold_and_who_has_it_keeps_it(world: World) -> None:
    a = await world.allocation(Status.ACTIVE)
    node = world.node_of(await world.get(a))
    slots = f"/api/v1/admin/nodes/{node.id}/slots"
    for index in range(8):
        assert (await world.operator.http.post(f"{slots}/{index}/disable", json={"reason": "ecc"})).status_code == 200
    assert (await world.seen(a))["status"] == "active"
    assert await refusal(world) == ("readiness_blocks", {"disabled": 7})
    await world.operator.http.post(f"{slots}/3/enable", json={})
    assert (await world.submit()).status_code == 202


async def test_a_slot_that_was_never_approved_cannot_be_enabled(world: World) -> None:
    node = await world.nodes.add(approve=[])
    answer = await world.operator.http.post(f"/api/v1/admin/nodes/{node.id}/slots/0/enable", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_no_slot_joins_a_node_that_is_held_whole(world: World) -> None:
    node = await world.nodes.add(gpus=9, approve=range(8))
    await peek.plant(world.db, "delete from slots where index = 8")
    await world.services.index.refresh()
    await world.allocation(Status.ACTIVE, sku=WHOLE, gpu_count=8)
    await peek.plant(
        world.db,
        "insert into slots (id, node_id, index, gpu_family, gpu_pci, gpu_uuid, vcpus, memory_mib)"
        " values ('slot_new', $1, 8, 'h200', 'new', 'new', 1, 1)",
        node.id,
    )
    approve = f"/api/v1/admin/nodes/{node.id}/slots/8/approve"
    answer = await world.operator.http.post(approve, json={})
    assert (answer.status_code, "holds the whole node" in answer.json()["detail"]) == (409, True)


async def test_slots_of_a_release_that_left_residue_are_blocked_and_shown(world: World) -> None:
    a = await world.allocation(Status.RELEASE_FAILED)
    node = world.node_of(await world.get(a))
    slot = (await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}/slots")).json()["items"][0]
    assert (slot["status"], slot["allocation_id"], slot["cleanup_blocked_at"] is not None) == ("claimed", a, True)


async def test_a_node_shows_what_each_of_its_slots_is_as_on_a_map(world: World) -> None:
    blocked = await world.allocation(Status.RELEASE_FAILED)
    live = await world.allocation(Status.ACTIVE)
    node = await world.nodes.add("map", gpus=3, approve=[0, 1])
    await world.operator.http.post(f"/api/v1/admin/nodes/{node.id}/slots/1/disable", json={})
    nodes = (await world.operator.http.get("/api/v1/admin/nodes")).json()["items"]
    fleet = {each["name"]: each["slots"] for each in nodes}
    assert [mark["status"] for mark in fleet["map"]] == ["free", "disabled", "candidate"]
    held = {mark["allocation_id"]: mark for mark in fleet["node-1"] if mark["allocation_id"]}
    assert {id: (mark["status"], mark["cleanup_blocked"]) for id, mark in held.items()} == {
        blocked: ("claimed", True),
        live: ("claimed", False),
    }


async def test_a_fact_that_changed_is_shown_and_a_node_adds_no_others(world: World) -> None:
    node = await world.nodes.add(gpus=1)

    async def shown() -> dict[str, str]:
        answer = await world.operator.http.get(f"/api/v1/admin/nodes/{node.id}")
        return {name: fact["value"] for name, fact in answer.raise_for_status().json()["facts"]["facts"].items()}

    before = await shown()
    told = {VIEWS: Fact(value="lxcfs ended", source="a look"), "isolation": Fact(value="forged", source="a lie")}
    async with world.db.write() as tx:
        assert await capacity.facts_changed(tx, {node.id: told}) == [node.id]
        assert await capacity.facts_changed(tx, {node.id: told}) == [], "it is as it was"
        assert await capacity.facts_changed(tx, {node.id: {}}) == []
    assert await shown() == before | {VIEWS: "lxcfs ended"}


async def test_an_enrolment_token_makes_one_node_once(world: World) -> None:
    asked = {"node_name": "box"}
    issued = (await world.operator.http.post("/api/v1/admin/enrolment-tokens", json=asked)).json()
    facts = {"engine": "fake", "simulated": True, "vcpus": 1, "memory_mib": 1, "ssh_host": "h"}
    key, other = "A" * 43 + "=", "B" * 43 + "="
    enrol = {"token": issued["token"], "public_key": key, "agent_version": "1", "facts": facts}
    answers = [
        await world.stranger.post("/internal/v1/nodes/enrol", json={**enrol, "public_key": each})
        for each in (key, key, other)
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 401]
    wrong = await world.stranger.post("/internal/v1/nodes/enrol", json={**enrol, "token": "gpe_wrong"})
    assert wrong.status_code == 401
    assert issued["token"] not in str(await peek.rows(world.db, "select * from enrolment_tokens"))


async def test_a_name_whose_token_expired_gets_another_until_a_machine_came(world: World) -> None:
    tokens, enrol = "/api/v1/admin/enrolment-tokens", "/internal/v1/nodes/enrol"
    facts = {"engine": "fake", "simulated": True, "vcpus": 1, "memory_mib": 1, "ssh_host": "h"}
    shown = {"public_key": "A" * 43 + "=", "agent_version": "1", "facts": facts}
    first = (await world.operator.http.post(tokens, json={"node_name": "box"})).json()
    await peek.plant(world.db, "update enrolment_tokens set expires_at = now() - interval '1 second'")
    late = await world.stranger.post(enrol, json={**shown, "token": first["token"]})
    assert late.status_code == 401
    issued = [await world.operator.http.post(tokens, json={"node_name": "box"}) for _ in range(2)]
    assert {answer.json()["node_id"] for answer in issued} == {first["node_id"]}
    second, third = (answer.json()["token"] for answer in issued)
    assert (await world.stranger.post(enrol, json={**shown, "token": second})).status_code == 200
    stolen = {**shown, "public_key": "B" * 43 + "=", "token": third}
    assert (await world.stranger.post(enrol, json=stolen)).status_code == 401
    taken = await world.operator.http.post(tokens, json={"node_name": "box"})
    assert (taken.status_code, taken.json()["code"]) == (409, "conflict")


async def test_what_is_free_is_shown_with_each_sku(world: World) -> None:
    await world.allocation(Status.ACTIVE)
    skus = {sku["sku"]: sku for sku in (await world.http.get("/api/v1/skus")).json()["items"]}
    shown = {each["gpu_count"]: each["free"] for each in skus["sim-h200-slice"]["availability"]}
    assert shown == {1: 7, 2: 3, 4: 1, 8: 0}


async def test_explain_says_where_a_request_would_go_and_changes_nothing(world: World) -> None:
    await world.nodes.add()
    answer = await world.http.post(
        "/api/v1/placement/explain", json={"sku": "sim-h200-slice", "gpu_count": 4, "count": 2}
    )
    assert (answer.json()["fits"], answer.json()["regions"]) == (True, ["local", "local"])
    assert await world.value("select count(*) from claims") == 0
