"""Reset methods of the GPUs of a node.

The driver of a device determines the method: `nvidia-smi` for NVIDIA's driver, `amd-smi` for AMD's. A reset through
sysfs would bypass the driver and leave it with wrong state. The kernel resets a device without such a driver (`reset`
in sysfs); it resets one function and refuses a reset that affects others.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from gpuaas.engines.node import commands, files
from gpuaas.engines.node.pci import PciDevices
from gpuaas.wire.environments import GpuReset, SlotDevice

PROGRAM_FOLDERS = (*(Path(one) for one in commands.PATH.split(":")), Path("/opt/rocm/bin"))
RESET_SECONDS = 60.0
LONGEST_ANSWER = 300
SIMULATED = "simulated-resets.json"
FREE_DRIVERS = ("", "vfio-pci")  # drivers through which no program on the node uses the device
AMPERE = 8.0  # the first compute capability whose GPUs are reset without those that NVLink connects them with
ACTIVE_LINK = "GB/s"  # `nvidia-smi nvlink --status` says how fast a link is, or that it is inactive
Run = Callable[..., Awaitable[tuple[int, str]]]


class ResetMethod(Protocol):
    """The reset method of one kind of GPU."""

    async def look(self, slot: SlotDevice) -> GpuReset:
        """Whether this GPU can be reset in this way, and which other GPUs that resets."""

    async def reset(self, slots: Sequence[SlotDevice]) -> str:
        """Reset these GPUs of an ended environment; empty, or why it failed."""


def cannot(why: str) -> GpuReset:
    return GpuReset(method="", detail=why)


class KernelReset:
    """The kernel's reset of one function."""

    def __init__(self, pci: PciDevices) -> None:
        self._pci = pci

    async def look(self, slot: SlotDevice) -> GpuReset:
        folder = self._pci.folder(slot)
        if folder is None or not (folder / "reset").exists():
            return cannot("the kernel has no reset method for this device")
        try:
            methods = (folder / "reset_method").read_text().split()
        except FileNotFoundError:
            methods = ["reset"]  # a kernel before 5.15 does not name them
        if not methods:
            return cannot("all reset methods of this device are switched off")
        return GpuReset(method=f"PCI {methods[0]}")

    async def reset(self, slots: Sequence[SlotDevice]) -> str:
        for slot in slots:
            folder = self._pci.folder(slot)
            if folder is None:
                return f"there is no device at {slot.gpu_pci}"
            try:
                await asyncio.to_thread((folder / "reset").write_text, "1")
            except OSError as error:
                return f"the kernel could not reset {slot.gpu_pci}: {error.strerror}"
        return ""


class Program:
    """A vendor's tool, which may hang with its GPU."""

    def __init__(self, name: str, *, run: Run, folders: Sequence[Path], seconds: float = RESET_SECONDS) -> None:
        self.name, self._run, self._folders, self._seconds = name, run, folders, seconds

    @property
    def path(self) -> str | None:
        return next((str(folder / self.name) for folder in self._folders if (folder / self.name).exists()), None)

    async def ask(self, *words: str) -> tuple[int, str]:
        """Exit code, and output on one line."""
        if self.path is None:
            return 127, f"{self.name} is not installed"
        try:
            async with asyncio.timeout(self._seconds):
                code, said = await self._run(self.path, *words)
        except TimeoutError:
            return 124, f"{self.name} did not answer in {self._seconds:.0f} s"
        return code, " ".join(said.split())[:LONGEST_ANSWER]


class NvidiaReset:
    """`nvidia-smi --gpu-reset`. It refuses while a program has the GPU open; persistence mode counts as a program.

    GPUs older than Ampere with NVLink are reset only together, and they may belong to several environments."""

    FIELDS = "persistence_mode,mig.mode.current,compute_cap"

    def __init__(self, program: Program) -> None:
        self._program = program

    async def look(self, slot: SlotDevice) -> GpuReset:
        if self._program.path is None:
            return cannot(f"{self._program.name} is not installed")
        if slot.gpu_uuid.startswith("MIG-"):
            return cannot("it is a part of a GPU (MIG), and a reset would reset the other parts")
        _, mig, capability = await self._query(slot)
        if mig == "Enabled":
            return cannot("MIG is on, and a reset would remove the partitions")
        if _is_before(capability, AMPERE) and await self._has_links(slot):
            return cannot("it is older than Ampere, and NVLink connects it with GPUs that would be reset with it")
        return GpuReset(method=self._program.name)

    async def _has_links(self, slot: SlotDevice) -> bool:
        _, said = await self._program.ask("nvlink", "--status", "-i", slot.gpu_uuid)
        return ACTIVE_LINK in said

    async def _query(self, slot: SlotDevice) -> tuple[str, str, str]:
        """Empty for a GPU that does not answer: it may hang, and a reset may repair it."""
        words = ("--format=csv,noheader", "-i", slot.gpu_uuid)
        code, said = await self._program.ask(f"--query-gpu={self.FIELDS}", *words)
        found = [word.strip() for word in said.split(",")]
        return (found[0], found[1], found[2]) if code == 0 and len(found) == self.FIELDS.count(",") + 1 else ("",) * 3

    async def reset(self, slots: Sequence[SlotDevice]) -> str:
        held = [slot for slot in slots if (await self._query(slot))[0] == "Enabled"]
        for slot in held:
            await self._program.ask("-pm", "0", "-i", slot.gpu_uuid)
        try:
            code, said = await self._program.ask("--gpu-reset", "-i", ",".join(slot.gpu_uuid for slot in slots))
        finally:
            for slot in held:
                await self._program.ask("-pm", "1", "-i", slot.gpu_uuid)
        if code != 0:
            return f"{self._program.name} → {code}: {said}"
        silent = [slot.gpu_uuid for slot in slots if not (await self._query(slot))[0]]
        return f"{', '.join(silent)} did not answer after the reset" if silent else ""


