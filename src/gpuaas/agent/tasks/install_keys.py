"""`allocation.install_authorized_keys`: exactly these keys admit from now on."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, allocation_of, environment_at, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.environments import KeySet, Ownership
from gpuaas.wire.link import TaskBody
from gpuaas.wire.tasks import INSTALL_KEYS, Changed, TaskKind


@dataclass(frozen=True)
class InstallAuthorizedKeys:
    """Describes only keys, so it waits for an environment that is being created, and replaces only older keys."""

    replaces: ClassVar = frozenset({TaskKind.INSTALL_KEYS})
    allocation_id: str
    boot: int
    keys: KeySet
    ownership: Ownership | None

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects[Changed]:  # noqa: ARG002 - keys have no phases
        # A key set belongs to the allocation, whatever its boot, so a revoke does not wait for the check of the boot.
        await engine.set_keys(self.allocation_id, self.keys)
        if self.ownership is not None:
            await engine.set_ownership(self.allocation_id, self.ownership)
        here = await environment_at(engine, self.allocation_id, self.boot, what="keys")
        return Effects(Changed(environment=here))


def read(body: TaskBody) -> InstallAuthorizedKeys:
    wants = read_wants(body, INSTALL_KEYS)
    return InstallAuthorizedKeys(allocation_of(body), body.boot, wants.keys, wants.ownership)
