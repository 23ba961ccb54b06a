"""Messages that one node sends, or does not read, never stop those of others."""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from structlog.testing import capture_logs

from gpuaas.domain.tasks.store import ENTRIES_KEPT, LOG_LINES_KEPT
from gpuaas.links.messages import UNWRITTEN
from gpuaas.wire.environments import Environment, EnvironmentState
from gpuaas.wire.link import Ack, LogLines, Progress, Report, Result, TaskStatus, Up
from gpuaas.wire.storage import Backend, PresentVolume, VolumeOwnership, VolumeReport, WritePolicy
from tests.isolation.machines import Machine, encode, enrol
from tests.links.wires import linked, plant_fault, task_of, writing
from tests.live import eventually
from tests.world import World

UNKNOWN = "select unknown_environments from nodes where id = $1"
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)


@pytest.fixture
async def machines(world: World) -> list[Machine]:
    return [await enrol(world, name) for name in ("first", "second", "third")]


def result(world: World, task_id: str = "task_of_nobody") -> Result:
    return Result(task_id=task_id, status=TaskStatus.FAILED, at=world.clock.now())


def without_zone(message: Up) -> bytes:
    said = msgspec.msgpack.decode(encode(message))
    return msgspec.msgpack.encode({**said, "at": "2026-01-01T00:00:00"})


async def test_a_message_without_a_time_zone_is_unreadable_and_the_link_goes_on(
    world: World, machines: list[Machine]
) -> None:
    wire = await linked(world, machines[0])
    await task_of(world)
    async with writing(world):
        now = world.clock.now()
        wire.say(without_zone(Report(environments=[], at=now)))
        wire.say(without_zone(Progress(task_id="t", phase="p", note="", at=now)))
        wire.say(without_zone(LogLines(task_id="t", first_seq=1, lines=[], at=now)))
        wire.say(without_zone(result(world)), result(world))
        assert (await wire.heard(Ack)).task_ids == ["task_of_nobody"]
    await wire.hang_up()


UNREADABLE = Environment(allocation_id="\x00", state=EnvironmentState.RUNNING, boot=1)
UNKEEPABLE = PresentVolume(
    volume_id="vol_unknown",
    backend=Backend.LOCAL,
    quota="none",
    ownership=VolumeOwnership(
        tenant_id="ten_none",
        project_id="prj_none",
        name="\x00",
        size_gib=1,
        backend=Backend.LOCAL,
        write_policy=WritePolicy.SINGLE_WRITER,
        protected=False,
        snapshot_id=None,
        created_by="usr_none",
        created_at=BEGINNING,
    ),
)


