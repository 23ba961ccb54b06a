"""Keeps the spares that the server wants. Tasks have priority: nothing is prepared while a task runs."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from gpuaas.agent.outgoing import Outgoing
from gpuaas.engines.base import EngineError, Spares
from gpuaas.wire.environments import USERNAME, NodeFacts
from gpuaas.wire.spares import SpareForm, WantedSpares

QUIET_SECONDS = 0.5  # without a task before the next spare is created, because people come first
LOOK_SECONDS = 5.0

log = structlog.get_logger()


def fits(form: SpareForm, facts: NodeFacts) -> bool:
    """Whether its GPUs are those that the node found, its size fits the node, and its user is the standard one."""
    own = {(gpu.index, gpu.gpu_uuid, gpu.gpu_pci) for gpu in facts.gpus if gpu.simulated == form.simulated}
    slots = {(slot.index, slot.gpu_uuid, slot.gpu_pci) for slot in form.slots}
    return (
        form.username == USERNAME
        and 0 < len(slots) == len(form.slots)
        and slots <= own
        and 0 < form.vcpus <= facts.vcpus
        and 0 < form.memory_mib <= facts.memory_mib
        and form.disk_gib > 0
        and (facts.disk is None or form.disk_gib <= facts.disk.size_gib)
    )


class SpareKeeper:
    def __init__(self, spares: Spares, outgoing: Outgoing, is_idle: Callable[[], bool], facts: NodeFacts) -> None:
        self._spares, self._outgoing, self._is_idle, self._facts = spares, outgoing, is_idle, facts
        self._wanted = WantedSpares(forms=[])
        self._told: object = None
        self._wake = asyncio.Event()

    def want(self, wanted: WantedSpares) -> None:
        """The list is not signed, unlike tasks, so it is limited to what can be sold here: one form per GPU."""
        forms = [form for form in wanted.forms if fits(form, self._facts)][: len(self._facts.gpus)]
        if len(forms) < len(wanted.forms):
            log.warning("spares.not_wanted", refused=len(wanted.forms) - len(forms))
        self._wanted = WantedSpares(forms=forms)
        self._wake.set()

    def forget(self) -> None:
        """Everything is sent again on a new link."""
        self._told = None
        self._wake.set()

    def look(self) -> None:
        """A task ended: it may have used a spare, or released the devices of one."""
        self._wake.set()

    async def run(self) -> None:
        while True:
            self._wake.clear()
            try:
                while await self._step():
                    pass
            except (EngineError, OSError) as error:
                log.warning("spares.failed", error=repr(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wake.wait()
            await asyncio.sleep(QUIET_SECONDS)

    async def _step(self) -> bool:
        await self._spares.want(self._wanted.forms)
        is_more = self._is_idle() and await self._spares.keep()
        report = await self._spares.report()
        if report != self._told and self._outgoing.put(report):
            self._told = report
        return is_more
