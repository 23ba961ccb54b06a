"""A device has at most one environment, whatever a task asks for. One suite, every engine."""

import asyncio

import pytest

from gpuaas.engines.base import EngineError
from gpuaas.engines.devices import Devices
from gpuaas.wire.environments import Environment
from tests.engines.benches import Bench, Key, ignore, keys, spec

IN_USE = "in use by another environment"


async def on_device(bench: Bench, id: str, *devices: str, boot: int = 1) -> Environment:
    return await bench.engine.ensure(spec(id, keys(1, Key()), boot=boot, devices=devices), ignore)


async def ids(bench: Bench) -> set[str]:
    return {one.allocation_id for one in await bench.engine.observe()}


async def test_a_device_that_is_in_use_is_refused_and_its_user_stays(bench: Bench, allocation_id: str) -> None:
    gpu, spare, second = f"GPU-{allocation_id}", f"GPU-{allocation_id}-spare", f"{allocation_id}-second"
    first = await on_device(bench, allocation_id, gpu)
    assert first.devices == (gpu,)
    with pytest.raises(EngineError, match=IN_USE):
        await on_device(bench, second, spare, gpu)
    assert second not in await ids(bench)
    assert first in await bench.engine.observe()
    assert (await on_device(bench, second, spare)).devices == (spare,)


async def test_a_device_stays_in_use_after_the_agent_died(bench: Bench, allocation_id: str) -> None:
    gpu = f"GPU-{allocation_id}"
    await on_device(bench, allocation_id, gpu)
    await bench.crash()
    with pytest.raises(EngineError, match=IN_USE):
        await on_device(bench, f"{allocation_id}-second", gpu)


async def test_of_two_that_want_one_device_at_the_same_time_one_gets_it(bench: Bench, allocation_id: str) -> None:
    gpu = f"GPU-{allocation_id}"
    made = await asyncio.gather(
        *(on_device(bench, f"{allocation_id}-{number}", gpu) for number in range(4)), return_exceptions=True
    )
    assert [isinstance(one, Environment) for one in made].count(True) == 1
    assert len([one for one in await bench.engine.observe() if one.devices == (gpu,)]) == 1


async def test_a_device_is_free_after_its_environment_is_removed(bench: Bench, allocation_id: str) -> None:
    gpu = f"GPU-{allocation_id}"
    await on_device(bench, allocation_id, gpu)
    await bench.engine.remove(allocation_id, ignore)
    assert (await on_device(bench, f"{allocation_id}-second", gpu)).devices == (gpu,)


async def test_a_resize_takes_free_devices_and_gives_back_those_it_left(bench: Bench, allocation_id: str) -> None:
    first, second = f"GPU-{allocation_id}-0", f"GPU-{allocation_id}-1"
    await on_device(bench, allocation_id, first)
    await on_device(bench, f"{allocation_id}-other", second)
    with pytest.raises(EngineError, match=IN_USE):
        await on_device(bench, allocation_id, first, second, boot=2)
    await bench.engine.remove(f"{allocation_id}-other", ignore)
    assert (await on_device(bench, allocation_id, second, boot=3)).devices == (second,)
    assert (await on_device(bench, f"{allocation_id}-third", first)).devices == (first,)


def test_an_environment_whose_devices_are_unknown_holds_them_all() -> None:
    devices = Devices()
    devices.hold("unreadable", None)
    with pytest.raises(EngineError, match=IN_USE):
        devices.reserve("new", ["GPU-1"])
    devices.reserve("new", [])
    devices.release("unreadable")
    devices.reserve("new", ["GPU-1"])
    assert devices.of("new") == ("GPU-1",)