@pytest.mark.parametrize(
    ("poison", "drops"),
    [
        (Report(environments=[], at=BEGINNING), 0),
        (Report(environments=[UNREADABLE], at=BEGINNING), 0),  # it is cleaned
        (VolumeReport(volumes=[UNKEEPABLE], at=BEGINNING), 1),
        (LogLines(task_id="TASK", first_seq=1 << 62, lines=["x"], at=BEGINNING), 0),  # past the lines that are kept
        (LogLines(task_id="TASK", first_seq=-(1 << 62), lines=["x"], at=BEGINNING), 0),
        (Progress(task_id="TASK", phase="\x00", note="", at=BEGINNING), 0),
        (Result(task_id="TASK", status=TaskStatus.FAILED, at=BEGINNING, reason="\x00"), 0),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_message_that_cannot_be_written_is_dropped_alone(
    world: World, machines: list[Machine], poison: Up, drops: int
) -> None:
    wire = await linked(world, machines[0])
    _, task_id = await task_of(world)
    others = [await linked(world, machine) for machine in machines[1:]]
    if not isinstance(poison, Report | VolumeReport):
        poison = msgspec.structs.replace(poison, task_id=task_id)
    with capture_logs() as logs:
        for other in others:
            other.say(result(world))
        wire.say(poison, result(world, task_id))
        async with writing(world) as task:
            for each in (wire, *others):
                await each.heard(Ack)
            assert not task.done()
    dropped = [line for line in logs if line["event"] == "link.message_dropped"]
    assert len(dropped) == drops
    assert await world.value("select status from node_tasks where id = $1", task_id) == "failed"
    for each in (wire, *others):
        await each.hang_up()


async def test_a_message_that_the_database_never_writes_in_time_is_dropped_alone_and_its_link_is_cut(
    world: World, machines: list[Machine]
) -> None:
    evil, good = await linked(world, machines[0]), await linked(world, machines[1])
    await plant_fault(world, "slowness", "update on nodes", "57014", 1_000)
    stranger = Environment(allocation_id="alloc_stranger", state=EnvironmentState.RUNNING, boot=1)
    with capture_logs() as logs:
        evil.say(Report(environments=[stranger], at=world.clock.now()))
        good.say(result(world))
        async with writing(world):
            await good.heard(Ack)
            await evil.ended()
    dropped = [(line["node"], line["kind"]) for line in logs if line["event"] == "link.message_dropped"]
    assert dropped == [(machines[0].id, "Report")]
    await good.hang_up()


async def test_a_message_that_is_slow_once_is_written_and_its_link_goes_on(
    world: World, machines: list[Machine]
) -> None:
    wire = await linked(world, machines[0])
    await plant_fault(world, "slowness", "update on nodes", "57014", 1)
    stranger = Environment(allocation_id="alloc_stranger", state=EnvironmentState.RUNNING, boot=1)
    async with writing(world):
        wire.say(Report(environments=[stranger], at=world.clock.now()), result(world))
        await wire.heard(Ack)
    assert await world.value(UNKNOWN, machines[0].id) == ["alloc_stranger"]
    await wire.hang_up()


async def test_a_node_cannot_fill_the_history_of_a_task(world: World, machines: list[Machine]) -> None:
    wire = await linked(world, machines[0])
    _, task_id = await task_of(world)
    now = world.clock.now()
    async with writing(world):
        for first in (-5_000, 0, LOG_LINES_KEPT - 1):
            wire.say(LogLines(task_id=task_id, first_seq=first, lines=["x"] * 5_000, at=now))
        for number in range(3):
            moments = [now - timedelta(seconds=number, microseconds=one) for one in range(ENTRIES_KEPT)]
            wire.say(*[Progress(task_id=task_id, phase="p", note="", at=at) for at in moments])
            wire.say(result(world))
            await wire.heard(Ack)
    assert await world.value("select count(*) from task_logs where task_id = $1", task_id) == LOG_LINES_KEPT
    kept = await world.value("select count(*) from timeline_entries where phase = 'p'")
    assert ENTRIES_KEPT / 2 < kept < 2 * ENTRIES_KEPT
    await wire.hang_up()


async def test_a_message_that_lost_a_race_is_written_after_a_pause_and_not_called_dropped(
    world: World, machines: list[Machine]
) -> None:
    wire = await linked(world, machines[0])
    await plant_fault(world, "crowd", "update on nodes", "40P01", 3)
    stranger = Environment(allocation_id="alloc_stranger", state=EnvironmentState.RUNNING, boot=1)

    async def is_written() -> bool:
        return list(await world.value(UNKNOWN, machines[0].id)) == ["alloc_stranger"]

    with capture_logs() as logs:
        async with writing(world):
            wire.say(Report(environments=[stranger], at=world.clock.now()))
            await eventually(is_written)
    assert [line for line in logs if line["event"] == "link.message_dropped"] == []
    shown = (await world.operator.http.get(f"/api/v1/admin/nodes/{machines[0].id}")).json()
    assert shown["unknown_environments"] == ["alloc_stranger"]
    await wire.hang_up()


async def test_acknowledgements_do_not_wait_for_each_other(world: World, machines: list[Machine]) -> None:
    *stuck, healthy = [await linked(world, machine) for machine in machines]
    for wire in stuck:
        wire.is_free.clear()
        wire.say(result(world))
    await asyncio.sleep(0)
    healthy.say(result(world))
    async with writing(world):
        await healthy.heard(Ack)
        assert [wire.closed for wire in stuck] == [None] * len(stuck)  # none of them was waited for
        for wire in stuck:
            await wire.ended()
            assert wire.closed == (4408, "does not accept messages")
    await healthy.hang_up()


async def test_a_link_that_is_not_read_because_the_writer_is_behind_is_not_silent(
    world: World, machines: list[Machine]
) -> None:
    silent, blocked = await linked(world, machines[0]), await linked(world, machines[1])
    beyond = encode(Progress(task_id="t", phase="p", note="", at=world.clock.now()))
    blocked.say(*[beyond] * (UNWRITTEN + 1))

    async def is_full() -> bool:
        return any(link.is_waiting for link in world.links._links.values())

    await eventually(is_full)
    world.clock.advance(minutes=1)
    sweep = asyncio.ensure_future(world.links.sweep())
    await silent.ended()
    assert (silent.closed, blocked.closed, world.links.count) == ((4408, "silent"), None, 1)
    sweep.cancel()
    await asyncio.gather(sweep, return_exceptions=True)
    assert blocked.running
    blocked.running.cancel()
    await asyncio.gather(blocked.running, return_exceptions=True)
