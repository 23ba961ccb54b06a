"""`runtime.write_env_file`: this bundle, or none, is current in the environment."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, allocation_of, environment_at, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import TaskBody
from gpuaas.wire.runtimes import RuntimeDescriptor
from gpuaas.wire.tasks import WRITE_RUNTIME, Changed, TaskKind


@dataclass(frozen=True)
class WriteEnvFile:
    """Describes the complete content, so a newer task makes older ones pointless."""

    replaces: ClassVar = frozenset({TaskKind.WRITE_RUNTIME})
    allocation_id: str
    boot: int
    descriptor: RuntimeDescriptor | None

    async def perform(self, engine: Engine, _: OnPhase, /) -> Effects[Changed]:
        here = await environment_at(engine, self.allocation_id, self.boot, what="a runtime")
        await engine.runtimes.write_descriptor(self.allocation_id, self.descriptor)
        return Effects(Changed(environment=here))


def read(body: TaskBody) -> WriteEnvFile:
    return WriteEnvFile(allocation_of(body), body.boot, read_wants(body, WRITE_RUNTIME).descriptor)
