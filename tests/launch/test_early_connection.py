"""Where a client may connect before its allocation is active: told at submit, from what its node reported last."""

from typing import Any

from gpuaas.domain.capacity.spares import store as spares
from gpuaas.domain.node_messages.cleaning import cleaned_spares
from gpuaas.wire.allocations import Status
from gpuaas.wire.spares import Spare, SpareReport
from tests.fleet import Node
from tests.world import WHOLE, World

LIES = ((22, "ssh-ed25519 AAAA\n* ssh-ed25519 BBBB"), (22, "; reboot"), (0, ""), (70_000, "ssh-rsa A"))


async def with_spares(world: World) -> tuple[Node, SpareReport]:
    """A node that keeps what the server wants of it, and has reported it."""
    node = await world.nodes.add()
    node.spares._most = 8
    async with world.db.read() as tx:
        await node.spares.want((await spares.wanted(tx, [node.id]))[node.id])
    while await node.spares.keep():
        pass
    return node, await report(world, node, await node.spares.report())


async def report(world: World, node: Node, told: SpareReport) -> SpareReport:
    async with world.db.write() as tx:
        await spares.observed(tx, {node.id: cleaned_spares(told)})
    return told


async def created(world: World, **fields: Any) -> dict[str, Any]:
    answer = await world.submit(**fields)
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()["allocations"][0]
    return found


async def shown(world: World, id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await world.http.get(f"/api/v1/allocations/{id}")).raise_for_status().json()
    return found


async def test_a_submit_says_where_its_spare_waits_and_the_node_confirms_it(world: World) -> None:
    _, told = await with_spares(world)
    made = await created(world)
    early = made["early_connection"]
    assert made["connection"] is None
    slot = (await shown(world, made["id"]))["slots"][0]["index"]
    (spare,) = [one for one in told.ready if one.slots == (slot,)]
    assert (early["port"], early["host_key"]) == (spare.port, spare.host_key)
    assert (await shown(world, made["id"]))["early_connection"] == early

    await world.nodes.settle()
    active = await shown(world, made["id"])
    assert active["status"] == Status.ACTIVE
    assert (active["early_connection"], active["connection"]) == (None, early)


async def test_without_a_spare_of_its_size_nothing_is_said(world: World) -> None:
    node, told = await with_spares(world)
    larger = [Spare(id=one.id, slots=one.slots, port=one.port, host_key=one.host_key) for one in told.ready]
    await report(world, node, SpareReport(ready=tuple(larger)))
    assert (await created(world))["early_connection"] is None


async def test_a_spare_of_one_of_several_slots_is_not_the_whole(world: World) -> None:
    await with_spares(world)
    assert (await created(world, sku=WHOLE, gpu_count=8))["early_connection"] is None


async def test_a_node_whose_report_is_out_of_date_is_believed_only_until_the_allocation_is_active(world: World) -> None:
    node, _ = await with_spares(world)
    node.spares._ready.clear()
    made = await created(world)
    assert made["early_connection"] is not None
    await world.nodes.settle()
    active = await shown(world, made["id"])
    assert active["early_connection"] is None
    assert active["connection"]["host_key"] != made["early_connection"]["host_key"]


async def test_a_node_cannot_make_people_run_a_command_of_its_own(world: World) -> None:
    node, told = await with_spares(world)
    for port, host_key in LIES:
        lies = [Spare(**{**fields(one), "port": port, "host_key": host_key}) for one in told.ready]
        await report(world, node, SpareReport(ready=tuple(lies)))
        assert (await created(world))["early_connection"] is None


def fields(one: Spare) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Spare.__struct_fields__}
