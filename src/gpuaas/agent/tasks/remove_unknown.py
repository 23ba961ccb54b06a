"""`environment.remove_unknown`: like `environment.remove`, for an unknown environment."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, environment_of, read_wants, removed
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import REMOVE_UNKNOWN, Removed, RemoveUnknown, TaskKind


@dataclass(frozen=True)
class RemoveUnknownEnvironment:
    replaces: ClassVar = frozenset({TaskKind.REMOVE_UNKNOWN})
    wants: RemoveUnknown

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Removed]:
        """Removes only the environment that the operator saw, identified by its host key."""
        here = await environment_of(engine, self.wants.environment_id)
        if here is not None and here.host_key and here.host_key != self.wants.host_key:
            raise TaskRefusedError("another environment", f"{self.wants.environment_id} has another host key")
        return removed(await engine.remove(self.wants.environment_id, on_phase), "not cleaned")


def read(body: TaskBody) -> RemoveUnknownEnvironment:
    return RemoveUnknownEnvironment(read_wants(body, REMOVE_UNKNOWN))
