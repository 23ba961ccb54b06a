"""`environment.remove`: remove the environment, and check for every kind of residue."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, allocation_of, read_wants, removed
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import CONTRACTS, REMOVE, Removed


@dataclass(frozen=True)
class Remove:
    """Ends every task in progress of its allocation, including an older removal: a repeated removal may free one that
    hangs.
    """

    replaces: ClassVar = frozenset(each.kind for each in CONTRACTS.values() if each.ends_with_environment)
    allocation_id: str

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Removed]:
        return removed(await engine.remove(self.allocation_id, on_phase), "not cleaned")


def read(body: TaskBody) -> Remove:
    read_wants(body, REMOVE)
    return Remove(allocation_of(body))
