"""One submit: idempotent, checked word by word, and nothing left of a refused one."""

import asyncio
from typing import Any

import pytest

from gpuaas.wire.allocations import Status
from tests.world import SLICE, WHOLE, World

WRITTEN = ("allocations", "claims", "operations", "timeline_entries", "allocation_keysets", "idempotency", "node_tasks")


async def written(world: World) -> dict[str, int]:
    counts = {table: int(await world.value(f"select count(*) from {table}")) for table in WRITTEN}
    return counts | {"audit": await world.value("select count(*) from audit where action like 'allocation%'")}


async def test_200_parallel_submits_with_one_key_make_one_machine_and_200_equal_answers(world: World) -> None:
    await world.nodes.add()
    answers = await asyncio.gather(*(world.submit(key="the-one") for _ in range(200)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotency-replayed" in answer.headers for answer in answers) == 199
    assert await world.value("select count(*) from allocations") == 1
    assert await world.value("select count(*) from claims") == 1


async def test_without_a_shared_key_the_same_submits_make_as_many_machines(world: World) -> None:
    """The red twin: it is the key that makes them one."""
    await world.nodes.add()
    answers = await asyncio.gather(*(world.submit(key=f"key-{number}") for number in range(5)))
    assert len({answer.content for answer in answers}) == 5
    assert await world.value("select count(*) from allocations") == 5


async def test_a_key_used_for_another_request_is_refused(world: World) -> None:
    await world.nodes.add()
    await world.submit(key="mine", name="one")
    answer = await world.submit(key="mine", name="two")
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert await world.value("select count(*) from allocations") == 1


async def test_the_same_key_of_another_person_is_another_key(world: World) -> None:
    await world.nodes.add()
    eve = await world.sign_up("eve")
    first, second = await world.submit(key="same"), await world.submit(eve, key="same")
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["operation_id"] != second.json()["operation_id"]


async def test_a_refusal_is_not_kept_and_the_key_may_be_tried_again(world: World) -> None:
    assert (await world.submit(key="again")).status_code == 409
    await world.nodes.add()
    assert (await world.submit(key="again")).status_code == 202
    assert (await world.submit(key="again")).headers["idempotency-replayed"] == "true"


async def test_a_submit_without_a_key_is_refused(world: World) -> None:
    body = {"sku": SLICE, "ssh_key_ids": [world.ada.key_id]}
    answer = await world.http.post("/api/v1/allocations", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")


BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "unknown sku": ({"sku": "gpu-of-dreams"}, 422, "sku"),
    "gpu count not sold": ({"gpu_count": 3}, 422, "gpu_count"),
    "size not sold": ({"size": "huge"}, 422, "size"),
    "somebody else's key": ({"ssh_key_ids": ["key_of_eve"]}, 422, "ssh_key_ids"),
    "no key": ({"ssh_key_ids": []}, 422, "ssh_key_ids"),
    "unknown project": ({"project_id": "proj_none"}, 404, ""),
    "name with capitals": ({"name": "Box"}, 422, "name"),
    "endless name": ({"name": "x" * 10_000}, 422, "name"),
    "negative count": ({"count": -1}, 422, "count"),
    "count as text": ({"count": "two"}, 422, "count"),
    "unknown field": ({"colour": "red"}, 422, ""),
    "a region that is not": ({"region": "mars"}, 409, ""),
}


@pytest.mark.parametrize("case", BAD)
async def test_a_bad_word_is_named_and_changes_nothing(world: World, case: str) -> None:
    fields, status, field = BAD[case]
    await world.nodes.add()
    before = await written(world)
    answer = await world.submit(**fields)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    if field:
        assert any(field in error["field"] or field in error["message"] for error in answer.json()["errors"])
    assert await written(world) == before
    assert (await world.submit(gpu_count=8)).status_code == 202  # no slot stayed behind


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"sku": "\xff"}', b'{"sku": "a\\u0000"}'])
async def test_a_body_that_cannot_be_read_is_refused(world: World, body: bytes) -> None:
    headers = {"X-Idempotency-Key": "k", "Content-Type": "application/json"}
    answer = await world.http.post("/api/v1/allocations", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")


async def test_a_body_of_ten_megabytes_is_refused(world: World) -> None:
    headers = {"X-Idempotency-Key": "k", "Content-Type": "application/json"}
    answer = await world.http.post("/api/v1/allocations", content=b" " * (10 << 20), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


async def test_a_name_is_unique_while_its_machine_lives_and_free_afterwards(world: World) -> None:
    a = await world.allocation(Status.ACTIVE, name="box")
    answer = await world.submit(name="box")
    assert (answer.status_code, answer.json()["facts"]) == (409, {"name": "box"})
    await world.release(a)
    await world.nodes.settle()
    assert (await world.submit(name="box")).status_code == 202


async def test_a_whole_node_takes_every_slot_and_leaves_none(world: World) -> None:
    await world.nodes.add()
    a = await world.allocation(Status.ACTIVE, sku=WHOLE, gpu_count=8)
    assert len((await world.seen(a))["slots"]) == 8
    assert (await world.submit()).json()["facts"]["kind"] == "no_capacity"


async def test_a_whole_node_is_not_sold_where_one_slot_is_in_use(world: World) -> None:
    await world.allocation(Status.ACTIVE)
    answer = await world.submit(sku=WHOLE, gpu_count=8)
    assert (answer.status_code, answer.json()["code"]) == (409, "sku_unavailable")


async def test_the_project_may_be_left_out_when_there_is_only_one(world: World) -> None:
    await world.nodes.add()
    assert (await world.submit(project_id=None)).status_code == 202
    await world.http.post("/api/v1/projects", json={"slug": "second"})
    answer = await world.submit(project_id=None)
    assert (answer.status_code, answer.json()["code"]) == (422, "project_required")


async def test_the_price_is_fixed_at_the_submit(world: World) -> None:
    a = await world.allocation(Status.ACTIVE, gpu_count=4)
    assert (await world.seen(a))["price_per_hour"] == {"amount_minor": 4 * 450, "currency": "USD"}


@pytest.mark.parametrize(
    ("length", "count", "status"), [(61, 2, 202), (62, 2, 422), (60, 10, 409), (61, 10, 422), (63, 1, 202)]
)
async def test_names_of_a_group_stay_hostnames(world: World, length: int, count: int, status: int) -> None:
    await world.nodes.add()
    answer = await world.submit(name="n" * length, count=count)
    assert answer.status_code == status
    if status == 422:
        assert [error["field"] for error in answer.json()["errors"]] == ["name"]
    elif status == 202:
        assert max(len(each["name"]) for each in answer.json()["allocations"]) == 63
