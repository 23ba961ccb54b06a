"""`volume.ensure`, `.delete`, `.measure`, `.snapshot` and `storage.conformance`: data of a node, of no environment."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import (
    ConformStorage,
    DeleteVolume,
    EnsureVolume,
    MeasureVolume,
    SnapshotVolume,
    TaskBody,
    TaskKind,
)
from gpuaas.wire.storage import VolumeObservation

NOTHING: frozenset[TaskKind] = frozenset()


@dataclass(frozen=True)
class Ensure:
    replaces: ClassVar = NOTHING
    wants: EnsureVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:
        return Effects(volume=await engine.volumes.ensure(self.wants.volume, self.wants.snapshot_id, on_phase))


@dataclass(frozen=True)
class Delete:
    replaces: ClassVar = NOTHING
    wants: DeleteVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:
        proofs = tuple(await engine.volumes.delete(self.wants.volume, on_phase))
        left = ", ".join(proof.item for proof in proofs if not proof.ok)
        return Effects(proofs=proofs, shortfall=f"not gone: {left}" if left else "")


@dataclass(frozen=True)
class Measure:
    replaces: ClassVar = NOTHING
    wants: MeasureVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:  # noqa: ARG002 - a look has no phases
        return Effects(volume=await engine.volumes.measure(self.wants.volume))


@dataclass(frozen=True)
class TakeSnapshot:
    replaces: ClassVar = NOTHING
    wants: SnapshotVolume

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:
        """What is observed here is the snapshot: the size of the copy."""
        size, note = await engine.volumes.snapshot(self.wants.volume, self.wants.snapshot_id, on_phase)
        seen = await engine.volumes.measure(self.wants.volume)
        copy = VolumeObservation(volume_id=self.wants.snapshot_id, used_bytes=size, quota=seen.quota, at=seen.at)
        return Effects(volume=copy, note=note)


@dataclass(frozen=True)
class Conform:
    replaces: ClassVar = NOTHING
    wants: ConformStorage

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:
        return Effects(checks=tuple(await engine.volumes.conform(self.wants.backend, on_phase)))


def read_ensure(body: TaskBody) -> Ensure:
    return Ensure(read_wants(body, EnsureVolume))


def read_delete(body: TaskBody) -> Delete:
    return Delete(read_wants(body, DeleteVolume))


def read_measure(body: TaskBody) -> Measure:
    return Measure(read_wants(body, MeasureVolume))


def read_snapshot(body: TaskBody) -> TakeSnapshot:
    return TakeSnapshot(read_wants(body, SnapshotVolume))


def read_conformance(body: TaskBody) -> Conform:
    return Conform(read_wants(body, ConformStorage))
