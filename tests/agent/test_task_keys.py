"""An agent learns a new task key over its link, keeps it, and follows nothing that a retired key has signed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gpuaas.wire.link import Task, TaskStatus
from gpuaas.wire.task_keys import TrustedKeys
from gpuaas.wire.tasks import RemoveEnvironment, TaskKind
from tests.agent.link_server import eventually
from tests.agent.task_key_statements import KEYRING, as_enrolled, generations, rotated, statement
from tests.agent.world import World, body, ensure, world_in


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with world_in(tmp_path) as made:
        yield made


def removal(id: str, generation: int, *, seq: int) -> Task:
    return KEYRING.signer(generation).sign(body(id, TaskKind.REMOVE, RemoveEnvironment(), "alloc_a", seq))


async def told(world: World, *wanted: int) -> None:
    """The agent said that it trusts these generations."""

    def holds() -> bool:
        answers = [one for one in world.server.heard if isinstance(one, TrustedKeys)]
        return bool(answers) and [key.generation for key in answers[-1].keys] == list(wanted)

    await eventually(holds)


def test_the_newest_key_adds_a_generation_and_retires_old_ones() -> None:
    verifiers = as_enrolled().after(statement(1, 2))
    assert generations(verifiers) == [1, 2]
    assert generations(verifiers.after(statement(2, 2, oldest=2))) == [2]
    assert generations(as_enrolled().after(statement(1, 5))) == [1, 5], "generations between may be skipped"
    assert generations(rotated()) == [3]


def test_a_statement_that_comes_again_changes_nothing() -> None:
    once = rotated()
    assert generations(once.after(statement(3, 3, oldest=3))) == [3]


async def test_a_new_key_signs_tasks_as_soon_as_the_agent_says_so(world: World) -> None:
    async with world.agent():
        assert [key.generation for key in world.server.hellos[-1].trusted_keys] == [1]
        await world.server.give("t1", ensure("t1"))
        assert (await world.server.result("t1")).status is TaskStatus.DONE
        await world.server.say(statement(1, 2))
        await told(world, 1, 2)
        await world.server.give("t2", removal("t2", 2, seq=2))
        assert (await world.server.result("t2")).status is TaskStatus.DONE
        await world.server.say(statement(2, 2, oldest=2))
        await told(world, 2)
        await world.server.say(removal("t3", 1, seq=3))
        refused = await world.server.result("")
        assert (refused.status, refused.reason) == (TaskStatus.REFUSED, "signed with a retired key")


async def test_what_is_trusted_and_what_is_retired_survives_a_restart(world: World) -> None:
    async with world.agent():
        await world.server.say(statement(1, 2))
        await told(world, 1, 2)
        await world.server.say(statement(2, 2, oldest=2))
        await told(world, 2)
    async with world.agent():
        assert [key.generation for key in world.server.hellos[-1].trusted_keys] == [2]


async def test_a_task_taken_before_its_key_was_retired_is_done_after_a_restart(world: World) -> None:
    gate = world.engine.gates["ensure"]
    gate.shut()
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        await eventually(gate.reached.is_set)
        await world.server.say(statement(1, 2))
        await told(world, 1, 2)
        await world.server.say(statement(2, 2, oldest=2))
        await told(world, 2)
    gate.open()
    async with world.agent():
        assert (await world.server.result("t1")).status is TaskStatus.DONE


async def test_a_refused_statement_is_answered_with_what_is_still_trusted(world: World) -> None:
    async with world.agent():
        await world.server.say(statement(7, 8))
        await told(world, 1)
