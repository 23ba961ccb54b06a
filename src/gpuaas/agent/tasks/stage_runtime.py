"""`runtime.stage`: a bundle is on this node, complete and checked."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, read_wants
from gpuaas.engines.base import Engine, Telling
from gpuaas.wire.link import TaskBody
from gpuaas.wire.runtimes import digest_of
from gpuaas.wire.tasks import STAGE_RUNTIME, Staged, StageRuntime, TaskKind


@dataclass(frozen=True)
class Stage:
    """A task of the node as a whole: it waits for older tasks of its bundle, and finds their work done."""

    replaces: ClassVar[frozenset[TaskKind]] = frozenset()
    wants: StageRuntime

    async def perform(self, engine: Engine, tell: Telling, /) -> Effects[Staged]:
        bundle = await engine.runtimes.stage(self.wants.bundle, tell, manifest=self.wants.manifest)
        return Effects(Staged(bundle=bundle))


def read(body: TaskBody) -> Stage:
    wants = read_wants(body, STAGE_RUNTIME)
    if body.allocation_id is not None:
        raise TaskRefusedError("malformed task", "a bundle is staged for the node, never for one allocation")
    if digest_of(wants.bundle.recipe) != wants.bundle.digest:
        raise TaskRefusedError("malformed task", "the recipe is not the one its digest names")
    return Stage(wants)
