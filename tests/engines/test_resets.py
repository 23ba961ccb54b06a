"""Resets of GPUs: what each device can do, by a tree as sysfs has it and programs that answer as the vendors' do."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuaas.engines.base import EngineError
from gpuaas.engines.devices import Devices
from gpuaas.engines.node.gpu_resets import SIMULATED, ResetMethods, read_counts
from gpuaas.engines.node.pci import PciDevices
from gpuaas.engines.node.records import Record, Remains
from gpuaas.engines.nvml import PAUSED, Nvml, NvmlClosedError, NvmlSource
from gpuaas.engines.oci.resets import SWITCHED_OFF, Outcome, Resets, objection, summary
from gpuaas.wire.environments import GpuReset, KeySet, SlotDevice
from tests.engines.benches import eventually, ignore, keys, spec
from tests.engines.nvml_binding import binding

NVIDIA_SMI = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
  nvlink*) cat {folder}/links ;;
  --query-gpu*) [ -e {folder}/lost ] && exit 15; cat {folder}/state ;;
  "--gpu-reset -i "*) cat {folder}/answer; exit $(cat {folder}/code) ;;
esac
"""
GATED_SMI = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
  --query-gpu*) cat {folder}/state ;;
  "--gpu-reset -i "*) cat {folder}/gate ;;
esac
"""
AMD_SMI = """#!/bin/sh
echo "$*" >> {log}
cat {folder}/answer
"""
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HANGS = "#!/bin/sh\nexec sleep 1000\n"


def slot(index: int, uuid: str = "") -> SlotDevice:
    return SlotDevice(index=index, gpu_uuid=uuid or f"GPU-{index}", gpu_pci=f"00000000:{index + 1:02X}:00.0")


class Hardware:
    """A folder as /sys/bus/pci/devices, and one with programs."""

    def __init__(self, folder: Path) -> None:
        self.devices, self.programs, self.root = folder / "devices", folder / "bin", folder / "engine"
        self.log, self.state = folder / "log", folder
        for one in (self.devices, self.programs, self.root):
            one.mkdir()
        self.held = Devices()
        self.nvml = NvmlSource(lambda: "no NVML library on this node")

    def add(self, index: int, driver: str = "", **files: str) -> SlotDevice:
        made = slot(index)
        folder = self.devices / f"0000:{index + 1:02x}:00.0"
        folder.mkdir()
        if driver:
            (folder / "driver").symlink_to(self.devices.parent / "drivers" / driver)
        for name, text in files.items():
            path = folder / name.replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return made

    def program(self, name: str, text: str, **answers: str) -> None:
        path = self.programs / name
        path.write_text(text.format(log=self.log, folder=self.state))
        path.chmod(0o755)
        for file, answer in answers.items():
            (self.state / file).write_text(answer)

    def nvidia(
        self, state: str = "Disabled, [N/A], 9.0", code: int = 0, answer: str = "All done.", links: str = ""
    ) -> None:
        self.program("nvidia-smi", NVIDIA_SMI, state=state, code=str(code), answer=answer, links=links)

    def amd(self, answer: str = "GPU: 0\n    GPU_RESET: Successfully reset GPU\n") -> None:
        self.program("amd-smi", AMD_SMI, answer=answer)

    def said(self) -> list[str]:
        """What the programs were asked."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    async def was_asked(self) -> bool:
        return bool(self.said())

    def resets(self, *, is_on: bool = True, seconds: float = 60.0) -> Resets:
        methods = ResetMethods(self.root, pci=PciDevices(self.devices), folders=(self.programs,), seconds=seconds)
        return Resets(self.held, methods, self.nvml, is_on=is_on)

    async def words(self, *slots: SlotDevice) -> str:
        return summary(await self.resets().reset("mine", slots, simulated=False))


@pytest.fixture
def hardware(tmp_path: Path) -> Hardware:
    return Hardware(tmp_path)


async def test_a_device_without_a_driver_of_a_vendor_is_reset_by_the_kernel(hardware: Hardware) -> None:
    free, bound = hardware.add(0, reset="", reset_method="flr bus\n"), hardware.add(1, "vfio-pci", reset="")
    assert await hardware.words(free, bound) == "GPU 0: reset (PCI flr); GPU 1: reset (PCI reset)"
    for path in hardware.devices.glob("*/reset"):
        assert path.read_text() == "1"


