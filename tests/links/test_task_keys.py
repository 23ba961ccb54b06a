"""Rotation of the keys that sign tasks: nodes follow over their links, no task is refused for its key."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from gpuaas.agent import identity
from gpuaas.core.clock import SystemClock
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.link import Refused, Result, Task, TaskStatus
from gpuaas.wire.spares import WantedSpares
from gpuaas.wire.task_keys import StatementBody, TaskKeyStatement, TrustedKey, TrustedKeys
from tests.agent.task_key_statements import ATTACKER
from tests.isolation.machines import Machine, enrol
from tests.links.test_key_rotation import token_of
from tests.links.wires import Wire, dial, linked, task_of, writing
from tests.live import agent, eventually, serving
from tests.overview.test_exposition import local
from tests.world import World, database, world_on

KEYS = "/api/v1/admin/task-keys"
GENERATION = "select task_key_generation from nodes where id = $1"
REFUSED = "select count(*) from node_tasks where status = 'refused'"


async def rotate(world: World, reason: str = "yearly") -> int:
    made = await world.operator.http.post(KEYS, json={"reason": reason})
    return int(made.raise_for_status().json()["generation"])


async def retire(world: World, generation: int, *, force: bool = False) -> httpx.Response:
    body = {"reason": "yearly", "force": force}
    return await world.operator.http.post(f"{KEYS}/{generation}/retire", json=body)


async def listed(world: World) -> dict[int, dict[str, Any]]:
    found = (await world.operator.http.get(KEYS)).raise_for_status().json()["items"]
    return {key["generation"]: key for key in found}


def trusted(world: World, *generations: int) -> list[TrustedKey]:
    keys = [world.services.task_keys.signer(number).verifier for number in generations]
    return [TrustedKey(generation=key.generation, id=key.id) for key in keys]


async def stated(world: World, wire: Wire, *, by: int) -> StatementBody:
    """The next statement, whose signer it checks."""
    said = await wire.heard(TaskKeyStatement)
    assert said.signer == world.services.task_keys.signer(by).verifier.id
    return msgspec.msgpack.decode(said.body, type=StatementBody)


async def accept(world: World, wire: Wire, machine: Machine, *generations: int) -> None:
    """The node says what it trusts, and the database has it."""
    wire.say(TrustedKeys(keys=trusted(world, *generations)))

    async def is_written() -> bool:
        return bool(await world.value(GENERATION, machine.id) == generations[-1])

    async with writing(world):
        await eventually(is_written)


@pytest.fixture
async def machine(world: World) -> Machine:
    return await enrol(world, "rotating")


@pytest.fixture
async def other(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A second replica, without loops: it hears nothing of what the first does until it checks in."""
    async with world_on(world.dsn, tmp_path) as made:
        yield made


async def test_a_link_is_signed_with_the_new_key_only_after_its_node_has_accepted_it(
    world: World, machine: Machine
) -> None:
    wire = await linked(world, machine, trusts=trusted(world, 1))
    assert await rotate(world) == 2
    said = await stated(world, wire, by=1)
    assert (said.generation, said.public_key, said.oldest) == (2, world.services.task_keys.signer(2).public_key, 1)
    _, task_id = await task_of(world)
    await world.links.dispatch.take([machine.id])
    assert (await wire.heard(Task)).signer == world.services.task_keys.signer(1).verifier.id
    await accept(world, wire, machine, 1, 2)
    wire.say(Result(task_id=task_id, status=TaskStatus.FAILED, at=world.clock.now(), reason="planted"))
    async with writing(world):
        await eventually(lambda: is_ended(world, task_id))
    await world.nodes.reconcile()
    await task_of(world)
    await world.links.dispatch.take([machine.id])
    assert (await wire.heard(Task)).signer == world.services.task_keys.signer(2).verifier.id
    await wire.hang_up()


async def is_ended(world: World, task_id: str) -> bool:
    return await world.value("select ended_at from node_tasks where id = $1", task_id) is not None


async def test_a_retirement_reaches_nodes_signed_with_the_new_key(world: World, machine: Machine) -> None:
    wire = await linked(world, machine, trusts=trusted(world, 1))
    await rotate(world)
    await stated(world, wire, by=1)
    await accept(world, wire, machine, 1, 2)
    (await retire(world, 1)).raise_for_status()
    assert (await stated(world, wire, by=2)).oldest == 2
    await wire.hang_up()
    assert await world.value("select array_agg(action order by id) from audit where target_kind = 'task_key'") == [
        "task_key.rotate",
        "task_key.retire",
    ]


async def test_the_other_replica_learns_at_its_check_in_at_the_latest(
    world: World, other: World, machine: Machine
) -> None:
    wire = await linked(other, machine, trusts=trusted(world, 1))
    await rotate(world)
    await other.links.check_in("http://other")
    assert (await stated(world, wire, by=1)).generation == 2
    await wire.hang_up()


async def test_an_agent_that_does_not_follow_is_told_once_per_link(world: World, machine: Machine) -> None:
    await rotate(world)
    wire = await linked(world, machine)
    await stated(world, wire, by=1)
    await wire.heard(WantedSpares)
    for _ in range(3):
        wire.say(TrustedKeys(keys=trusted(world, 1)))
        await world.links.check_in("http://here")
    await asyncio.sleep(0)
    assert wire.is_drained
    await wire.hang_up()


