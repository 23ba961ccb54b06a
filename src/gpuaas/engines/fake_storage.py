"""Volumes and mounts in memory with the same contract."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.wire.environments import EnvironmentState, Mount, ProofItem
from gpuaas.wire.storage import (
    AccessMode,
    Backend,
    Check,
    PresentVolume,
    VolumeObservation,
    VolumeOwnership,
    VolumeRef,
    WantedMount,
)

CHECKS = (
    "concurrent_writers",
    "locks",
    "visibility",
    "quota",
    "project_isolation",
    "many_mounts",
    "node_loss",
    "one_owner",
)


class Mountable(Protocol):
    state: EnvironmentState
    mounts: dict[str, Mount]


@dataclass
class FakeDisk:
    """Data that outlives environments and agents; `files` is the content of a volume by name."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    failing_checks: set[str] = field(default_factory=set)
    places: dict[str, tuple[Backend, int]] = field(default_factory=dict)  # backend and node of each volume
    ownership: dict[str, VolumeOwnership] = field(default_factory=dict)


class FakeVolumes:
    """`node` distinguishes local volumes of nodes with a common disk."""

    def __init__(self, disk: FakeDisk, clock: Callable[[], datetime], node: int = 0) -> None:
        self.disk, self._clock, self._node = disk, clock, node

    async def ensure(
        self,
        volume: VolumeRef,
        snapshot_id: str | None,
        on_phase: OnPhase,
        *,
        ownership: VolumeOwnership | None = None,
    ) -> VolumeObservation:
        if volume.volume_id in self.disk.deleted:
            raise EngineError("this volume was deleted and cannot be created again", volume.volume_id)
        if volume.volume_id not in self.disk.files:
            await on_phase("volume_preparing", "making it")
            if snapshot_id and snapshot_id not in self.disk.files:
                raise EngineError("the snapshot's data is not on this node", snapshot_id)
            self.disk.files[volume.volume_id] = dict(self.disk.files[snapshot_id]) if snapshot_id else {}
            self.disk.places[volume.volume_id] = volume.backend, self._node
        if ownership:
            await self.set_ownership(volume, ownership)
        return await self.measure(volume)

    async def set_ownership(self, volume: VolumeRef, ownership: VolumeOwnership) -> None:
        self.find(volume)
        self.disk.ownership[volume.volume_id] = ownership

    async def present(self) -> list[PresentVolume]:
        return [
            PresentVolume(volume_id=id, backend=backend, quota="measured", ownership=self.disk.ownership.get(id))
            for id, (backend, node) in sorted(self.disk.places.items())
            if backend is Backend.SHARED or node == self._node
        ]

    def find(self, volume: VolumeRef) -> dict[str, bytes]:
        if volume.volume_id not in self.disk.files:
            raise EngineError("the volume's data is not on this node", volume.volume_id)
        return self.disk.files[volume.volume_id]

    async def measure(self, volume: VolumeRef) -> VolumeObservation:
        used = sum(len(content) for content in self.find(volume).values())
        return VolumeObservation(volume_id=volume.volume_id, used_bytes=used, quota="measured", at=self._clock())

    async def snapshot(self, volume: VolumeRef, snapshot_id: str, on_phase: OnPhase) -> tuple[int, str]:
        content = self.disk.files.setdefault(snapshot_id, dict(self.find(volume)))
        await on_phase("snapshot_copying", "in memory")
        return sum(len(one) for one in content.values()), "crash-consistent: all of one moment"

    async def delete(self, volume: VolumeRef, on_phase: OnPhase) -> list[ProofItem]:
        await on_phase("volume_deleting", "erasing its data")
        self.disk.deleted.add(volume.volume_id)
        for kept in (self.disk.files, self.disk.places, self.disk.ownership):
            kept.pop(volume.volume_id, None)
        return [ProofItem(item="data", ok=True, evidence="looked for in memory")]

    async def conform(self, backend: Backend, on_phase: OnPhase) -> list[Check]:
        await on_phase("conformance_running", f"{backend} storage is being tried")
        failing = self.disk.failing_checks
        return [Check(check=name, ok=name not in failing, evidence="simulated by the fake engine") for name in CHECKS]


class FakeMounts:
    """`busy` maps a mount path to its user."""

    def __init__(self, volumes: FakeVolumes, environment: Callable[[str], Mountable | None]) -> None:
        self._volumes, self._environment = volumes, environment
        self.busy: dict[tuple[str, str], str] = {}

    async def attach(self, allocation_id: str, wanted: WantedMount, on_phase: OnPhase) -> None:
        self._volumes.find(wanted.volume)
        here = self._environment(allocation_id)
        if here is None or here.state is not EnvironmentState.RUNNING:
            raise EngineError("the environment is not running", allocation_id)
        made = Mount(
            volume_id=wanted.volume.volume_id,
            mount_path=wanted.mount_path,
            read_only=wanted.access_mode is AccessMode.READ_ONLY,
        )
        if here.mounts.get(wanted.mount_path, made) != made:
            raise EngineError("another volume is mounted at this path", wanted.mount_path)
        await on_phase("volume_mounting", f"at {wanted.mount_path}")
        here.mounts[wanted.mount_path] = made

    async def detach(
        self, allocation_id: str, volume: VolumeRef, mount_path: str, *, force: bool, on_phase: OnPhase
    ) -> str:
        here = self._environment(allocation_id)
        if here is None or here.mounts.get(mount_path) is None:
            return "it was not mounted"
        if here.mounts[mount_path].volume_id != volume.volume_id:
            return "it was not mounted"
        await on_phase("volume_unmounting", f"from {mount_path}")
        who = self.busy.get((allocation_id, mount_path), "")
        if who and not force:
            raise EngineError(f"the volume is in use: {who}", mount_path)
        self.busy.pop((allocation_id, mount_path), None)
        del here.mounts[mount_path]
        return "unmounted"
