"""What a look may claim: stopped only after two looks, nothing after a failed one."""

from datetime import timedelta

import msgspec
import pytest

from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.reports import SEEN_ONCE, Reports
from gpuaas.engines.base import EngineError
from gpuaas.wire.environments import Environment, EnvironmentState, Mount
from gpuaas.wire.images import ImageReport
from gpuaas.wire.link import Report, Up
from tests.agent.link_server import NOON
from tests.agent.stand_in import StandInEngine

RUNNING = Environment(
    allocation_id="alloc_a",
    state=EnvironmentState.RUNNING,
    boot=1,
    mounts=(Mount(volume_id="vol_a", mount_path="/data", read_only=False),),
    own_keys=("SHA256:x",),
)
STOPPED = msgspec.structs.replace(RUNNING, state=EnvironmentState.STOPPED, mounts=(), own_keys=None)
UNKNOWN = EnvironmentState.UNKNOWN


class Desk:
    def __init__(self) -> None:
        self.engine, self.outgoing = StandInEngine(), Outgoing()
        self.outgoing.open()
        self.now = NOON
        self.reports = Reports(self.engine, self.outgoing, lambda: self.now, observe_seconds=0.05)

    async def look(self, *here: Environment) -> list[Environment]:
        """What is reported after a look at these; it has to be news."""
        self.engine.here = {one.allocation_id: one for one in here}
        self.now += timedelta(seconds=1)
        await self.reports.look(lambda: 0)
        return [told.environments for told in await self.said() if isinstance(told, Report)][-1]

    async def said(self) -> list[Up]:
        """Everything since the last call."""
        said = []
        while self.outgoing.is_waiting:
            said.append(await self.outgoing.get())
        return said

    async def images(self) -> list[str]:
        """Versions of the current image that a look reports."""
        await self.reports.look(lambda: 0)
        return [told.image.version for told in await self.said() if isinstance(told, ImageReport) and told.image]


@pytest.fixture
async def desk() -> Desk:
    return Desk()


async def test_stopped_is_reported_when_two_looks_in_a_row_saw_it(desk: Desk) -> None:
    assert await desk.look(RUNNING) == [RUNNING]
    (first,) = await desk.look(STOPPED)
    assert (first.state, first.detail, desk.reports.is_unconfirmed) == (UNKNOWN, SEEN_ONCE, True)
    assert await desk.look(STOPPED) == [STOPPED]
    assert not desk.reports.is_unconfirmed


async def test_a_stop_that_the_next_look_does_not_see_never_was_one(desk: Desk) -> None:
    states = [(await desk.look(one))[0].state for one in (STOPPED, RUNNING, STOPPED, RUNNING)]
    assert EnvironmentState.STOPPED not in states


async def test_a_stop_at_another_boot_is_looked_at_twice_too(desk: Desk) -> None:
    await desk.look(STOPPED)
    (other,) = await desk.look(msgspec.structs.replace(STOPPED, boot=2))
    assert other.state is UNKNOWN


@pytest.mark.parametrize("error", [EngineError("the node cannot look", "EMFILE"), OSError(24, "Too many open files")])
async def test_a_look_that_fails_makes_all_unknown_and_none_absent(desk: Desk, error: Exception) -> None:
    await desk.look(RUNNING)
    desk.engine.observe_fails_with = error
    (told,) = await desk.look(RUNNING)
    assert (told.allocation_id, told.state, told.boot) == ("alloc_a", UNKNOWN, 1)
    assert told.detail
    assert (told.mounts, told.own_keys) == ((), None)
    desk.engine.observe_fails_with = None
    assert await desk.look(RUNNING) == [RUNNING]


async def test_a_look_that_takes_too_long_is_a_failed_one(desk: Desk) -> None:
    await desk.look(RUNNING)
    desk.engine.gates["observe"].shut()
    (told,) = await desk.look(RUNNING)
    assert told.state is UNKNOWN


async def test_an_agent_that_never_could_look_reports_nothing(desk: Desk) -> None:
    desk.engine.observe_fails_with = OSError(24, "Too many open files")
    await desk.reports.look(lambda: 0)
    desk.engine.observe_fails_with = None
    assert await desk.look(RUNNING) == [RUNNING]


async def test_the_current_image_is_reported_on_a_new_link_and_when_it_changed(desk: Desk) -> None:
    assert await desk.images() == ["simulated-1"]
    assert await desk.images() == []
    desk.engine.images.current = msgspec.structs.replace(desk.engine.images.current, version="simulated-2")
    assert await desk.images() == ["simulated-2"]
    desk.reports.forget()
    assert await desk.images() == ["simulated-2"]
