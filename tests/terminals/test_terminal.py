"""A terminal from its token to its end, over real sockets: control plane, agent, engine in memory."""

import asyncio
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.allocations import Status
from gpuaas.wire.identity import Role
from gpuaas.wire.terminals import WINDOW, Error, Exit
from tests import peek
from tests.live import agent, eventually, serving
from tests.terminals.browsers import browsing, dialled, mint
from tests.terminals.conftest import Place, active


async def test_what_is_typed_is_shown(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        assert (await browser.session()).session_id.startswith("term_")
        await browser.type("hello there")
        await browser.shows("hello there")


async def test_a_shell_that_ends_tells_its_code(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        await browser.type("exit 7\n")
        assert await browser.ended() == (1000, Exit(code=7))
    listed = (await place.world.http.get(f"/api/v1/allocations/{place.allocation_id}/terminals")).json()["items"]
    assert [(each["exit_code"], each["reason"]) for each in listed] == [(7, "the shell ended with code 7")]


async def test_the_window_of_the_browser_is_the_size_of_the_terminal(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        await browser.resize(cols=132, rows=43)
        await browser.type("stty size\n")
        await browser.shows("43 132\n")


async def test_a_token_works_once(place: Place) -> None:
    minted = await mint(place.world.ada, place.allocation_id)
    async with dialled(place.url, place.allocation_id, minted["token"]) as browser:
        await browser.session()
    async with dialled(place.url, place.allocation_id, minted["token"]) as browser:
        assert await browser.ended() == (4401, None)


async def test_of_all_who_use_a_token_at_once_one_gets_in(place: Place) -> None:
    token = (await mint(place.world.ada, place.allocation_id))["token"]

    async def attempt() -> bool:
        async with dialled(place.url, place.allocation_id, token) as browser:
            await browser.type("exit 0\n")
            return (await browser.ended())[0] != 4401

    assert sum(await asyncio.gather(*(attempt() for _ in range(8)))) == 1


async def test_a_token_that_is_late_made_up_or_of_another_machine_opens_nothing(place: Place) -> None:
    world = place.world
    other = await active(world, (await world.submit()).raise_for_status().json()["allocations"][0]["id"])
    late = (await mint(world.ada, place.allocation_id))["token"]
    await peek.plant(world.db, "update terminal_tickets set expires_at = now() - interval '1 second'")
    elsewhere = (await mint(world.ada, other))["token"]
    for token in (late, elsewhere, "gpx_made-up", "x", world.ada.token):
        async with dialled(place.url, place.allocation_id, token) as browser:
            assert await browser.ended() == (4401, None)
    missing = other[:-4] + "0000"
    async with dialled(place.url, missing, elsewhere) as browser:
        assert await browser.ended() == (4401, None)


async def test_a_ticket_dies_with_the_session_that_minted_it(place: Place) -> None:
    token = (await mint(place.world.ada, place.allocation_id))["token"]
    (await place.world.http.post("/api/v1/auth/logout")).raise_for_status()
    async with dialled(place.url, place.allocation_id, token) as browser:
        assert await browser.ended() == (4401, None)


async def test_another_sites_page_is_refused_before_anything_is_looked_at(place: Place) -> None:
    token = (await mint(place.world.ada, place.allocation_id))["token"]
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"{place.url}.evil.example"):
        with pytest.raises(InvalidStatus):
            async with dialled(place.url, place.allocation_id, token, origin=origin):
                pass
    async with dialled(place.url, place.allocation_id, token, origin=place.url) as browser:  # not used up by them
        await browser.session()


async def test_a_cut_terminal_lives_on_and_loses_nothing(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        session = await browser.session()
        await browser.type("before\n")
        await browser.shows("before\n")
        browser.socket.transport.abort()
    async with browsing(place.world, place.url, place.allocation_id, session_id=session.session_id) as again:
        resumed = await again.session()
        assert (resumed.session_id, resumed.resumed) == (session.session_id, True)
        await again.shows("before\n")
        await again.type("after\n")
        await again.shows("before\nafter\n")


async def test_whoever_attaches_last_has_it(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as first:
        id = (await first.session()).session_id
        async with browsing(place.world, place.url, place.allocation_id, session_id=id) as second:
            await second.type("mine\n")
            await second.shows("mine\n")
            code, last = await first.ended()
            assert (code, last.reattach) == (4409, False)


async def test_all_that_a_flood_shows_arrives(place: Place) -> None:
    size = 8 * WINDOW
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        await browser.type(f"flood {size}\n")
        await browser.shows(b"\n")
        start = browser.seen.index(b"\n") + 1
        while len(browser.seen) < start + size:
            await browser.next()
        assert bytes(browser.seen[start:]) == bytes(range(256)) * (size // 256)


async def test_a_terminal_in_use_is_a_sign_of_work(place: Place) -> None:
    async def last_use() -> str | None:
        limits = (await place.world.http.get(f"/api/v1/allocations/{place.allocation_id}/limits")).json()
        signal: str | None = next(one["last_at"] for one in limits["signals"] if one["kind"] == "terminal")
        return signal

    async def is_told() -> bool:
        place.world.terminals._use_written = float("-inf")  # else it waits, for the last use was a moment ago
        return await last_use() is not None

    assert await last_use() is None
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        await browser.type("at work\n")
        await browser.shows("at work\n")
        await eventually(is_told)


async def test_a_stalled_reader_holds_the_shell_up_and_no_memory(place: Place) -> None:
    size = 64 * WINDOW
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        session = await browser.session()
        await browser.type(f"flood {size}\n")
        await browser.shows(b"\n")
        async with browsing(place.world, place.url, place.allocation_id) as other:
            await other.type("still quick\n")
            await other.shows("still quick\n")
        start = browser.seen.index(b"\n") + 1
        while len(browser.seen) < start + size:
            await browser.next()
        assert (await browser.session()) == session


@pytest.mark.parametrize("what", ["logout", "release", "member", "handover"])
async def test_a_terminal_ends_with_the_right_to_it_and_says_why(place: Place, what: str) -> None:
    world = place.world
    async with browsing(world, place.url, place.allocation_id) as browser:
        await browser.session()
        match what:
            case "logout":
                (await world.http.post("/api/v1/auth/logout")).raise_for_status()
                why = "you signed out"
            case "release":
                (await world.release(place.allocation_id)).raise_for_status()
                why = "the allocation was released"
            case "member":
                of_ada = f"where user_id = '{world.ada.id}'"
                await peek.plant(world.db, f"delete from project_members {of_ada}")
                await peek.plant(world.db, f"update tenant_members set role = 'member' {of_ada}")
                why = "you are no longer a member of the project"
            case _:
                mate = await world.sign_up("mate")
                await world.join(mate, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
                change = f"update allocations set holder_id = '{mate.id}' where id = '{place.allocation_id}'"
                await peek.plant(world.db, change)
                why = "your access was withdrawn"
        code, last = await browser.ended()
        assert (code, last) == (4410, Error(reason=why))


async def test_a_detached_terminal_is_ended_on_its_node_when_its_reader_signs_out(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        await browser.session()
    (await place.world.http.post("/api/v1/auth/logout")).raise_for_status()

    async def is_ended() -> bool:
        ended = "select ended_at is not null and closed_at is not null from terminals where allocation_id = $1"
        return bool(await place.world.value(ended, place.allocation_id))

    await eventually(is_ended)
    assert not [shell for shell in place.engine.terminals._open[place.allocation_id] if shell.descriptor >= 0]


async def test_a_terminal_that_lived_too_long_ends(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        session = await browser.session()
        age = f"update terminals set created_at = created_at - interval '9 hours' where id = '{session.session_id}'"
        await peek.plant(place.world.db, age)
        assert (await browser.ended()) == (4410, Error(reason="a terminal stays open for at most 8 hours"))


async def test_an_agent_that_goes_takes_its_terminals_with_it_and_they_are_told(migrated: str, tmp_path: Path) -> None:
    engine = FakeEngine(clock=SystemClock().now)
    async with serving(migrated, tmp_path) as (world, url):
        await world.furnish()
        async with agent(world, url, tmp_path / "node", engine):
            id = (await world.submit()).raise_for_status().json()["allocations"][0]["id"]
            await active(world, id)
            async with browsing(world, url, id) as browser:
                session = await browser.session()
        async with agent(world, url, tmp_path / "node", engine):

            async def is_closed() -> bool:
                return bool(await world.value("select closed_at is not null from terminals"))

            await eventually(is_closed)
            answer = await world.http.post(
                f"/api/v1/allocations/{id}/terminal-token", json={"session_id": session.session_id}
            )
            assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
            assert (await world.get(id)).status is Status.ACTIVE


async def test_a_machine_that_is_shared_is_entered_and_the_door_shut_with_the_grant(place: Place) -> None:
    world, grants = place.world, f"/api/v1/allocations/{place.allocation_id}/access-grants"
    mate = await world.sign_up("guest")
    await world.join(mate, world.ada, project=Role.MEMBER, tenant=Role.MEMBER)
    refused = await mate.http.post(f"/api/v1/allocations/{place.allocation_id}/terminal-token", json={})
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_permissions")
    granted = await world.http.post(grants, json={"user_id": mate.id, "ssh_key_id": mate.key_id})
    async with browsing(world, place.url, place.allocation_id, mate) as browser:
        await browser.session()
        (await world.http.delete(f"{grants}/{granted.raise_for_status().json()['id']}")).raise_for_status()
        assert await browser.ended() == (4410, Error(reason="your access was withdrawn"))


async def test_ten_tokens_a_minute_and_then_a_wait(place: Place) -> None:
    path = f"/api/v1/allocations/{place.allocation_id}/terminal-token"
    answers = [await place.world.http.post(path, json={}) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [201] * 10 + [429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
    minted = "select count(*) from audit where action = 'terminal.mint' and actor = $1"
    assert await place.world.value(minted, place.world.ada.id) == 10


async def test_a_terminal_stands_in_the_list_of_who_is_in(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        session = await browser.session()
        listed = await place.world.http.get(f"/api/v1/allocations/{place.allocation_id}/sessions")
        items = listed.raise_for_status().json()["items"]
        assert [(one["id"], one["kind"], one["email"]) for one in items] == [
            (session.session_id, "terminal", place.world.ada.email)
        ]


async def test_a_terminal_is_ended_from_that_list_and_its_reader_is_told(place: Place) -> None:
    async with browsing(place.world, place.url, place.allocation_id) as browser:
        session = await browser.session()
        path = f"/api/v1/allocations/{place.allocation_id}/sessions/{session.session_id}"
        answer = await place.world.http.request("DELETE", path)
        assert answer.status_code == 202, answer.text
        code, last = await browser.ended()
        assert (code, last) == (4410, Error(reason="ended on request"))
        assert (await place.world.http.request("DELETE", path)).status_code == 404
