"""`environment.remove`: nothing of it is left, and each kind of residue was looked for."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, allocation_of, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import RemoveEnvironment, TaskBody, TaskKind


@dataclass(frozen=True)
class Remove:
    """Ends everything under way for its allocation, an older removal too: asking again may free one that hangs."""

    replaces: ClassVar = frozenset(
        {
            TaskKind.ENSURE,
            TaskKind.INSTALL_KEYS,
            TaskKind.END_SESSION,
            TaskKind.WRITE_RUNTIME,
            TaskKind.VOLUME_ATTACH,
            TaskKind.VOLUME_DETACH,
            TaskKind.REMOVE,
        }
    )
    allocation_id: str

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:
        proofs = tuple(await engine.remove(self.allocation_id, on_phase))
        left = ", ".join(proof.item for proof in proofs if not proof.ok)
        return Effects(proofs=proofs, shortfall=f"not cleaned: {left}" if left else "")


def read(body: TaskBody) -> Remove:
    read_wants(body, RemoveEnvironment)
    return Remove(allocation_of(body))
