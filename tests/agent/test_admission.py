"""Tasks that must not be followed: each is answered, none reaches the engine, and its true twin is done."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from gpuaas.agent.admission import UNREAD
from gpuaas.core.secrets import MasterKey, TaskSigner
from gpuaas.wire.link import Result, Task, TaskStatus
from gpuaas.wire.tasks import EnsureEnvironment, RemoveEnvironment, TaskKind
from tests.agent.link_server import NOON
from tests.agent.world import SIGNER, World, body, ensure, remove, spec, world_in

STRANGER = TaskSigner(MasterKey(b"s" * 32))
TRUE = body("t1", TaskKind.ENSURE, EnsureEnvironment(spec=spec("alloc_a")), "alloc_a", 1)
SKEWS = [timedelta(minutes=-10), timedelta(0), timedelta(minutes=10)]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with world_in(tmp_path) as world:
        yield world


def altered(task: Task, **fields: object) -> Task:
    return msgspec.structs.replace(task, **fields)


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (altered(SIGNER.sign(TRUE), body=TRUE.replace(b"ada", b"eve")), "bad signature"),
        (altered(SIGNER.sign(TRUE), signature=bytes(64)), "bad signature"),
        (altered(SIGNER.sign(TRUE), signature=b""), "bad signature"),
        (altered(STRANGER.sign(TRUE), signer=SIGNER.verifier.id), "bad signature"),
        (STRANGER.sign(TRUE), "unknown signer"),
        (SIGNER.sign(b"\xc1 not msgpack"), "malformed task"),
        (SIGNER.sign(msgspec.msgpack.encode({"id": "t1"})), "malformed task"),
        (SIGNER.sign(body("t", TaskKind.REMOVE, None, "a", 1, expires_at=NOON.replace(tzinfo=None))), "malformed task"),
    ],
)
async def test_bytes_that_cannot_be_trusted_are_refused_unread(world: World, task: Task, reason: str) -> None:
    async with world.agent():
        await world.server.say(task)
        refused = await world.server.result(UNREAD)
        await assert_nothing_was_done(world)
        await world.server.give("t1", SIGNER.sign(TRUE))
        assert (await world.server.result("t1")).status is TaskStatus.DONE
    assert (refused.status, refused.reason) == (TaskStatus.REFUSED, reason)


WANTS = EnsureEnvironment(spec=spec("alloc_a"))


@pytest.mark.parametrize(
    ("signed", "reason"),
    [
        (body("t", TaskKind.ENSURE, WANTS, "alloc_a", 1, node_id="node_other"), "not for this node"),
        (body("t", "agent.self_destruct", WANTS, "alloc_a", 1), "unknown kind"),
        (body("t", TaskKind.ENSURE, RemoveEnvironment(), "alloc_a", 1), "malformed task"),
        (body("t", TaskKind.ENSURE, WANTS, "alloc_b", 1), "malformed task"),
        (body("t", TaskKind.ENSURE, WANTS, "alloc_a", 1, boot=2), "malformed task"),
        (body("t", TaskKind.REMOVE, RemoveEnvironment(), None, 1), "malformed task"),
    ],
)
async def test_a_task_that_is_not_meant_for_here_is_refused(world: World, signed: bytes, reason: str) -> None:
    async with world.agent():
        await world.server.say(SIGNER.sign(signed))
        refused = await world.server.result("t")
        await assert_nothing_was_done(world)
        await world.server.give("t1", SIGNER.sign(TRUE))
        assert (await world.server.result("t1")).status is TaskStatus.DONE
    assert (refused.status, refused.reason) == (TaskStatus.REFUSED, reason)


@pytest.mark.parametrize("skew", SKEWS)
async def test_expiry_is_judged_by_the_servers_time_whatever_the_nodes_clock_says(
    world: World, skew: timedelta
) -> None:
    world.clock.wall = NOON + skew
    async with world.agent():
        await world.server.say(ensure("late", expires_at=NOON))
        late = await world.server.result("late")
        await assert_nothing_was_done(world)
        await world.server.give("t1", ensure("t1", expires_at=NOON + timedelta(milliseconds=1)))
        in_time = await world.server.result("t1")
    assert (late.status, late.at) == (TaskStatus.EXPIRED, NOON)
    assert (in_time.status, in_time.at) == (TaskStatus.DONE, NOON)


async def test_the_servers_time_goes_on_while_the_link_is_up(world: World) -> None:
    async with world.agent():
        world.clock.ticks += 90
        await world.server.say(ensure("late", expires_at=NOON + timedelta(seconds=89)))
        late = await world.server.result("late")
        await world.server.give("t1", ensure("t1", expires_at=NOON + timedelta(seconds=91)))
        in_time = await world.server.result("t1")
    assert (late.status, in_time.status) == (TaskStatus.EXPIRED, TaskStatus.DONE)
    assert in_time.at == NOON + timedelta(seconds=90)


async def test_a_task_already_done_is_answered_also_after_its_expiry(world: World) -> None:
    world.server.acknowledges = False
    async with world.agent():
        await world.server.give("t1", ensure("t1"))
        done = await world.server.result("t1")
        world.clock.ticks += 3600
        await world.server.say(ensure("t1"))
        assert await world.server.result("t1", nth=2) == done
    assert world.engine.calls == ["start", "ensure alloc_a"]


async def test_a_removal_that_came_too_late_does_not_forbid_the_environment(world: World) -> None:
    """The twin of `a removed environment is never made again`: only a removal that was taken forbids."""
    async with world.agent():
        world.clock.ticks += 120
        await world.server.say(remove("t2"))
        assert (await world.server.result("t2")).status is TaskStatus.EXPIRED
        await world.server.give("t3", ensure("t3", seq=3, expires_at=NOON + timedelta(minutes=3)))
        assert (await world.server.result("t3")).status is TaskStatus.DONE


async def assert_nothing_was_done(world: World) -> None:
    assert world.engine.calls == ["start"]
    assert world.engine.here == {}
    assert len(world.server.all(Result)) == 1
