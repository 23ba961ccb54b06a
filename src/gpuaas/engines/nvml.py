"""NVIDIA's management library through ctypes: the few calls that samples and GPU checks need, and nothing installed.

Real GPUs are asked by their UUID, as it stands in the approved slot. A machine without the library has no NVML, and
says so; a GPU that does not answer is an error of that GPU, never of the machine.
"""

import asyncio
import ctypes
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from msgspec import Struct

LIBRARIES = ("libnvidia-ml.so.1", "libnvidia-ml.so")
NO_LIBRARY = "no NVML library on this node"
PAUSED = "NVML is closed while a GPU of this node is reset"
TEMPERATURE_GPU = 0
MESSAGE_LENGTH = 200
VERSION_LENGTH = 80  # NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE


class Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class MemoryInfo(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


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
    """One open library. Made by `open_nvml`; `library` is whatever has its functions."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._using, self._is_closed = threading.Lock(), False
        self._check(library.nvmlInit_v2())

    def state(self, gpu_uuid: str) -> GpuState:
        """What the GPU answers now; NvmlError when it does not."""
        with self._guarded():
            return self._state(gpu_uuid)

    def _state(self, gpu_uuid: str) -> GpuState:
        library, handle = self._library, self._handle(gpu_uuid)
        utilization, memory, celsius = Utilization(), MemoryInfo(), ctypes.c_uint()
        self._check(library.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(utilization)))
        self._check(library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)))
        self._check(library.nvmlDeviceGetTemperature(handle, TEMPERATURE_GPU, ctypes.byref(celsius)))
        return GpuState(
            utilisation_percent=int(utilization.gpu),
            memory_used_bytes=int(memory.used),
            memory_total_bytes=int(memory.total),
            temperature_celsius=int(celsius.value),
        )

    def driver(self) -> str:
        """The version of the kernel's driver, such as 550.54.15."""
        version = ctypes.create_string_buffer(VERSION_LENGTH)
        with self._guarded():
            self._check(self._library.nvmlSystemGetDriverVersion(version, VERSION_LENGTH))
        return version.value.decode(errors="replace")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """One call at a time, and none after the library was closed."""
        with self._using:
            if self._is_closed:
                raise NvmlClosedError(PAUSED)
            yield

    def _handle(self, gpu_uuid: str) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._check(self._library.nvmlDeviceGetHandleByUUID(gpu_uuid.encode(), ctypes.byref(handle)))
        return handle

    def _check(self, code: int) -> None:
        if code != 0:
            self._library.nvmlErrorString.restype = ctypes.c_char_p
            words = self._library.nvmlErrorString(code) or b"unknown error"
            raise NvmlError(f"NVML {code}: {words.decode(errors='replace')[:MESSAGE_LENGTH]}")

    def close(self) -> None:
        with self._using:
            self._is_closed = True
            self._library.nvmlShutdown()


def open_nvml(load: Callable[[str], Any] = ctypes.CDLL, names: tuple[str, ...] = LIBRARIES) -> Nvml | str:
    """The library, or why there is none."""
    for name in names:
        try:
            library = load(name)
        except OSError:
            continue
        try:
            return Nvml(library)
        except NvmlError as error:
            return f"the NVML library on this node does not start: {error}"
    return NO_LIBRARY


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
