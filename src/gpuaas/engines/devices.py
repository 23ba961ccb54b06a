"""Assigns GPUs to environments. A device has at most one user."""

from collections.abc import Iterable

from gpuaas.engines.base import EngineError

UNKNOWN = None
"""The devices of an environment with an unreadable record: no other environment may take any device."""


class DeviceInUseError(EngineError):
    def __init__(self, allocation_id: str, device: str, holder: str) -> None:
        detail = f"{allocation_id} wants {device}, which environment {holder} uses"
        super().__init__("a GPU of this node is in use by another environment", detail)


class Devices:
    """Reserving is synchronous, so that two concurrent creates cannot share a device."""

    def __init__(self) -> None:
        self._held: dict[str, frozenset[str] | None] = {}

    def hold(self, allocation_id: str, uuids: Iterable[str] | None) -> None:
        """Set the devices of the environment; UNKNOWN if they cannot be determined."""
        self._held[allocation_id] = UNKNOWN if uuids is None else frozenset(uuids)

    def reserve(self, allocation_id: str, uuids: Iterable[str]) -> None:
        """Also hold these devices, or raise if another environment holds one."""
        wanted = frozenset(uuids)
        for other, held in self._held.items():
            taken = wanted if held is UNKNOWN else wanted & held
            if other != allocation_id and taken:
                raise DeviceInUseError(allocation_id, min(taken), other)
        held = self._held.get(allocation_id, frozenset())
        self._held[allocation_id] = wanted if held is UNKNOWN else held | wanted

    def are_free(self, uuids: Iterable[str]) -> bool:
        wanted = frozenset(uuids)
        return not any(wanted if held is UNKNOWN else wanted & held for held in self._held.values())

    def others(self, allocation_id: str) -> frozenset[str] | None:
        """Devices of all other environments; UNKNOWN if those of one are unknown."""
        held = [uuids for other, uuids in self._held.items() if other != allocation_id]
        known = [uuids for uuids in held if uuids is not UNKNOWN]
        return frozenset[str]().union(*known) if len(known) == len(held) else UNKNOWN

    def release(self, allocation_id: str) -> None:
        self._held.pop(allocation_id, None)

    def of(self, allocation_id: str) -> tuple[str, ...] | None:
        held = self._held.get(allocation_id, frozenset())
        return UNKNOWN if held is UNKNOWN else tuple(sorted(held))
