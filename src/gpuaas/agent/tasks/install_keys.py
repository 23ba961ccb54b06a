"""`allocation.install_authorized_keys`: exactly these keys admit from now on."""

from dataclasses import dataclass
from typing import ClassVar

from gpuaas.agent.tasks.work import Effects, TaskRefusedError, allocation_of, read_wants
from gpuaas.engines.base import Engine, OnPhase
from gpuaas.wire.environments import Environment, KeySet
from gpuaas.wire.link import InstallKeys, TaskBody, TaskKind


@dataclass(frozen=True)
class InstallAuthorizedKeys:
    """Names keys alone, so it waits for an environment in the making and replaces only older keys."""

    replaces: ClassVar = frozenset({TaskKind.INSTALL_KEYS})
    allocation_id: str
    boot: int
    keys: KeySet

    async def perform(self, engine: Engine, on_phase: OnPhase) -> Effects:  # noqa: ARG002 - keys have no phases
        here = await self._environment(engine)
        if here is None or here.boot != self.boot:
            found = "no environment" if here is None else f"boot {here.boot}"
            raise TaskRefusedError("stale_boot", f"keys for boot {self.boot}, and there is {found}")
        await engine.set_keys(self.allocation_id, self.keys)
        return Effects(environment=await self._environment(engine))

    async def _environment(self, engine: Engine) -> Environment | None:
        seen = await engine.observe()
        return next((one for one in seen if one.allocation_id == self.allocation_id), None)


def read(body: TaskBody) -> InstallAuthorizedKeys:
    return InstallAuthorizedKeys(allocation_of(body), body.boot, read_wants(body, InstallKeys).keys)
