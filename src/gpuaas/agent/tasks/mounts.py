"""`volume.attach` and `volume.detach`: mount or unmount a volume in a running environment."""

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, allocation_of, environment_at, read_wants
from gpuaas.engines.base import Engine, EngineError, OnPhase
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import (
    VOLUME_ATTACH,
    VOLUME_DETACH,
    AttachVolumeTo,
    Detached,
    DetachVolumeFrom,
    Nothing,
    TaskKind,
)


@dataclass(frozen=True)
class Attach:
    """Waits for earlier tasks of the same environment, and replaces none, because they may be about other volumes."""

    replaces: ClassVar[frozenset[TaskKind]] = frozenset()
    allocation_id: str
    boot: int
    wants: AttachVolumeTo

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Nothing]:
        await environment_at(engine, self.allocation_id, self.boot, what="a volume")
        await engine.mounts.attach(self.allocation_id, self.wants.mount, on_phase)
        return Effects(Nothing())


@dataclass(frozen=True)
class Detach:
    """Independent of the boot: the end state is that nothing is mounted."""

    replaces: ClassVar[frozenset[TaskKind]] = frozenset()
    allocation_id: str
    wants: DetachVolumeFrom

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Detached]:
        note = await engine.mounts.detach(
            self.allocation_id,
            self.wants.volume,
            self.wants.mount_path,
            force=self.wants.force,
            on_phase=on_phase,
        )
        seen = None
        with suppress(EngineError):  # the unmount counts, even if the usage cannot be measured now
            seen = await engine.volumes.measure(self.wants.volume)
        return Effects(Detached(volume=seen, note=note))


def read_attach(body: TaskBody) -> Attach:
    return Attach(allocation_of(body), body.boot, read_wants(body, VOLUME_ATTACH))


def read_detach(body: TaskBody) -> Detach:
    return Detach(allocation_of(body), read_wants(body, VOLUME_DETACH))
