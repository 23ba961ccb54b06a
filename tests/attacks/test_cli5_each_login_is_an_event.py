"""CLI5: of quick logins only those were seen that happened to stand when the agent looked."""

from pathlib import Path

from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.engines.logins import Logins
from gpuaas.wire.environments import Connection
from tests.live import agent, eventually, serving
from tests.world import World, database

STRAY = "SHA256:" + "s" * 43
PHASES = ("ssh_login", "ssh_logout", "unknown_key_login", "unknown_key_logout")


async def logins(world: World, allocation_id: str) -> list[tuple[str, str]]:
    """Phase and connection of each login and logout on the timeline."""
    told = [entry for entry in await world.timeline(allocation_id) if entry.phase in PHASES]
    return sorted((entry.phase, str(entry.evidence["session"])) for entry in told)


async def come_and_go(engine: FakeEngine, allocation_id: str, fingerprint: str) -> list[tuple[str, str]]:
    """Five logins, over before anybody looks; what the timeline has to say of them."""
    connections = [engine.log_in(allocation_id, "gpu", fingerprint) for _ in range(5)]
    ids = [one.id for one in connections if one is not None]
    assert len(ids) == 5
    for id in ids:
        await engine.end_connection(allocation_id, id, "bye")
    word = "unknown_key" if fingerprint == STRAY else "ssh"
    return [(f"{word}_{kind}", id) for id in ids for kind in ("login", "logout")]


async def test_every_quick_login_is_told_once_also_when_the_link_is_cut_in_between(tmp_path: Path) -> None:
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        engine = FakeEngine(clock=SystemClock().now, gpus=1)
        async with agent(world, url, tmp_path / "node", engine) as node_id:
            id = str((await world.submit()).json()["allocations"][0]["id"])

            async def is_up() -> bool:
                return bool((await world.seen(id))["status"] == "active")

            await eventually(is_up)
            (known,) = engine.environments[id].keys.keys
            place = f"/api/v1/allocations/{id}/own-keys"
            allowed = await world.http.put(place, json={"allowed": True})
            allowed.raise_for_status()
            engine.environments[id].own_file = {STRAY}

            async def admits_own() -> bool:
                return engine.environments[id].keys.admits_own

            await eventually(admits_own)
            expected = await come_and_go(engine, id, known.fingerprint)
            await world.links.cut(node_id, "cut by the test")
            expected += await come_and_go(engine, id, STRAY)

            async def are_all_told() -> bool:
                return await logins(world, id) == sorted(expected)

            await eventually(are_all_told)

            async def are_all_kept() -> bool:
                return engine.logins.waiting() == []

            await eventually(are_all_kept)
            assert await logins(world, id) == sorted(expected)


def test_logins_that_do_not_fit_are_counted() -> None:
    book, clock = Logins(most=3), SystemClock()
    for number in range(5):
        book.opened(
            Connection(
                id=f"c{number}",
                allocation_id="alloc_a",
                user_id="",
                key_fingerprint=STRAY,
                source="127.0.0.1:1",
                opened_at=clock.now(),
            )
        )
    assert (len(book.waiting()), book.dropped) == (3, 2)