@pytest.mark.parametrize(
    ("driver", "files", "why"),
    [
        ("", {}, "the kernel has no reset method for this device"),
        ("", {"reset": "", "reset_method": "\n"}, "all reset methods of this device are switched off"),
        ("nouveau", {"reset": ""}, "its driver nouveau offers no reset"),
        ("nvidia", {"reset": ""}, "nvidia-smi is not installed"),
        ("amdgpu", {"reset": ""}, "amd-smi is not installed"),
    ],
)
async def test_what_cannot_be_reset_is_left_alone_with_the_reason(
    hardware: Hardware, driver: str, files: dict[str, str], why: str
) -> None:
    made = hardware.add(0, driver, **files)
    (outcome,) = await hardware.resets().reset("mine", [made], simulated=False)
    assert outcome == Outcome(made, f"not reset: {why}")
    assert all(path.read_text() == "" for path in hardware.devices.glob("*/reset"))


async def test_a_device_that_is_gone_is_not_reset(hardware: Hardware) -> None:
    assert "there is no device at" in await hardware.words(slot(7))


async def test_gpus_of_nvidia_are_reset_in_one_command_with_persistence_mode_off(hardware: Hardware) -> None:
    hardware.nvidia("Enabled, Disabled, 8.0")
    made = [hardware.add(0, "nvidia"), hardware.add(1, "nvidia")]
    assert await hardware.words(*made) == "GPU 0, 1: reset (nvidia-smi)"
    assert [one for one in hardware.said() if not one.startswith("--query")] == [
        "-pm 0 -i GPU-0",
        "-pm 0 -i GPU-1",
        "--gpu-reset -i GPU-0,GPU-1",
        "-pm 1 -i GPU-0",
        "-pm 1 -i GPU-1",
    ]


async def test_a_refusal_of_the_tool_is_a_failure_in_its_own_words(hardware: Hardware) -> None:
    hardware.nvidia("Enabled, [N/A], 9.0", code=255, answer="GPU 00000000:01:00.0: In use by\nanother client")
    made = hardware.add(0, "nvidia")
    (outcome,) = await hardware.resets().reset("mine", [made], simulated=False)
    assert outcome.has_failed
    assert outcome.words == "not reset: nvidia-smi → 255: GPU 00000000:01:00.0: In use by another client"
    assert hardware.said()[-1] == "-pm 1 -i GPU-0", "persistence mode is as it was"


async def test_a_gpu_that_does_not_answer_is_reset_and_has_to_answer_then(hardware: Hardware) -> None:
    hardware.nvidia()
    (hardware.state / "lost").touch()
    (outcome,) = await hardware.resets().reset("mine", [hardware.add(0, "nvidia")], simulated=False)
    assert "--gpu-reset -i GPU-0" in hardware.said()
    assert (outcome.has_failed, outcome.words) == (True, "not reset: GPU-0 did not answer after the reset")


async def test_parts_of_a_gpu_and_gpus_with_parts_are_not_reset(hardware: Hardware) -> None:
    hardware.nvidia("Disabled, Enabled, 9.0")
    whole = hardware.add(0, "nvidia")
    part = replace(hardware.add(1, "nvidia"), gpu_uuid="MIG-1")
    assert await hardware.words(whole, part) == (
        "GPU 0: not reset: MIG is on, and a reset would remove the partitions; "
        "GPU 1: not reset: it is a part of a GPU (MIG), and a reset would reset the other parts"
    )
    assert not any("--gpu-reset" in one for one in hardware.said())


@pytest.mark.parametrize(
    ("capability", "links", "expected"),
    [
        ("7.0", "Link 0: 25.781 GB/s", "not reset: it is older than Ampere, and NVLink connects it"),
        ("7.0", "Link 0: <inactive>", "reset (nvidia-smi)"),
        ("7.5", "", "reset (nvidia-smi)"),
        ("8.0", "Link 0: 25 GB/s", "reset (nvidia-smi)"),
    ],
)
async def test_old_gpus_that_nvlink_connects_are_not_reset_one_by_one(
    hardware: Hardware, capability: str, links: str, expected: str
) -> None:
    hardware.nvidia(f"Disabled, [N/A], {capability}", links=links)
    assert (await hardware.words(hardware.add(0, "nvidia"))).startswith(f"GPU 0: {expected}")


async def test_a_tool_that_hangs_is_a_failure(hardware: Hardware) -> None:
    hardware.program("amd-smi", HANGS)
    made = hardware.add(0, "amdgpu")
    (outcome,) = await hardware.resets(seconds=0.01).reset("mine", [made], simulated=False)
    assert (outcome.has_failed, "amd-smi did not answer in" in outcome.words) == (True, True)


async def test_gpus_of_an_xgmi_hive_are_reset_once_together(hardware: Hardware) -> None:
    hardware.amd()
    hive = {"xgmi_hive_info__xgmi_hive_id": "77\n"}
    made = [hardware.add(0, "amdgpu", **hive), hardware.add(1, "amdgpu", **hive), hardware.add(2, "amdgpu")]
    assert await hardware.words(*made) == "GPU 0, 1, 2: reset (amd-smi)"
    assert hardware.said() == ["reset --gpureset --gpu 0000:01:00.0", "reset --gpureset --gpu 0000:03:00.0"]