def _is_before(capability: str, first: float) -> bool:
    try:
        return float(capability) < first
    except ValueError:
        return False


class AmdReset:
    """`amd-smi reset --gpureset`, which resets all GPUs of an XGMI hive."""

    SUCCESS = "Successfully reset GPU"  # its exit code is 0 even after a failure

    def __init__(self, program: Program, pci: PciDevices) -> None:
        self._program, self._pci = program, pci

    async def look(self, slot: SlotDevice) -> GpuReset:
        folder = self._pci.folder(slot)
        if folder is None or self._program.path is None:
            return cannot(f"{self._program.name} is not installed")
        return GpuReset(method=self._program.name, together=self._pci.hive(folder))

    async def reset(self, slots: Sequence[SlotDevice]) -> str:
        done: set[str] = set()
        for slot in slots:
            folder = self._pci.folder(slot)
            if folder is None:
                return f"there is no device at {slot.gpu_pci}"
            if folder.name in done:
                continue
            code, said = await self._program.ask("reset", "--gpureset", "--gpu", folder.name)
            if code != 0 or self.SUCCESS not in said:
                return f"{self._program.name} → {code}: {said}"
            done |= {folder.name, *self._pci.hive(folder)}
        return ""


class SimulatedReset:
    """A reset of a simulated GPU increments a counter in a file of the engine."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.problem = ""  # the error of a reset, for tests

    async def look(self, slot: SlotDevice) -> GpuReset:  # noqa: ARG002 (all are equal)
        return GpuReset(method="simulated")

    async def reset(self, slots: Sequence[SlotDevice]) -> str:
        if not self.problem:
            counts = read_counts(self._file)
            again = {slot.gpu_uuid: counts.get(slot.gpu_uuid, 0) + 1 for slot in slots}
            files.write_whole(self._file, msgspec.json.encode(counts | again), durable=False)
        return self.problem


def read_counts(file: Path) -> dict[str, int]:
    """Number of resets of each simulated GPU."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, int])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


class NoReset:
    """A device without a reset method, with the reason."""

    def __init__(self, why: str) -> None:
        self._why = why

    async def look(self, slot: SlotDevice) -> GpuReset:  # noqa: ARG002 (whichever it is)
        return cannot(self._why)

    async def reset(self, slots: Sequence[SlotDevice]) -> str:  # noqa: ARG002
        return self._why


class ResetMethods:
    """The reset method of each GPU of a node; `root` is the folder of the engine."""

    def __init__(
        self,
        root: Path,
        *,
        pci: PciDevices | None = None,
        run: Run = commands.attempt,
        folders: Sequence[Path] = PROGRAM_FOLDERS,
        seconds: float = RESET_SECONDS,
    ) -> None:
        self.simulated, self._pci = SimulatedReset(root / SIMULATED), pci or PciDevices()
        self._kernel = KernelReset(self._pci)
        self._by_driver: dict[str, ResetMethod] = {
            "nvidia": NvidiaReset(Program("nvidia-smi", run=run, folders=folders, seconds=seconds)),
            "amdgpu": AmdReset(Program("amd-smi", run=run, folders=folders, seconds=seconds), self._pci),
            **dict.fromkeys(FREE_DRIVERS, self._kernel),
        }

    def of(self, slot: SlotDevice, *, simulated: bool) -> ResetMethod:
        if simulated:
            return self.simulated
        folder = self._pci.folder(slot)
        if folder is None:
            return NoReset(f"there is no device at {slot.gpu_pci}")
        driver = self._pci.driver(folder)
        return self._by_driver.get(driver, NoReset(f"its driver {driver} offers no reset"))
