"""`node.probe`: what this machine is, found again."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import TaskBody, TaskKind


@dataclass(frozen=True)
class Probe:
    replaces: ClassVar[frozenset[TaskKind]] = frozenset()

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:  # noqa: ARG002 - a probe has no phases
        return Effects(facts=await engine.probe())


def read(body: TaskBody) -> Probe:  # noqa: ARG001 - a probe wants nothing more
    return Probe()
