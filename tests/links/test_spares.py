"""Which environments a node prepares in advance, as its link tells it, and what it reports of them."""

import pytest
from msgspec.structs import replace

from gpuaas.engines.fake_images import FIRST
from gpuaas.wire.images import ImageReport
from gpuaas.wire.spares import Spare, SpareReport, WantedSpares
from tests.isolation.machines import Machine, enrol
from tests.links.wires import linked, writing
from tests.live import eventually
from tests.world import World

SIZE = """
    select z.vcpus, z.memory_mib from skus k join sku_sizes z on z.sku = k.sku and z.gpu_count = 1
    where k.shape = 'gpu_slice' and k.gpu_family = 'h200' order by k.key, z.position limit 1
"""
NODES = "/api/v1/admin/nodes"


@pytest.fixture
async def machine(world: World) -> Machine:
    return await enrol(world, "prepared")


async def test_a_node_prepares_for_the_slots_that_may_be_sold(world: World, machine: Machine) -> None:
    wire = await linked(world, machine)
    wanted = (await wire.heard(WantedSpares)).forms
    assert [[slot.index for slot in form.slots] for form in wanted] == [[0], [1]]
    assert {form.vcpus for form in wanted} == {await world.value(SIZE)}
    world.links.announce_changes()

    await world.operator.http.post(f"{NODES}/{machine.id}/slots/0/disable", json={"reason": "broken"})
    world.links.announce_changes()
    assert [form.slots[0].index for form in (await wire.heard(WantedSpares)).forms] == [1]
    await wire.hang_up()


async def test_a_node_drained_while_its_link_was_down_is_told_to_keep_no_spares(world: World, machine: Machine) -> None:
    """Its agent keeps what an earlier link told it until a link tells it otherwise."""
    wire = await linked(world, machine)
    assert (await wire.heard(WantedSpares)).forms
    await wire.hang_up()
    (await world.operator.http.post(f"{NODES}/{machine.id}/drain", json={"reason": "fans"})).raise_for_status()
    wire = await linked(world, machine)
    assert (await wire.heard(WantedSpares)).forms == []
    await wire.hang_up()


async def test_operators_see_the_spares_and_the_base_image_that_a_node_reported(world: World, machine: Machine) -> None:
    wire = await linked(world, machine)
    told = SpareReport(ready=(Spare(id="spare-1", slots=(0,)),), used=3, discarded=1, detail="it ended")
    wire.say(told)
    wire.say(ImageReport(image=replace(FIRST, version="two", failure="E: Failed to fetch")))

    async def shown() -> bool:
        node = (await world.operator.http.get(f"{NODES}/{machine.id}")).raise_for_status().json()
        spares, image = node["spares"], node["image"]
        is_ready = bool(spares and spares["discarded"] == 1 and spares["ready"][0]["slots"] == [0])
        return is_ready and bool(image and (image["version"], image["failure"]) == ("two", "E: Failed to fetch"))

    async with writing(world):
        await eventually(shown)
    await wire.hang_up()
