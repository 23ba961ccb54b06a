"""`allocation.end_session`: end one connection."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, allocation_of, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import END_SESSION, EndSession, Nothing, TaskKind


@dataclass(frozen=True)
class End:
    """A connection that has already ended counts as success."""

    replaces: ClassVar[frozenset[TaskKind]] = frozenset()
    allocation_id: str
    wants: EndSession

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Nothing]:  # noqa: ARG002 - ending one has no phases
        await engine.end_connection(self.allocation_id, self.wants.session_id, self.wants.reason)
        return Effects(Nothing())


def read(body: TaskBody) -> End:
    return End(allocation_of(body), read_wants(body, END_SESSION))
