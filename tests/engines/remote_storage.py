"""The storage facets of an engine in another process."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gpuaas.engines.base import OnPhase
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.storage import (
    Backend,
    Check,
    PresentVolume,
    VolumeObservation,
    VolumeOwnership,
    VolumeRef,
    WantedMount,
)


class RemoteVolumes:
    """The facet over the same line as its engine."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    async def ensure(
        self,
        volume: VolumeRef,
        snapshot_id: str | None,
        on_phase: OnPhase,
        *,
        ownership: VolumeOwnership | None = None,
    ) -> VolumeObservation:
        made = await self._ask("volume_ensure", [volume, snapshot_id, ownership], on_phase)
        return msgspec.convert(made, VolumeObservation)

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        await self._ask("volume_set_ownership", [volume, ownership])

    async def present(self) -> list[PresentVolume]:
        return msgspec.convert(await self._ask("volumes_present"), list[PresentVolume])

    async def measure(self, volume: VolumeRef) -> VolumeObservation:
        return msgspec.convert(await self._ask("volume_measure", volume), VolumeObservation)

    async def snapshot(self, volume: VolumeRef, snapshot_id: str, on_phase: OnPhase) -> tuple[int, str]:
        return msgspec.convert(await self._ask("volume_snapshot", [volume, snapshot_id], on_phase), tuple[int, str])

    async def delete(self, volume: VolumeRef, on_phase: OnPhase) -> list[ProofItem]:
        return msgspec.convert(await self._ask("volume_delete", volume, on_phase), list[ProofItem])

    async def conform(self, backend: Backend, on_phase: OnPhase) -> list[Check]:
        return msgspec.convert(await self._ask("conform", backend, on_phase), list[Check])


class RemoteMounts:
    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    async def attach(self, allocation_id: str, wanted: WantedMount, on_phase: OnPhase) -> None:
        await self._ask("attach", [allocation_id, wanted], on_phase)

    async def detach(
        self, allocation_id: str, volume: VolumeRef, mount_path: str, *, force: bool, on_phase: OnPhase
    ) -> str:
        return str(await self._ask("detach", [allocation_id, volume, mount_path, force], on_phase))
