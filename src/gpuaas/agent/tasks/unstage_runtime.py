"""`runtime.unstage`: remove a bundle from this node, with proof."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, read_wants, removed
from gpuaas.engines.base import Engine, Telling
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import UNSTAGE_RUNTIME, Removed, TaskKind, UnstageRuntime


@dataclass(frozen=True)
class Unstage:
    """A task of the node as a whole, in the lane of its bundle: it waits for a staging in progress."""

    replaces: ClassVar[frozenset[TaskKind]] = frozenset()
    wants: UnstageRuntime

    async def perform(self, engine: Engine, tell: Telling, /) -> Effects[Removed]:
        proofs = await engine.runtimes.unstage(self.wants.slug, self.wants.version, tell)
        return removed(proofs, "still on the node")


def read(body: TaskBody) -> Unstage:
    if body.allocation_id is not None:
        raise TaskRefusedError("malformed task", "a bundle is removed from the node, never from one allocation")
    return Unstage(read_wants(body, UNSTAGE_RUNTIME))
