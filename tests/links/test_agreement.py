"""A node is online if its link stands, and offline if not, whatever the database and other replicas went through."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import peek
from tests.isolation.machines import Machine, enrol
from tests.links.wires import URL, dial, is_online, linked, plant_fault
from tests.live import eventually
from tests.world import World, world_on

ROWS = "select count(*) from links"
OLD_ROW = "insert into links values ($1, $2, 0, now() - interval '1 hour')"
STALL = "update replicas set seen_at = seen_at - interval '1 minute' where id = $1"


@pytest.fixture
async def other(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A second replica."""
    async with world_on(world.dsn, tmp_path) as made:
        yield made


@pytest.fixture
async def machine(world: World) -> Machine:
    return await enrol(world, "machine")


async def check_in(world: World) -> None:
    await world.links.check_in(URL)


def replica_of(world: World) -> str:
    return world.links._replica_id


async def test_a_replica_that_was_taken_for_dead_lets_its_nodes_dial_again(
    world: World, other: World, machine: Machine
) -> None:
    wire = await linked(other, machine)
    await check_in(other)
    await peek.plant(world.db, STALL, replica_of(other))
    await check_in(world)
    assert not await is_online(world, machine)
    assert wire.closed is None
    await check_in(other)
    await wire.ended()
    assert wire.closed == (4410, "replaced by another link")
    again = await linked(other, machine)
    assert await is_online(world, machine)
    await again.hang_up()


async def test_a_link_that_counts_is_left_alone(world: World, other: World, machine: Machine) -> None:
    wire = await linked(world, machine)
    for _ in range(2):
        world.clock.advance(minutes=1)
        await check_in(world)
        await check_in(other)
    assert wire.closed is None
    assert await is_online(world, machine)
    await wire.hang_up()
    assert not await is_online(world, machine)


async def test_a_link_whose_node_dialled_another_replica_is_cut(world: World, other: World, machine: Machine) -> None:
    await check_in(other)
    stale, wire = await linked(world, machine), await linked(other, machine)
    await check_in(world)
    await stale.ended()
    assert (stale.closed, wire.closed) == ((4410, "replaced by another link"), None)
    assert await is_online(world, machine)
    await wire.hang_up()


async def test_a_link_lost_while_the_database_was_away_is_closed_when_it_is_back(
    world: World, machine: Machine
) -> None:
    wire = await linked(world, machine)
    await plant_fault(world, "away", "delete on links", "57P03", 1)
    await wire.hang_up()
    assert await is_online(world, machine)
    world.clock.advance(seconds=31)
    await check_in(world)
    assert not await is_online(world, machine)
    assert await world.value(ROWS) == 0


async def test_a_link_that_broke_before_its_welcome_leaves_nothing_behind(world: World, machine: Machine) -> None:
    wire = await dial(world, machine, takes=1)
    await wire.ended()
    assert await world.value(ROWS) == 0
    assert not await is_online(world, machine)


async def test_a_replica_that_died_before_it_ever_said_it_lives_keeps_no_links(world: World, machine: Machine) -> None:
    await (await linked(world, machine)).hang_up()
    await peek.plant(world.db, "update nodes set offline_since = null")
    await peek.plant(world.db, OLD_ROW, machine.id, "replica_unborn")
    await check_in(world)
    assert await world.value(ROWS) == 0
    assert await world.value("select now() - offline_since > interval '59 minutes' from nodes")


async def test_a_link_that_is_being_opened_is_given_its_time(world: World, machine: Machine) -> None:
    young = "insert into links values ($1, $2, 0, $3)"
    await peek.plant(world.db, young, machine.id, replica_of(world), world.clock.now())
    await check_in(world)
    assert await world.value(ROWS) == 1
    world.clock.advance(seconds=31)
    await check_in(world)
    assert await world.value(ROWS) == 0


async def test_of_two_links_of_one_node_the_later_stays(world: World, machine: Machine) -> None:
    first, second = await linked(world, machine), await linked(world, machine)

    async def is_replaced() -> bool:
        return first.closed == (4409, "replaced by a newer link")

    await eventually(is_replaced)
    await first.ended()
    assert (second.closed, world.links.count) == (None, 1)
    assert await is_online(world, machine)
    await second.hang_up()