async def test_a_tool_that_reports_failure_with_exit_code_0_has_failed(hardware: Hardware) -> None:
    hardware.amd("GPU: 0\n    GPU_RESET: Failed to reset GPU\n")
    assert await hardware.words(hardware.add(0, "amdgpu")) == (
        "GPU 0: not reset: amd-smi → 0: GPU: 0 GPU_RESET: Failed to reset GPU"
    )


async def test_a_hive_is_never_reset_while_a_neighbour_uses_one_of_its_gpus(hardware: Hardware) -> None:
    """And it is once the neighbour has gone."""
    hardware.amd()
    hive = {"xgmi_hive_info__xgmi_hive_id": "77\n"}
    mine, theirs = hardware.add(0, "amdgpu", **hive), hardware.add(1, "amdgpu", **hive)
    resets = hardware.resets()
    resets.learn([theirs])
    hardware.held.hold("neighbour", [theirs.gpu_uuid])
    (outcome,) = await resets.reset("mine", [mine], simulated=False)
    assert outcome == Outcome(mine, "not reset: a reset would also reset GPUs that another environment uses")
    assert hardware.said() == []
    hardware.held.release("neighbour")
    (outcome,) = await resets.reset("mine", [mine], simulated=False)
    assert outcome == Outcome(mine, "reset (amd-smi)")


@pytest.mark.parametrize(
    ("together", "others", "addresses", "expected"),
    [
        ((), frozenset({"GPU-1"}), {}, ""),
        ((), frozenset({"GPU-0"}), {}, "another environment uses it"),
        ((), None, {}, "the GPUs of another environment are unknown"),
        (("0000:02:00.0",), frozenset[str](), {}, ""),
        (("0000:02:00.0",), frozenset({"GPU-2"}), {"GPU-2": "0000:03:00.0"}, ""),
        (("0000:02:00.0",), frozenset({"GPU-1"}), {"GPU-1": "0000:02:00.0"}, "a reset would also reset"),
        (("0000:02:00.0",), frozenset({"GPU-1"}), {}, "a reset would also reset"),
    ],
)
def test_neighbours_are_spared(
    together: tuple[str, ...], others: frozenset[str] | None, addresses: dict[str, str], expected: str
) -> None:
    found = objection(slot(0), GpuReset(method="amd-smi", together=together), others, addresses)
    assert found.startswith(expected)
    assert bool(found) is bool(expected)


async def test_an_environment_waits_for_the_reset_of_a_gpu_that_it_wants(hardware: Hardware) -> None:
    """A neighbour's, whose hive it is in. What takes another GPU does not wait."""
    hive = {"xgmi_hive_info__xgmi_hive_id": "77\n"}
    mine, wanted, other = hardware.add(0, "amdgpu", **hive), hardware.add(1, "amdgpu", **hive), hardware.add(2)
    hardware.program("amd-smi", "#!/bin/sh\necho asked >> {log}\ncat {folder}/gate\necho Successfully reset GPU\n")
    resets, gate = hardware.resets(), hardware.state / "gate"
    os.mkfifo(gate)
    resetting = asyncio.create_task(resets.reset("mine", [mine], simulated=False))
    await eventually(hardware.was_asked)
    await resets.settled([other])
    waiting = asyncio.create_task(resets.settled([wanted]))
    await asyncio.sleep(0)
    assert not waiting.done()
    await asyncio.to_thread(gate.write_text, "")
    await waiting
    assert summary(await resetting) == "GPU 0: reset (amd-smi)"


async def test_an_operator_can_switch_resets_off(hardware: Hardware) -> None:
    made = hardware.add(0, reset="")
    outcomes = await hardware.resets(is_on=False).reset("mine", [made], simulated=False)
    assert outcomes == [Outcome(made, f"not reset: {SWITCHED_OFF}")]


class Library:
    """Every call that is not named here works."""

    def __init__(self, problem: str = "") -> None:
        self.shut, self.problem, self.is_asked, self.may_answer = 0, problem, threading.Event(), threading.Event()

    def __getattr__(self, _: str) -> Callable[..., int]:
        return lambda *_: 0

    def nvmlDeviceGetHandleByUUID(self, *_: object) -> int:  # noqa: N802 (a name of the library, as the next one)
        self.is_asked.set()
        return 0 if self.may_answer.wait(1.0) else 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.shut += 1
        if self.problem:
            raise OSError(self.problem)


