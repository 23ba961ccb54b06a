"""The previous landing runs beside this code on one database, as it does while a release is rolled out."""

from pathlib import Path

from gpuaas.domain.invariants import store as invariants
from tests.live import serving
from tests.upgrade import people
from tests.upgrade.landings import Landing
from tests.world import World


async def violations(world: World) -> list[str]:
    async with world.services.worker_db.read() as tx:
        return [f"{rule.kind}: {found}" for rule in invariants.RULES for found in await invariants.find(tx, rule)]


async def test_old_and_new_servers_share_a_database_and_each_others_nodes(
    previous: Landing, migrated: str, tmp_path: Path
) -> None:
    async with (
        serving(migrated, tmp_path) as (world, new),
        previous.server(migrated, tmp_path, tmp_path / "log") as old,
    ):
        await world.furnish()
        ada, operator = world.ada, world.operator
        nodes = [("of-old", old), ("of-new", new)]
        node_ids = {await people.enrol(url, operator.token, tmp_path / name) for name, url in nodes}
        async with (
            previous.agent(tmp_path / "of-old", tmp_path / "agent.log"),
            people.new_agent(tmp_path / "of-new"),
            people.client(old, ada.token) as by_old,
            people.client(new, ada.token) as by_new,
        ):
            ids = [await people.create(http, ada, name=f"a{n}") for n, http in enumerate([by_old, by_new] * 2)]
            assert {(await world.get(id)).node_id for id in ids} == node_ids
            for id, asks, reads in zip(ids, [by_new, by_old] * 2, [by_old, by_new] * 2, strict=True):
                await people.restart(asks, id)
                assert (await people.shown(reads, id))["status"] == "active"
                assert await people.phases(reads, id) == await people.phases(asks, id)
            for id, asks in zip(ids, [by_new, by_old] * 2, strict=True):
                await people.release(asks, id)
        assert await violations(world) == []
