"""A terminal's socket opens to a fresh ticket of its own machine, and an agent's stream to the secret it was given."""

from collections.abc import AsyncIterator

import pytest

from tests.isolation.asgi import Socket
from tests.isolation.ledger import changes, ledger
from tests.isolation.town import TENANTS, Town, founded
from tests.live import eventually

SUBPROTOCOL = "gpuaas.terminal.v1"
Refusal = tuple[object, ...]


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with founded(tmp_path_factory.mktemp("town")) as made:
        yield made


async def refusal(socket: Socket) -> Refusal:
    seen: list[object] = []
    while (message := await socket.next())["type"] not in ("websocket.close", "ended"):
        seen.append((message["type"], message.get("subprotocol"), message.get("bytes"), message.get("text")))
    return (*seen, message["type"], message.get("code"), message.get("reason"))


async def minted(town: Town, name: str) -> str:
    path = f"/api/v1/allocations/{town.things[name, 'allocation']}/terminal-token"
    answer = await town.world.people[name].http.post(path, json={})
    return str(answer.raise_for_status().json()["token"])


def offers(town: Town, tokens: dict[str, str]) -> dict[str, tuple[str, list[str]]]:
    """Whose machine is dialled, with what."""
    ada, bob = town.things["ada", "allocation"], town.things["bob", "allocation"]
    missing = town.missing("allocation")
    return {
        "nothing offered": (ada, []),
        "no token": (ada, [SUBPROTOCOL]),
        "a token without the subprotocol": (ada, [tokens["ada"]]),
        "made up": (ada, [SUBPROTOCOL, "gpx_made-up"]),
        "a session's token": (ada, [SUBPROTOCOL, town.world.ada.token]),
        "another tenant's ticket on one's machine": (ada, [SUBPROTOCOL, tokens["bob"]]),
        "one's ticket on another tenant's machine": (bob, [SUBPROTOCOL, tokens["ada"]]),
        "one's ticket on no machine": (missing, [SUBPROTOCOL, tokens["ada"]]),
        "NUL": (ada, [SUBPROTOCOL, "gpx_\x00"]),
        "half a pair": (ada, [SUBPROTOCOL, "gpx_\udc80"]),
        "a machine named NUL": ("\x00", [SUBPROTOCOL, tokens["ada"]]),
    }


async def test_whoever_has_no_ticket_of_that_machine_sees_the_same_as_for_none(town: Town) -> None:
    tokens = {name: await minted(town, name) for name in ("ada", "bob")}
    before = await ledger(town.world.dsn)
    seen: dict[Refusal, list[str]] = {}
    for name, (allocation_id, offered) in offers(town, tokens).items():
        socket = Socket(town.app, f"/api/v1/terminal/{allocation_id}", subprotocols=offered)
        told = tuple(part for part in await refusal(socket) if not isinstance(part, tuple))
        seen.setdefault(told, []).append(name)
    assert list(seen) == [("websocket.close", 4401, "refused")], seen
    assert changes(before, await ledger(town.world.dsn)) == []


async def test_a_stream_nobody_asked_for_is_refused(town: Town) -> None:
    for stream_id in ("stream_01", "\x00", "x" * 1000):
        for secret in ("", "made up", "\udc80"):
            socket = Socket(town.app, f"/internal/v1/streams/{stream_id}", subprotocols=["gpuaas.stream.v1", secret])
            assert (await refusal(socket))[-3:] == ("websocket.close", 4401, "refused")


async def test_the_same_dial_with_the_right_ticket_is_let_in(town: Town) -> None:
    """So the refusals above are no blindness."""
    token, before = await minted(town, "ada"), await ledger(town.world.dsn)
    path = f"/api/v1/terminal/{town.things['ada', 'allocation']}"
    known = [town.things[name, "terminal"] for name in TENANTS]
    socket = Socket(town.app, path, subprotocols=[SUBPROTOCOL, token])
    assert (await socket.next())["type"] == "websocket.accept"

    async def is_open() -> bool:
        return bool(await town.world.value("select exists (select from terminals where id <> all($1))", known))

    await eventually(is_open)
    assert {"terminals", "terminal_tickets", "audit"} <= set(changes(before, await ledger(town.world.dsn)))
    await socket.hang_up()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://gpuaas.test.evil.example"])
async def test_another_sites_page_is_turned_away_unheard(town: Town, origin: str) -> None:
    token = await minted(town, "ada")
    path = f"/api/v1/terminal/{town.things['ada', 'allocation']}"
    socket = Socket(town.app, path, subprotocols=[SUBPROTOCOL, token], headers={"origin": origin})
    assert (await socket.next())["type"] == "websocket.close"
