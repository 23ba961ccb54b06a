"""A thief of one node's key rewrites what everybody reads about the isolation of environments."""

import asyncio
from typing import Any

from msgspec.structs import replace

from gpuaas.domain.skus import store
from gpuaas.wire.environments import Init, Isolation
from gpuaas.wire.link import Result, TaskStatus
from tests.attacks.stolen_key import opening, running, said
from tests.isolation.machines import enrol
from tests.links.wires import task_of
from tests.world import World

HONEST = Isolation(
    namespaces=("pid", "mount"),
    uid=1,
    network="own",
    no_new_privileges=False,
    seccomp="filter",
    capabilities=("CAP_KILL",),
)
LIE = replace(HONEST, namespaces=(), seccomp="strict")
LONG = "x" * 100_000


async def keep(world: World, node_id: str, found: Isolation) -> None:
    async with world.db.write() as tx:
        await store.keep_confinement(tx, Init.PLAIN, found, node_id, world.clock.now())


async def shown(world: World) -> tuple[Any, list[str]]:
    sku = (await world.http.get("/api/v1/skus")).raise_for_status().json()["items"][0]
    return sku["confinement"].get("plain"), sku["confinement_differs"]


async def test_only_what_all_active_nodes_agree_on_is_shown(world: World) -> None:
    nodes = [(await world.nodes.add()).id for _ in range(3)]
    assert await shown(world) == (None, [])
    for node_id in nodes[:2]:
        await keep(world, node_id, HONEST)
    agreed, differing = await shown(world)
    assert (agreed["namespaces"], agreed["seccomp"], differing) == (["pid", "mount"], "filter", [])
    await keep(world, nodes[2], LIE)
    assert await shown(world) == (None, ["plain"])
    place = f"/api/v1/admin/nodes/{nodes[2]}/quarantine"
    (await world.operator.http.post(place, json={"reason": "stolen"})).raise_for_status()
    assert await shown(world) == (agreed, [])


async def test_activations_on_two_nodes_do_not_wait_for_each_other(world: World) -> None:
    first, second = [(await world.nodes.add()).id for _ in range(2)]
    for node_id in (first, second):
        await keep(world, node_id, HONEST)
    async with world.db.write() as tx:
        await store.keep_confinement(tx, Init.PLAIN, LIE, first, world.clock.now())
        async with asyncio.timeout(10):
            await keep(world, second, LIE)


async def test_names_and_counts_of_an_isolation_are_cut(world: World) -> None:
    many = tuple(f"{number}{LONG}" for number in range(1000))
    reasons = dict.fromkeys(many, LONG)
    endless = Isolation(
        namespaces=many,
        capabilities=many,
        limits=reasons,
        missing=reasons,
        uid=1 << 62,
        network=LONG,
        seccomp=LONG,
        no_new_privileges=True,
    )
    async with opening(world, await enrol(world, "robbed")) as linked:
        wire = await linked("thief")
        allocation_id, task_id = await task_of(world)
        made = replace(running(allocation_id), isolation=endless)
        result = Result(task_id=task_id, status=TaskStatus.DONE, at=world.clock.now(), environment=made)
        await said(world, wire, result)
        await world.nodes.reconcile()
    assert (await world.seen(allocation_id))["status"] == "active"
    assert await world.value("select max(octet_length(isolation::text)) from allocations") < 100_000
    assert await world.value("select max(octet_length(confinement::text)) from node_confinements") < 30_000
