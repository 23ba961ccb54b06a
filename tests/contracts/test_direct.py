"""What is answered without Litestar is answered as Litestar would: to the byte, header by header."""

import re
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest

from gpuaas.api.direct import DIRECT
from gpuaas.api.unit import Direct, Unit, UnitMiddleware
from gpuaas.wire.allocations import Status
from tests.isolation.asgi import Answer, Ask, send
from tests.world import SLICE, Person, World

MISSING = "alloc_00000000000000000000000000"
PLACE = "/api/v1/allocations"
COST = re.compile(rb'"cost_so_far":\{"amount":\{[^}]*\}[^}]*\}')


def reads(id: str, token: str) -> Iterator[tuple[str, Ask]]:
    asks = Ask(method="GET", target=f"{PLACE}/{id}", token=token)
    yield "found", asks
    yield "missing", replace(asks, target=f"{PLACE}/{MISSING}")
    yield "no id", replace(asks, target=f"{PLACE}/")
    yield "a slash behind", replace(asks, target=f"{PLACE}/{id}/")
    yield "a slash inside", replace(asks, target=f"{PLACE}/{id}%2Ftimeline")
    yield "a query nobody asked for", replace(asks, target=f"{PLACE}/{id}?limit=x")
    yield "no token", replace(asks, token="")
    yield "an unknown token", replace(asks, token="gps_unknown")
    yield "no such method", replace(asks, method="PATCH")


def creates(person: Person, other: Person) -> Iterator[tuple[str, Ask]]:
    """None of these makes anything."""
    body = {"sku": SLICE, "ssh_key_ids": [person.key_id], "project_id": person.project_id}
    asks = Ask(method="POST", target=PLACE, token=person.token, headers={"x-idempotency-key": "never kept"})

    def with_body(**fields: object) -> Ask:
        return replace(asks, body=msgspec.json.encode({**body, **fields}), headers={"x-idempotency-key": "k"})

    yield "no body", replace(asks, headers={"x-idempotency-key": "k"})
    yield "no key", replace(with_body(), headers={})
    yield "a key with spaces", replace(with_body(), headers={"x-idempotency-key": "a b"})
    yield "a field nobody knows", with_body(colour="red")
    yield "a count that is none", with_body(gpu_count=0)
    yield "not JSON", replace(asks, body=b"{", headers={"x-idempotency-key": "k"})
    yield "an unknown SKU", with_body(sku="nothing")
    yield "a key of somebody else's", with_body(ssh_key_ids=[other.key_id])
    yield "a project of somebody else's", with_body(project_id=other.project_id)
    yield (
        "a project in the header",
        replace(with_body(project_id=None), headers={"x-idempotency-key": "k", "x-project-id": other.project_id}),
    )
    yield "more than there is", with_body(gpu_count=8, count=64)
    yield "no token", replace(with_body(), token="")


async def differing(world: World, asks: Iterator[tuple[str, Ask]], direct: dict[tuple[str, str], Direct]) -> list[str]:
    """The cases in which the two ways do not say the same."""
    without = UnitMiddleware(world._routes, world.services)
    beside = UnitMiddleware(world._routes, world.services, direct)
    found = []
    for says, ask in asks:
        asked = replace(ask, headers={**ask.headers, "x-correlation-id": "the-same"})
        answers = [without_cost(await send(app, asked)) for app in (without, beside)]
        if answers[0] != answers[1]:
            found.append(f"{says}: {answers[0]} / {answers[1]}")
    return found


def without_cost(answer: Answer) -> Answer:
    """The cost so far grows between two reads."""
    body, found = COST.subn(b'"cost_so_far":null', answer.body)
    headers = (
        tuple((name, value) for name, value in answer.headers if name != "content-length") if found else answer.headers
    )
    return replace(answer, body=body, headers=headers)


async def test_reads_say_the_same_both_ways(world: World) -> None:
    ada, bob = world.ada, await world.sign_up("bob")
    for status in (Status.ACTIVE, Status.RELEASED):
        id = await world.allocation(status)
        for person in (ada, bob, world.operator):
            assert await differing(world, reads(id, person.token), DIRECT) == []


async def test_an_expired_token_is_told_so_both_ways(world: World) -> None:
    id = await world.allocation(Status.REQUESTED)
    world.clock.advance(days=400)
    assert await differing(world, reads(id, world.ada.token), DIRECT) == []
    answer = await send(world.app, Ask(method="GET", target=f"{PLACE}/{id}", token=world.ada.token))
    assert (answer.status, answer.json()["code"]) == (401, "token_expired")


async def test_refused_creates_say_the_same_both_ways(world: World) -> None:
    bob = await world.sign_up("bob")
    assert await differing(world, creates(world.ada, bob), DIRECT) == []


@pytest.mark.parametrize("first", [{}, DIRECT], ids=["Litestar first", "direct first"])
async def test_a_create_is_answered_again_the_same_both_ways(
    world: World, first: dict[tuple[str, str], Direct]
) -> None:
    await world.nodes.add()
    body = {"sku": SLICE, "ssh_key_ids": [world.ada.key_id]}
    headers = {"x-idempotency-key": "once", "x-correlation-id": "the-same"}
    ask = Ask(method="POST", target=PLACE, token=world.ada.token, body=msgspec.json.encode(body), headers=headers)
    made = await send(UnitMiddleware(world._routes, world.services, first), ask)
    assert made.status == 202
    again = [await send(UnitMiddleware(world._routes, world.services, way), ask) for way in ({}, DIRECT)]
    assert again[0] == again[1]
    assert (again[0].body, again[0].header("idempotency-replayed")) == (made.body, "true")


async def test_a_way_that_forgets_a_check_is_found(world: World) -> None:
    """The planted bug: somebody wrote the hot route a second time, and left the fence out."""
    id, bob = await world.allocation(Status.ACTIVE), await world.sign_up("bob")

    async def unchecked(_: Unit, id: str) -> object:
        return await world.get(id)

    place = ("GET", f"{PLACE}/")
    planted = {place: replace(DIRECT[place], answer=unchecked)}
    assert any("found" in case for case in await differing(world, reads(id, bob.token), planted))
