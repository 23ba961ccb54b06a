"""Tasks about volumes and `storage.conformance`: they concern data of the node, not an environment."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, read_wants, removed
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.environments import EnvironmentState
from gpuaas.wire.link import TaskBody
from gpuaas.wire.storage import VolumeObservation
from gpuaas.wire.tasks import (
    STORAGE_CONFORMANCE,
    VOLUME_DELETE,
    VOLUME_ENSURE,
    VOLUME_MEASURE,
    VOLUME_REMOVE_UNKNOWN,
    VOLUME_SNAPSHOT,
    ConformStorage,
    Copied,
    DeleteVolume,
    EnsureVolume,
    Measured,
    MeasureVolume,
    Removed,
    RemoveUnknownVolume,
    SnapshotVolume,
    TaskKind,
    Tried,
)

NOTHING: frozenset[TaskKind] = frozenset()


@dataclass(frozen=True)
class Ensure:
    replaces: ClassVar = NOTHING
    wants: EnsureVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Measured]:
        wants = self.wants
        made = await engine.volumes.ensure(wants.volume, wants.snapshot_id, on_phase, ownership=wants.ownership)
        return Effects(Measured(volume=made))


@dataclass(frozen=True)
class Delete:
    replaces: ClassVar = NOTHING
    wants: DeleteVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Removed]:
        return removed(await engine.volumes.delete(self.wants.volume, on_phase), "not gone")


@dataclass(frozen=True)
class RemoveUnknown:
    replaces: ClassVar = frozenset({TaskKind.VOLUME_REMOVE_UNKNOWN})
    wants: RemoveUnknownVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Removed]:
        """Removes only the volume that the operator saw, and never one that an environment may be using."""
        wanted = self.wants.volume
        for here in await engine.volumes.present():
            is_it = (here.volume_id, here.backend) == (wanted.volume_id, wanted.backend)
            if is_it and here.ownership != self.wants.ownership:
                raise TaskRefusedError("another volume", f"{wanted.volume_id} has another ownership record")
        for environment in await engine.observe():
            if environment.state is EnvironmentState.UNKNOWN:
                raise TaskRefusedError(
                    f"the node cannot determine whether {environment.allocation_id} uses the volume", environment.detail
                )
            if any(mount.volume_id == wanted.volume_id for mount in environment.mounts):
                raise TaskRefusedError(f"the volume is mounted in {environment.allocation_id}", wanted.volume_id)
        return await Delete(DeleteVolume(volume=wanted)).perform(engine, on_phase)


@dataclass(frozen=True)
class Measure:
    replaces: ClassVar = NOTHING
    wants: MeasureVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Measured]:  # noqa: ARG002 - a look has no phases
        if self.wants.ownership:
            await engine.volumes.set_ownership(self.wants.volume, self.wants.ownership)
        return Effects(Measured(volume=await engine.volumes.measure(self.wants.volume)))


@dataclass(frozen=True)
class TakeSnapshot:
    replaces: ClassVar = NOTHING
    wants: SnapshotVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Copied]:
        """The observation is of the snapshot: it has the size of the copy."""
        size, note = await engine.volumes.snapshot(self.wants.volume, self.wants.snapshot_id, on_phase)
        seen = await engine.volumes.measure(self.wants.volume)
        copy = VolumeObservation(volume_id=self.wants.snapshot_id, used_bytes=size, quota=seen.quota, at=seen.at)
        return Effects(Copied(volume=copy, note=note))


@dataclass(frozen=True)
class Conform:
    replaces: ClassVar = NOTHING
    wants: ConformStorage

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Tried]:
        return Effects(Tried(checks=await engine.volumes.conform(self.wants.backend, on_phase)))


def read_ensure(body: TaskBody) -> Ensure:
    return Ensure(read_wants(body, VOLUME_ENSURE))


def read_delete(body: TaskBody) -> Delete:
    return Delete(read_wants(body, VOLUME_DELETE))


def read_remove_unknown(body: TaskBody) -> RemoveUnknown:
    return RemoveUnknown(read_wants(body, VOLUME_REMOVE_UNKNOWN))


def read_measure(body: TaskBody) -> Measure:
    return Measure(read_wants(body, VOLUME_MEASURE))


def read_snapshot(body: TaskBody) -> TakeSnapshot:
    return TakeSnapshot(read_wants(body, VOLUME_SNAPSHOT))


def read_conformance(body: TaskBody) -> Conform:
    return Conform(read_wants(body, STORAGE_CONFORMANCE))
