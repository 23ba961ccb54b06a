"""What a recorded terminal showed can be read again, byte for byte, by those who may."""

import base64
import json
import random
from functools import partial
from typing import TYPE_CHECKING, cast

import httpx
import pytest
from litestar.testing import RequestFactory

from gpuaas.api.terminals import get_recording
from gpuaas.core.errors import Problem
from gpuaas.domain.terminals.recordings import complete, shown
from gpuaas.wire.identity import Role
from tests import peek
from tests.live import eventually
from tests.terminals.browsers import Browser, browsing
from tests.terminals.conftest import Place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def bytes_of(cast: bytes) -> bytes:
    """As a reader would: an event of kind `b` gives the exact bytes of the `o` after it."""
    lines = [json.loads(line) for line in cast.splitlines()]
    assert lines[0]["version"] == 2
    exact, out = None, b""
    for _, kind, text in lines[1:]:
        if kind == "b":
            exact = base64.b64decode(text)
        elif kind == "o":
            out += exact if exact is not None else text.encode()
            exact = None
    return out


async def recording(place: Place, session_id: str, http: httpx.AsyncClient | None = None) -> httpx.Response:
    path = f"/api/v1/allocations/{place.allocation_id}/terminals/{session_id}/recording"
    return await (http or place.world.http).get(path)


async def settled(place: Place, browser: Browser) -> None:
    async def is_kept() -> bool:
        recorded = "select max(recorded_bytes) from terminals where allocation_id = $1"
        return bool(await place.world.value(recorded, place.allocation_id) >= len(browser.seen))

    await eventually(is_kept)


async def holds(place: Place, session_id: str, text: bytes) -> bool:
    return text in bytes_of((await recording(place, session_id)).content)


async def test_a_recording_is_what_was_shown_to_the_byte(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id, record=True) as browser:
        session = await browser.session()
        assert session.recorded
        await browser.type("žluťoučký 🐎\n")
        await browser.shows("🐎\n")
        await browser.type("flood 512000\n")  # every byte there is, so no text
        await browser.shows("512000\n")
        while len(browser.seen) < 512_000:
            await browser.next()
        await settled(place, browser)
    answer = await recording(place, session.session_id)
    assert answer.headers["content-type"].startswith("application/x-asciicast")
    assert bytes_of(answer.content) == bytes(browser.seen)


async def test_a_recording_goes_on_where_it_was_cut(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id, record=True) as browser:
        session = await browser.session()
        await browser.type("before\n")
        await browser.shows("before\n")
        browser.socket.transport.abort()
    async with browsing(place.world, place.url, place.allocation_id, session_id=session.session_id) as again:
        await again.type("after\n")
        await again.shows("after\n")
        await settled(place, again)
    assert bytes_of((await recording(place, session.session_id)).content) == bytes(again.seen)


async def test_of_a_server_that_dies_a_moment_is_lost_and_the_rest_stands_in_its_place(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id, record=True) as browser:
        session = await browser.session()
        await browser.type("kept\n")
        await browser.shows("kept\n")
        await settled(place, browser)
        before = bytes(browser.seen)
    await peek.plant(place.world.db, "delete from recording_chunks where id = (select max(id) from recording_chunks)")
    async with browsing(place.world, place.url, place.allocation_id, session_id=session.session_id) as again:
        await again.type("later\n")
        await again.shows("later\n")
        await settled(place, again)
    found = bytes_of((await recording(place, session.session_id)).content)
    assert found == before + b"later\n"  # the agent still had them, and gave them again


async def test_a_recording_is_for_the_holder_and_those_who_lead(place: Place) -> None:
    world = place.world
    member, leader, stranger = [await world.sign_up(name) for name in ("member", "leader", "stranger")]
    await world.join(member, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    await world.join(leader, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    async with browsing(world, place.url, place.allocation_id, record=True) as browser:
        id = (await browser.session()).session_id
    statuses = [(await recording(place, id, who.http)).status_code for who in (world.ada, leader, member, stranger)]
    assert statuses == [200, 200, 403, 404]
    read = "select count(*) from audit where action = 'recording.read' and actor = any($1)"
    assert await world.value(read, [who.id for who in (world.ada, leader, member, stranger)]) == 2


async def test_a_recording_ends_with_the_role_of_its_reader(place: Place) -> None:
    world = place.world
    reader = await world.sign_up("reader")
    await world.join(reader, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    async with browsing(world, place.url, place.allocation_id, record=True) as browser:
        id = (await browser.session()).session_id
        await browser.type("secret\n")
        await browser.shows("secret\n")
        await settled(place, browser)
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {reader.token}"})
    answer = await get_recording.fn(place.allocation_id, id, request, world.services)
    body = cast("AsyncIterator[bytes]", answer.iterator)
    assert b"version" in await anext(body)
    (await world.http.delete(f"/api/v1/projects/{world.ada.project_id}/members/{reader.id}")).raise_for_status()
    with pytest.raises(Problem):
        await anext(body)
    assert world.services.streams.count(reader.id) == 0


async def test_a_project_that_records_records_every_terminal_and_says_so_first(place: Place) -> None:
    world = place.world
    path, audited = f"/api/v1/projects/{world.ada.project_id}", "select count(*) from audit where action = $1"
    before = await world.value(audited, "project.change")
    async with browsing(world, place.url, place.allocation_id) as browser:
        open_already = await browser.session()
        assert (open_already.recorded, open_already.notice) == (False, "")
        changed = (await world.http.patch(path, json={"record_terminals": True})).raise_for_status().json()
        assert (changed["record_terminals"], await world.value(audited, "project.change")) == (True, before + 1)
    for back_into in (None, open_already.session_id):
        async with browsing(world, place.url, place.allocation_id, session_id=back_into) as again:
            said = await again.session()
            assert (said.recorded, "of this project" in said.notice) == (True, True)
            await again.type("kept\n")
            await again.shows("kept\n")
        await eventually(partial(holds, place, said.session_id, b"kept"))
    (await world.http.patch(path, json={"record_terminals": False})).raise_for_status()
    async with browsing(world, place.url, place.allocation_id) as browser:
        assert (await browser.session()).recorded is False


async def test_only_those_who_lead_say_what_a_project_records(place: Place) -> None:
    world = place.world
    member, leader, stranger = [await world.sign_up(name) for name in ("minna", "lea", "stella")]
    await world.join(member, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    await world.join(leader, world.ada, project=Role.ADMIN, tenant=Role.MEMBER)
    path = f"/api/v1/projects/{world.ada.project_id}"
    answers = [await who.http.patch(path, json={"record_terminals": False}) for who in (leader, member, stranger)]
    assert [answer.status_code for answer in answers] == [200, 403, 404]


async def test_what_was_not_recorded_has_no_recording(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        id = (await browser.session()).session_id
    answer = await recording(place, id)
    assert (answer.status_code, answer.json()["code"]) == (404, "recording_not_found")


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_cut_anywhere_come_back(seed: int) -> None:
    dice = random.Random(seed)
    whole = b"".join(
        dice.choice(["a", "é", "語", "🐎"]).encode() if dice.random() < 0.7 else dice.randbytes(2) for _ in range(300)
    )
    cast, rest, place = b'{"version": 2}\n', b"", 0
    while place < len(whole):
        size = dice.randint(1, 9)
        data = rest + whole[place : place + size]
        place += size
        cut = complete(data)
        cast += b"".join(shown(0.0, data[:cut]))
        rest = data[cut:]
    cast += b"".join(shown(0.0, rest))
    assert bytes_of(cast) == whole
