"""What the kernel said of environments with one init: kept once, by activations that do not wait for each other."""

import asyncpg

from gpuaas.domain.skus import store
from gpuaas.wire.environments import Confinement, Init
from tests.world import World

FOUND = Confinement(namespaces=("pid", "user"), network="own", no_new_privileges=True, seccomp="filter")
OTHER = Confinement(namespaces=("pid",), network="own", no_new_privileges=False)
LOCK = "select init from confinements for update nowait"


async def keep(world: World, found: Confinement, node_id: str) -> None:
    async with world.db.write() as tx:
        await store.keep_confinement(tx, Init.PLAIN, found, node_id, world.clock.now())


async def kept(world: World) -> dict[str, Confinement]:
    async with world.db.read() as tx:
        return await store.confinements(tx)


async def test_what_is_known_already_locks_nothing(world: World) -> None:
    node = await world.nodes.add()
    await keep(world, FOUND, node.id)
    beside = await asyncpg.connect(world.dsn)
    try:
        async with world.db.write() as tx:
            await store.keep_confinement(tx, Init.PLAIN, FOUND, node.id, world.clock.now())
            assert [row["init"] for row in await beside.fetch(LOCK)] == ["plain"]
    finally:
        await beside.close()


async def test_what_is_new_replaces_what_was_known(world: World) -> None:
    node = await world.nodes.add()
    for found in (FOUND, OTHER):
        await keep(world, found, node.id)
        assert await kept(world) == {"plain": found}