async def test_nvml_is_closed_while_a_gpu_is_reset_and_no_gpu_is_blamed(hardware: Hardware) -> None:
    library = Library()
    hardware.nvml = source = NvmlSource(lambda: Nvml(binding(library)))
    before = source()
    assert isinstance(before, Nvml)
    hardware.nvidia()
    await hardware.words(hardware.add(0, "nvidia"))
    assert library.shut == 1
    for ask in (lambda: before.state("GPU-0"), before.driver):
        with pytest.raises(NvmlClosedError, match=PAUSED):
            ask()
    async with source.paused():
        assert source() == PAUSED
    assert isinstance(source(), Nvml)


async def test_the_event_loop_runs_while_a_reset_waits_for_a_call_of_nvml(hardware: Hardware) -> None:
    library = Library()
    hardware.nvml = NvmlSource(lambda: Nvml(binding(library)))
    opened = hardware.nvml()
    assert isinstance(opened, Nvml)
    hardware.nvidia()
    asking = asyncio.create_task(asyncio.to_thread(opened.state, "GPU-1"))
    await asyncio.to_thread(library.is_asked.wait)
    resetting = asyncio.create_task(hardware.words(hardware.add(0, "nvidia")))

    async def is_waiting() -> bool:
        return hardware.nvml() == PAUSED

    await eventually(is_waiting)
    library.may_answer.set()
    await asking
    assert await resetting == "GPU 0: reset (nvidia-smi)"


async def test_a_library_that_cannot_be_closed_is_paused_no_longer(hardware: Hardware) -> None:
    hardware.nvidia()
    hardware.nvml = source = NvmlSource(lambda: Nvml(binding(Library("it crashed"))))
    assert isinstance(source(), Nvml)
    with pytest.raises(OSError, match="it crashed"):
        await hardware.words(hardware.add(0, "nvidia"))
    assert isinstance(source(), Nvml)


async def test_whoever_asks_nvml_waits_for_a_reset_that_runs(hardware: Hardware) -> None:
    hardware.program("nvidia-smi", GATED_SMI, state="Disabled, [N/A], 9.0")
    gate, made = hardware.state / "gate", hardware.add(0, "nvidia")
    os.mkfifo(gate)
    resets = hardware.resets()
    resetting = asyncio.create_task(resets.reset("mine", [made], simulated=False))

    async def is_reset() -> bool:
        return any("--gpu-reset" in one for one in hardware.said())

    await eventually(is_reset)
    assert hardware.nvml() == PAUSED

    async def ask() -> Nvml | str:
        async with resets.none_running():
            return hardware.nvml()

    asking = asyncio.create_task(ask())
    await asyncio.to_thread(gate.write_text, "")
    assert await asking == "no NVML library on this node"
    await resetting


async def phases_of(resets: Resets, record: Record, after: Sequence[str]) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []

    async def on_phase(phase: str, note: str) -> None:
        told.append((phase, note))

    await resets.before_boot(record, spec("a", keys(1), devices=tuple(after)), on_phase)
    return told


async def test_a_boot_goes_on_after_a_reset_that_failed_unless_a_gpu_leaves(hardware: Hardware, record: Record) -> None:
    methods = ResetMethods(hardware.root)
    resets = Resets(hardware.held, methods, hardware.nvml)
    assert await phases_of(resets, record, ["GPU-0"]) == [("gpus_reset", "GPU 0, 1: reset (simulated)")]
    assert read_counts(hardware.root / SIMULATED) == {"GPU-0": 1, "GPU-1": 1}
    methods.simulated.problem = "it hangs"
    assert await phases_of(resets, record, ["GPU-0", "GPU-1"]) == [("gpus_reset", "GPU 0, 1: not reset: it hangs")]
    with pytest.raises(EngineError, match="a GPU that leaves this allocation could not be reset: GPU 1"):
        await phases_of(resets, record, ["GPU-0"])


async def test_a_reset_that_failed_is_no_proof_and_one_that_cannot_be_is(hardware: Hardware, record: Record) -> None:
    methods = ResetMethods(hardware.root, pci=PciDevices(hardware.devices))
    resets = Resets(hardware.held, methods, hardware.nvml)
    methods.simulated.problem = "it hangs"
    failed = await resets.after_removal("a", Remains(slots=record.slots, simulated=True), ignore)
    assert (failed.item, failed.ok, failed.evidence) == ("gpu_reset", False, "GPU 0, 1: not reset: it hangs")
    impossible = await resets.after_removal("a", Remains(slots=(hardware.add(0),), simulated=False), ignore)
    assert (impossible.ok, "the kernel has no reset method" in impossible.evidence) == (True, True)
    none = await resets.after_removal("a", Remains(), ignore)
    assert (none.ok, none.evidence) == (True, "no GPU of it is known")


@pytest.fixture
def record() -> Record:
    wanted = spec("a", keys(1), devices=("GPU-0", "GPU-1"))
    return Record(spec=wanted, boot=1, index=0, port=20_000, host_key="", keys=KeySet(generation=1), started_at=NOON)
