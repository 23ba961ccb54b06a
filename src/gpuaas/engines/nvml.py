"""NVIDIA's management library through ctypes: the few calls that samples and GPU checks need, and nothing installed.

Real GPUs are asked by their UUID, as it stands in the approved slot. A machine without the library has no NVML, and
says so; a GPU that does not answer is an error of that GPU, never of the machine.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from msgspec import Struct

LIBRARIES = ("libnvidia-ml.so.1", "libnvidia-ml.so")
NO_LIBRARY = "no NVML library on this node"
TEMPERATURE_GPU = 0
MESSAGE_LENGTH = 200
VERSION_LENGTH = 80  # NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE


class Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class MemoryInfo(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class NvmlError(Exception):
    """The library refused, with its own words."""


class GpuState(Struct, frozen=True, kw_only=True):
    utilisation_percent: int
    memory_used_bytes: int
    memory_total_bytes: int
    temperature_celsius: int


class Nvml:
    """One open library. Made by `open_nvml`; `library` is whatever has its functions."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._check(library.nvmlInit_v2())

    def state(self, gpu_uuid: str) -> GpuState:
        """What the GPU answers now; NvmlError when it does not."""
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
        self._check(self._library.nvmlSystemGetDriverVersion(version, VERSION_LENGTH))
        return version.value.decode(errors="replace")

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