async def test_retiring_names_the_nodes_that_would_be_cut_off_and_changes_nothing(
    world: World, machine: Machine
) -> None:
    await rotate(world)
    refused = await retire(world, 1)
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["facts"]["nodes"]) == (409, "nodes_missing", ["rotating"])
    assert "rotating" in problem["detail"]
    keys = await listed(world)
    assert (keys[1]["retired_at"], keys[2]["missing"], keys[2]["nodes_missing"]) == (None, ["rotating"], 1)
    metrics = (await local(world).get("/metrics")).text
    assert "gpuaas_nodes_behind_task_key 1.0" in metrics
    assert (await retire(world, 2)).status_code == 409, "the current key"
    assert (await retire(world, 7)).status_code == 404


async def test_a_forced_retirement_cuts_off_nodes_and_says_what_to_do(world: World, machine: Machine) -> None:
    wire = await linked(world, machine, trusts=trusted(world, 1))
    await rotate(world)
    await stated(world, wire, by=1)
    (await retire(world, 1, force=True)).raise_for_status()
    await wire.ended()
    assert wire.closed == (4410, "its task key is retired")
    again = await dial(world, machine, trusts=trusted(world, 1))
    assert "gpuaas agent rotate-key" in (await again.heard(Refused)).reason
    await again.ended()
    assert again.closed == (4401, "refused")
    audited = await world.value("select facts from audit where action = 'task_key.retire'")
    assert (audited["force"], audited["missing"]) == (True, ["rotating"])


async def test_a_node_that_enrols_after_a_rotation_starts_with_the_current_key(world: World) -> None:
    await rotate(world)
    machine = await enrol(world, "late")
    assert await world.value(GENERATION, machine.id) == 2
    (await retire(world, 1)).raise_for_status()
    wire = await linked(world, machine)  # an older agent, which does not say what it trusts
    assert wire.closed is None
    await wire.hang_up()


async def test_a_generation_that_the_database_lost_is_known_again_from_a_node(world: World, machine: Machine) -> None:
    wire = await linked(world, machine, trusts=trusted(world, 2, 3))
    await wire.hang_up()
    assert sorted(await listed(world)) == [1, 2, 3]
    recovered = "select count(*) from audit where action = 'task_key.recover'"
    assert await world.value(recovered) == 2
    assert await rotate(world) == 4


async def test_a_key_of_somebody_else_is_never_signed_with_nor_taken_for_a_generation(
    world: World, machine: Machine
) -> None:
    foreign = ATTACKER.signer(9).verifier
    named = TrustedKey(generation=9, id=foreign.id)
    wire = await linked(world, machine, trusts=[*trusted(world, 1), named])
    assert world.links.keys.signer(world.links._links[machine.id]).verifier.generation == 1
    await wire.hang_up()
    assert sorted(await listed(world)) == [1]
    alone = await dial(world, machine, trusts=[named])
    await alone.heard(Refused)
    await alone.ended()
    assert alone.closed == (4401, "refused")


# With real agents


def engine() -> FakeEngine:
    return FakeEngine(clock=SystemClock().now, gpus=2)


async def active(world: World) -> str:
    id = str((await world.submit()).raise_for_status().json()["allocations"][0]["id"])

    async def is_active() -> bool:
        shown = await world.seen(id)
        assert shown["status"] != "failed", shown["status_reason"]
        return bool(shown["status"] == "active")

    await eventually(is_active)
    return id


async def released(world: World, id: str) -> None:
    await world.release(id)

    async def is_released() -> bool:
        return bool((await world.seen(id))["status"] == "released")

    await eventually(is_released)


async def nobody_misses(world: World, generation: int) -> None:
    async def holds() -> bool:
        return bool((await listed(world))[generation]["nodes_missing"] == 0)

    await eventually(holds)


async def test_two_replicas_and_their_agents_switch_while_tasks_flow(tmp_path: Path) -> None:
    async with (
        database() as dsn,
        serving(dsn, tmp_path) as (world, url),
        serving(dsn, tmp_path) as (second, other_url),
    ):
        await world.furnish()
        async with (
            agent(world, url, tmp_path / "node-a", engine()) as a,
            agent(world, other_url, tmp_path / "node-b", engine()) as b,
        ):
            stop, made = asyncio.Event(), list[str]()

            async def keep_busy() -> None:
                while not stop.is_set():
                    made.append(await active(world))
                    await released(world, made[-1])

            async with asyncio.TaskGroup() as group:
                group.create_task(keep_busy())
                for generation in (2, 3):
                    assert await rotate(world) == generation
                    await nobody_misses(world, generation)
                    (await retire(world, generation - 1)).raise_for_status()
                    done = len(made)

                    async def has_worked_since(done: int = done) -> bool:
                        return len(made) > done + 1

                    await eventually(has_worked_since)
                stop.set()
            links = {**world.links._links, **second.links._links}

            async def trust_only_the_newest() -> bool:
                return {links[a].generations, links[b].generations} == {(3,)}

            await eventually(trust_only_the_newest)
            assert await world.value(REFUSED) == 0


async def test_a_node_that_was_offline_catches_up_and_one_that_was_cut_off_is_brought_back(tmp_path: Path) -> None:
    async with database() as dsn, serving(dsn, tmp_path) as (world, url):
        await world.furnish()
        folder, same = tmp_path / "node", engine()
        async with agent(world, url, folder, same):
            kept = await active(world)
        await rotate(world)
        await rotate(world)
        async with agent(world, url, folder, same):
            await nobody_misses(world, 3)
            (await retire(world, 2)).raise_for_status()
            await active(world)
        await rotate(world, "generation 3 leaked")
        (await retire(world, 3, force=True)).raise_for_status()
        node_id = identity.load(folder).node_id
        await identity.rotate_key(folder, await token_of(world, node_id))
        async with agent(world, url, folder, same):
            await nobody_misses(world, 4)
            await released(world, kept)
        assert await world.value(REFUSED) == 0
