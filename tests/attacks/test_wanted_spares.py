"""Whoever speaks on a node's link without a task key asks the node for spares that nobody could be sold."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from gpuaas.agent.outgoing import Outgoing
from gpuaas.agent.spares import SpareKeeper
from gpuaas.engines.fake import FakeEngine
from gpuaas.wire.environments import GpuFact, SlotDevice
from gpuaas.wire.spares import SpareForm, WantedSpares


def slot_of(gpu: GpuFact) -> SlotDevice:
    return SlotDevice(index=gpu.index, gpu_uuid=gpu.gpu_uuid, gpu_pci=gpu.gpu_pci, numa=gpu.numa)


async def ready(*forms: SpareForm) -> list[tuple[int, ...]]:
    """Slots of the spares that a node makes when it is asked for these."""
    engine = FakeEngine(clock=lambda: datetime.now(UTC), gpus=2, most_spares=8)
    keeper = SpareKeeper(engine.spares, Outgoing(), lambda: True, await engine.probe())
    keeper.want(WantedSpares(forms=list(forms)))
    while await keeper._step():
        pass
    return [one.slots for one in (await engine.spares.report()).ready]


async def honest() -> SpareForm:
    gpu = (await FakeEngine(clock=lambda: datetime.now(UTC), gpus=2).probe()).gpus[0]
    return SpareForm(slots=(slot_of(gpu),), vcpus=1, memory_mib=512, simulated=True)


async def test_a_form_of_the_nodes_own_gpu_is_made() -> None:
    assert await ready(await honest()) == [(0,)]


@pytest.mark.parametrize("lie", ["root", "*\nPermitRootLogin yes", "none:x:0:0::/:/bin/sh"])
async def test_a_form_for_another_user_is_not_made(lie: str) -> None:
    """The name stands in the configuration and in the users of a spare's sshd."""
    assert await ready(replace(await honest(), username=lie)) == []


@pytest.mark.parametrize(
    "lie",
    [
        *({"vcpus": 1 << 40}, {"vcpus": 0}, {"memory_mib": 1 << 40}, {"memory_mib": -1}),
        *({"disk_gib": 1 << 40}, {"disk_gib": 0}, {"simulated": False}, {"slots": ()}),
    ],
)
async def test_a_form_that_the_node_is_too_small_for_is_not_made(lie: dict[str, object]) -> None:
    assert await ready(replace(await honest(), **lie)) == []


@pytest.mark.parametrize("lie", [{"index": 1}, {"gpu_uuid": "GPU-of-another-node"}, {"gpu_pci": "0000:99:00.0"}])
async def test_a_form_with_a_gpu_that_the_node_did_not_find_is_not_made(lie: dict[str, object]) -> None:
    form = await honest()
    assert await ready(replace(form, slots=(replace(form.slots[0], **lie),))) == []
    assert await ready(replace(form, slots=form.slots * 2)) == []


async def test_no_more_forms_than_gpus_are_made() -> None:
    form = await honest()
    assert len(await ready(*(replace(form, vcpus=count) for count in range(1, 9)))) == 2
