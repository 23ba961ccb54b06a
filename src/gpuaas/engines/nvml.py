"""NVIDIA's management library through its own binding (nvidia-ml-py): the few calls that samples and GPU checks need.

Real GPUs are asked by their UUID, as it stands in the approved slot. A machine without the library has no NVML, and
says so; a GPU that does not answer is an error of that GPU, never of the machine.
"""

import asyncio
import ctypes
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import import_module
from typing import Any

from msgspec import Struct

LIBRARY = "libnvidia-ml.so.1"
NO_LIBRARY = "no NVML library on this node"
PAUSED = "NVML is closed while a GPU of this node is reset"
MESSAGE_LENGTH = 200


class NvmlError(Exception):
    """The library refused, with its own words."""


class NvmlClosedError(NvmlError):
    """Not the fault of any GPU."""


class GpuState(Struct, frozen=True, kw_only=True):
    utilisation_percent: int
    memory_used_bytes: int
    memory_total_bytes: int
    temperature_celsius: int


class Nvml:
    """One open library. Made by `open_nvml`; `binding` is the module pynvml, or whatever has its functions."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding
        self._using, self._is_closed = threading.Lock(), False
        with self._told():
            binding.nvmlInit()

    def state(self, gpu_uuid: str) -> GpuState:
        """What the GPU answers now; NvmlError when it does not."""
        binding = self._binding
        with self._guarded():
            handle = binding.nvmlDeviceGetHandleByUUID(gpu_uuid)
            utilization, memory = binding.nvmlDeviceGetUtilizationRates(handle), binding.nvmlDeviceGetMemoryInfo(handle)
            return GpuState(
                utilisation_percent=int(utilization.gpu),
                memory_used_bytes=int(memory.used),
                memory_total_bytes=int(memory.total),
                temperature_celsius=int(binding.nvmlDeviceGetTemperature(handle, binding.NVML_TEMPERATURE_GPU)),
            )

    def driver(self) -> str:
        """The version of the kernel's driver, such as 550.54.15."""
        with self._guarded():
            return str(self._binding.nvmlSystemGetDriverVersion())

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """One call at a time, and none after the library was closed."""
        with self._using:
            if self._is_closed:
                raise NvmlClosedError(PAUSED)
            with self._told():
                yield

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The binding names some errors itself; the library's words are used for all."""
        try:
            yield
        except self._binding.NVMLError as error:
            raise NvmlError(f"NVML {error.value}: {self._words(error)[:MESSAGE_LENGTH]}") from error

    def _words(self, error: Any) -> str:
        try:
            return str(self._binding.nvmlErrorString(error.value))
        except self._binding.NVMLError:  # not even that function is there
            return str(error)

    def close(self) -> None:
        with self._using:
            self._is_closed = True
            with suppress(self._binding.NVMLError):  # nobody can act on it, and the process lets go of the library
                self._binding.nvmlShutdown()


def open_nvml(binding: Any = None, library: str = LIBRARY) -> Nvml | str:
    """The library, or why there is none. The binding, a large module, is loaded only where there is a library."""
    if binding is None:
        if not is_installed(library):
            return NO_LIBRARY
        binding = import_module("pynvml")
    try:
        return Nvml(binding)
    except NvmlError as error:
        return f"the NVML library on this node does not start: {error}"


def is_installed(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


class NvmlSource:
    """Opens the library when it is first needed, and closes it while a GPU is reset: a GPU that any program has open is
    not reset, and this program may have all of them open."""

    def __init__(self, open: Callable[[], Nvml | str] = open_nvml) -> None:
        self._open = open
        self._opened: Nvml | str | None = None
        self._changing, self._pauses = threading.Lock(), 0

    def __call__(self) -> Nvml | str:
        """The library, or why there is none now."""
        with self._changing:
            if self._pauses:
                return PAUSED
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """A thread closes it: another thread may be in a call of the library, for as long as a GPU takes to answer."""
        self._pauses += 1
        try:
            await asyncio.to_thread(self._close)
            yield
        finally:
            self._pauses -= 1

    def _close(self) -> None:
        with self._changing:
            opened, self._opened = self._opened, None
        if isinstance(opened, Nvml):
            opened.close()
