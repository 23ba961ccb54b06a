"""`environment.ensure`: the environment exists at the desired boot, and admits the desired keys."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, allocation_of, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.environments import EnvironmentSpec
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import ENSURE, Made, TaskKind


@dataclass(frozen=True)
class Ensure:
    """Describes the complete environment including keys, so it makes earlier tasks pointless."""

    replaces: ClassVar = frozenset({TaskKind.ENSURE, TaskKind.INSTALL_KEYS})
    spec: EnvironmentSpec

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Made]:
        return Effects(Made(environment=await engine.ensure(self.spec, on_phase)))


def read(body: TaskBody) -> Ensure:
    spec = read_wants(body, ENSURE).spec
    if (spec.allocation_id, spec.boot) != (allocation_of(body), body.boot):
        raise TaskRefusedError("malformed task", "the task and its spec name different allocations or boots")
    return Ensure(spec)
