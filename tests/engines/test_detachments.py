"""Whom a forced detach ends, and what it tells. The kernel's answers are given by the test."""

import os
import subprocess
from pathlib import Path

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import processes
from gpuaas.engines.node.processes import Process
from gpuaas.engines.storage.detachments import MOST_HOLDS, Detachment
from gpuaas.engines.storage.holding import Hold
from gpuaas.engines.storage.mount_tables import MountTables
from tests.engines.benches import ignore
from tests.engines.reused_numbers import process_numbered

GUEST = 1_899_990_000
Order = dict[str, object]


class Scene:
    """A volume that is not mounted at its path any more; `holds` are what each look finds, the last one for ever."""

    def __init__(self, *holds: list[Hold]) -> None:
        self.holds, self.asked = list(holds), list[Order]()
        self.released = True

    def detachment(self) -> Detachment:
        return Detachment(
            MountTables(Path("/n"), None),
            "vol_1",
            {"pid": 1, "born": "0", "mount_path": "/data", "ids": [0, GUEST, 1]},
            is_mounted=self._is_mounted,
            check_released=self._check_released,
            own_overlays=None,
            on_phase=ignore,
            look=self._look,
            ask=self._ask,
        )

    async def _is_mounted(self) -> bool:
        return False

    async def _check_released(self) -> None:
        if not self.released:
            raise EngineError("the volume is in use", "planted")

    async def _look(self) -> list[Hold]:
        return self.holds.pop(0) if len(self.holds) > 1 else self.holds[0]

    async def _ask(self, order: Order) -> Order:
        self.asked.append(order)
        return {}


def hold(process: Process, mount_path: str = "") -> Hold:
    return Hold(process, process, mount_path, "" if mount_path else "keeps it as fd/3")


def started_and_ended() -> Process:
    with subprocess.Popen(["sleep", "1000000"]) as one:
        found = Process(one.pid, processes.born(one.pid))
        one.kill()
    return found


def ended() -> Process:
    """A process that has ended, as it was seen. Births are told apart by hundredths of a second: one has passed."""
    found = started_and_ended()
    while started_and_ended().born == found.born:
        pass
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_a_process_that_got_the_number_of_a_holder_is_left_alone() -> None:
    holder = ended()
    with process_numbered(holder.pid) as other:
        scene = Scene([hold(holder)], [hold(holder)], [])
        assert await scene.detachment().force() == "it was not mounted"
        assert other.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_mounts_of_a_process_that_got_the_number_of_a_holder_are_not_entered() -> None:
    """The mount helper compares the birth with that of the process that it enters."""
    holder = ended()
    with process_numbered(holder.pid):
        scene = Scene([hold(holder, "/keep")], [])
        await scene.detachment().force()
    assert [(order["pid"], order["born"], order["mount_path"]) for order in scene.asked] == [(*holder, "/keep")]


async def test_pid_1_is_not_ended_as_any_other_holder() -> None:
    scene = Scene([hold(Process(1, processes.born(1)))])
    with pytest.raises(EngineError, match="the volume is in use"):
        await scene.detachment().force()


async def test_what_the_kernel_still_holds_is_not_reported_as_detached() -> None:
    scene = Scene([])
    scene.released = False
    for attempt in (scene.detachment().force, scene.detachment().ask, scene.detachment().check_gone):
        with pytest.raises(EngineError, match="the volume is in use"):
            await attempt()


async def test_very_many_holds_are_not_worked_off_one_after_another() -> None:
    scene = Scene([hold(Process(1, "0"), f"/{number}") for number in range(MOST_HOLDS + 1)])
    with pytest.raises(EngineError, match=rf"has it mounted at /0.* and {MOST_HOLDS - 7} more"):
        await scene.detachment().force()
    assert scene.asked == []
