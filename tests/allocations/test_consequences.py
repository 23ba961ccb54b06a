"""What people are told of their GPUs before a restart, resize or release: as the node reported it, never a guess."""

import pytest

from gpuaas.domain.allocations.consequences import consequences
from gpuaas.wire.allocations import Disruption, Status
from gpuaas.wire.environments import GpuReset, SlotDevice
from tests.allocations.rows import row

SLOTS = tuple(SlotDevice(index=n, gpu_uuid=f"GPU-{n}", gpu_pci=f"0000:0{n}:00.0") for n in (0, 1))
WORKS = GpuReset(method="nvidia-smi")
CANNOT = GpuReset(detail="MIG is on")
SHARED = GpuReset(method="amd-smi", together=("0000:05:00.0", "0000:06:00.0"))
PAIR = GpuReset(method="amd-smi", together=("0000:05:00.0",))
LOST = "Data that programs keep in it is lost. "


def said(of: Disruption, *resets: GpuReset | None) -> str:
    reported = {slot.gpu_uuid: reset for slot, reset in zip(SLOTS, resets, strict=True) if reset}
    told = consequences(row(Status.ACTIVE), of, SLOTS, reported)
    (gpus,) = (one for one in told.lost if one.what == "GPU memory")
    return gpus.detail


@pytest.mark.parametrize("of", [Disruption.RESTART, Disruption.RESIZE])
def test_a_restart_says_which_gpus_are_reset_and_which_are_not(of: Disruption) -> None:
    assert said(of, WORKS, WORKS) == f"{LOST}GPU 0, 1: reset (nvidia-smi) before it starts again."
    assert said(of, WORKS, CANNOT) == (
        f"{LOST}GPU 0: reset (nvidia-smi) before it starts again. "
        "GPU 1: not reset before it starts again: MIG is on. A GPU or driver that hangs may still hang afterwards."
    )


def test_a_release_says_what_the_next_one_could_find() -> None:
    assert said(Disruption.RELEASE, CANNOT, CANNOT) == (
        f"{LOST}GPU 0, 1: not reset before another allocation gets it: MIG is on. "
        "Overwrite data in its memory that nobody else may see."
    )


def test_a_node_that_reported_nothing_is_not_guessed_about() -> None:
    assert "GPU 0, 1: not reset" in said(Disruption.RELEASE, None, None)
    assert "its node reported no way to reset it" in said(Disruption.RELEASE, None, None)


def test_a_reset_that_takes_others_along_names_how_many() -> None:
    told = said(Disruption.RESTART, SHARED, PAIR)
    assert "This resets 2 other GPUs of the node too; it is skipped while another allocation uses one of them." in told
    assert "This resets 1 other GPU of the node too; it is skipped while another allocation uses it." in told


@pytest.mark.parametrize("of", list(Disruption))
def test_an_allocation_without_a_gpu_hears_nothing_of_gpus(of: Disruption) -> None:
    assert "GPU" not in str(consequences(row(Status.ACTIVE), of, (), {}))
