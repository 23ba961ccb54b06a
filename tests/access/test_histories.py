"""Whatever an owner and members do, in whatever order: the machine lets in exactly who was granted."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import asyncssh
import pytest

from gpuaas.main.agent import oci
from tests.access.histories import History, members
from tests.engines.benches import place
from tests.live import agent, eventually, serving
from tests.world import Person, World, database, furnished

NAMES = ("bob", "cyd", "dan")
PORTS = range(28_640, 28_660)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for the oci engine")
Keys = dict[str, asyncssh.SSHKey]
FORGETFUL = "create or replace function render_keyset(allocation text) returns void language sql as 'select'"


def line(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode()


def new_keys() -> Keys:
    return {name: asyncssh.generate_private_key("ssh-ed25519") for name in ("ada", *NAMES)}


async def installed(world: World, id: str) -> set[str]:
    """Whose keys the machine was given."""
    await world.nodes.settle()
    node = world.node_of(await world.get(id))
    return {key.user_id for key in node.environments[id].keys.keys}


async def as_owner(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def live_through(folder: Path, seed: int, steps: int) -> None:
    async with furnished(folder) as world:
        people = await members(world, {name: line(key) for name, key in new_keys().items() if name != "ada"})
        history = History(world, people, await world.allocation(), random.Random(seed))
        for _ in range(0, steps, 3):
            await history.live(3)
            assert await installed(world, history.id) == history.model.admitted, history.told


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_random_history_leaves_exactly_who_was_granted(tmp_path: Path, seed: int) -> None:
    await live_through(tmp_path, seed, 24)


async def test_a_set_that_is_not_rendered_anew_is_seen(tmp_path: Path) -> None:
    """The twin: a revoke that forgets the machine."""
    async with furnished(tmp_path) as world:
        people = await members(world, {"bob": line(new_keys()["bob"])})
        history = History(world, people, await world.allocation(), random.Random(1))
        while not history.model.granted:
            await history.grant(people["bob"])
            await history.use_key(people["bob"])
        assert await installed(world, history.id) == history.model.admitted
        await as_owner(world.dsn, FORGETFUL)
        await history.revoke(people["bob"])
        assert await installed(world, history.id) != history.model.admitted


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
async def test_random_histories_leave_exactly_who_was_granted(tmp_path: Path, seed: int) -> None:
    await live_through(tmp_path, seed, 60)


class Door:
    """A real machine, and the keys of everybody who may knock."""

    def __init__(self, world: World, id: str, people: dict[str, Person], keys: Keys) -> None:
        self.world, self.id, self.people, self._keys = world, id, people, keys

    async def admits(self) -> set[str]:
        """Who is let in by the door itself, once the machine was seen to have the newest set."""

        async def is_installed() -> bool:
            shown = await self.world.http.get(f"/api/v1/allocations/{self.id}/ssh-keys")
            return bool(shown.json()["installed"])

        await eventually(is_installed)
        where = (await self.world.seen(self.id))["connection"]
        known = asyncssh.import_known_hosts(where["known_hosts"] + "\n")
        everybody = {"ada": self.world.ada, **self.people}
        let_in = await asyncio.gather(*(self._lets_in(where, known, self._keys[name]) for name in everybody))
        return {person.id for person, is_in in zip(everybody.values(), let_in, strict=True) if is_in}

    async def _lets_in(self, where: dict[str, str], known: asyncssh.SSHKnownHosts, key: asyncssh.SSHKey) -> bool:
        try:
            async with asyncssh.connect(
                where["host"],
                int(where["port"]),
                username=where["username"],
                client_keys=[key],
                known_hosts=known,
                host_key_alias=self.id,
                config=None,
                agent_path=None,
            ) as connection:
                return (await connection.run("true")).exit_status == 0
        except asyncssh.PermissionDenied:
            return False


@asynccontextmanager
async def door(folder: Path) -> AsyncIterator[Door]:
    keys = new_keys()
    async with database() as dsn, serving(dsn, folder) as (world, url):
        await world.furnish()
        people = await members(world, {name: line(keys[name]) for name in NAMES})
        mine = await world.http.post("/api/v1/ssh-keys", json={"title": "mine", "public_key": line(keys["ada"])})
        with place(0) as node:
            async with agent(world, url, node / "node-a", oci(node / "node-a", gpus=1, ports=PORTS)):
                submitted = await world.submit(ssh_key_ids=[mine.raise_for_status().json()["id"]])
                id = str(submitted.raise_for_status().json()["allocations"][0]["id"])

                async def is_up() -> bool:
                    return bool((await world.seen(id))["status"] == "active")

                async def is_gone() -> bool:
                    return (await world.get(id)).released_at is not None

                await eventually(is_up)
                try:
                    yield Door(world, id, people, keys)
                finally:
                    await world.release(id)
                    await eventually(is_gone)


async def knock(folder: Path, seeds: range, steps: int) -> None:
    async with door(folder) as at:
        history = History(at.world, at.people, at.id, random.Random(seeds[0]))
        for seed in seeds:
            history.source, history.told = random.Random(seed), []
            await history.live(steps)
            assert await at.admits() == history.model.admitted, (seed, history.told)


@needs_root
async def test_a_live_door_lets_in_exactly_who_was_granted(tmp_path: Path) -> None:
    await knock(tmp_path, range(5), 6)


@needs_root
@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 2000, 250))
async def test_over_a_thousand_histories_a_live_door_lets_in_exactly_who_was_granted(
    tmp_path: Path, first: int
) -> None:
    await knock(tmp_path, range(first, first + 250), 8)
