"""`runtime.write_env_file`: this bundle is current in the environment, or none is."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, allocation_of, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import TaskBody, TaskKind, WriteRuntime
from gpuaas.wire.runtimes import RuntimeDescriptor


@dataclass(frozen=True)
class WriteEnvFile:
    """The whole wanted content, so a newer one makes older ones pointless."""

    replaces: ClassVar = frozenset({TaskKind.WRITE_RUNTIME})
    allocation_id: str
    boot: int
    descriptor: RuntimeDescriptor | None

    async def perform(self, engine: Engine, _: OnPhase, /) -> Effects:
        seen = await engine.observe()
        here = next((one for one in seen if one.allocation_id == self.allocation_id), None)
        if here is None or here.boot != self.boot:
            found = "no environment" if here is None else f"boot {here.boot}"
            raise TaskRefusedError("stale_boot", f"a runtime for boot {self.boot}, and there is {found}")
        await engine.runtimes.write_descriptor(self.allocation_id, self.descriptor)
        return Effects(environment=here)


def read(body: TaskBody) -> WriteEnvFile:
    return WriteEnvFile(allocation_of(body), body.boot, read_wants(body, WriteRuntime).descriptor)
