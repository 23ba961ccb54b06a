"""PCI devices of a node from sysfs."""

import re
from pathlib import Path

from gpuaas.wire.environments import SlotDevice

DEVICES = Path("/sys/bus/pci/devices")
PCI = re.compile(r"([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])")


def normalize_pci(address: str) -> str | None:
    """nvidia-smi writes the domain with eight digits, the kernel with four."""
    match = PCI.fullmatch(address.lower())
    return f"{int(match[1], 16):04x}:{match[2]}:{match[3]}.{match[4]}" if match else None


class PciDevices:
    """By address."""

    def __init__(self, devices: Path = DEVICES) -> None:
        self._devices = devices

    def folder(self, slot: SlotDevice) -> Path | None:
        address = normalize_pci(slot.gpu_pci)
        return self._devices / address if address and (self._devices / address).is_dir() else None

    def driver(self, folder: Path) -> str:
        try:
            return (folder / "driver").readlink().name
        except OSError:
            return ""

    def hive(self, folder: Path) -> tuple[str, ...]:
        """Addresses of other GPUs that XGMI connects it with: AMD's driver resets all of them."""
        here = self._hive_id(folder)
        found = (path for path in self._devices.iterdir() if here and path.name != folder.name)
        return tuple(sorted(path.name for path in found if self._hive_id(path) == here))

    def _hive_id(self, folder: Path) -> str:
        try:
            return (folder / "xgmi_hive_info" / "xgmi_hive_id").read_text().strip()
        except OSError:
            return ""
