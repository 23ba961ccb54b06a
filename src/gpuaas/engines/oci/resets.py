"""Resets the GPUs of an environment whose processes have ended: before its next boot, and before others get them.

A GPU that another environment uses, or that is reset together with such a GPU, is never reset. An environment that
needs a GPU waits for its reset. Only one reset runs at a time, because the vendors' tools access the whole node.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

import structlog
from msgspec.structs import replace

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.devices import UNKNOWN, Devices
from gpuaas.engines.node.gpu_resets import NvidiaReset, ResetMethod, ResetMethods, cannot
from gpuaas.engines.node.pci import normalize_pci
from gpuaas.engines.node.records import Record, Remains
from gpuaas.engines.nvml import NvmlSource
from gpuaas.wire.environments import GPU_RESET, EnvironmentSpec, GpuFact, GpuReset, ProofItem, SlotDevice

SWITCHED_OFF = "resets are switched off on this node"
PHASE = "gpus_reset"
log = structlog.get_logger()


@dataclass(frozen=True)
class Outcome:
    """The result for one GPU. A reset that was not attempted is not a failure."""

    slot: SlotDevice
    words: str
    has_failed: bool = False


class Resets:
    def __init__(self, devices: Devices, methods: ResetMethods, nvml: NvmlSource, *, is_on: bool = True) -> None:
        self._devices, self._methods, self._nvml, self._is_on = devices, methods, nvml, is_on
        self._addresses: dict[str, str] = {}  # by UUID, of every GPU that environments here were given
        self._one = asyncio.Lock()
        self._resetting: frozenset[str] = frozenset()  # addresses
        self._ended = asyncio.Event()

    def learn(self, slots: Iterable[SlotDevice]) -> None:
        """Record the addresses of an environment's GPUs, so that resets of other environments exclude them."""
        self._addresses |= {slot.gpu_uuid: _address(slot) for slot in slots}

    async def settled(self, slots: Sequence[SlotDevice]) -> None:
        """Wait until no reset of these GPUs runs. Reserve them without another await: later resets then skip them."""
        self.learn(slots)
        while self._resetting & {_address(slot) for slot in slots}:
            await self._ended.wait()

    @asynccontextmanager
    async def none_running(self) -> AsyncIterator[None]:
        """Use NVML, which is closed while a GPU is reset. No reset begins meanwhile."""
        async with self._one:
            yield

    async def described(self, gpus: Iterable[GpuFact]) -> tuple[GpuFact, ...]:
        """The proof of their resets."""
        return tuple([replace(gpu, reset=await self._look(_slot(gpu), simulated=gpu.simulated)) for gpu in gpus])

    async def _look(self, slot: SlotDevice, *, simulated: bool) -> GpuReset:
        return await self._methods.of(slot, simulated=simulated).look(slot) if self._is_on else cannot(SWITCHED_OFF)

    async def before_boot(self, record: Record, spec: EnvironmentSpec, on_phase: OnPhase) -> None:
        """The environment boots regardless of the result, because it keeps its GPUs. A GPU that leaves it is not given
        to others after a failed reset."""
        outcomes = await self.reset(spec.allocation_id, record.slots, simulated=record.spec.simulated)
        if outcomes:
            await on_phase(PHASE, summary(outcomes))
        if left := [one for one in outcomes if one.has_failed and one.slot.gpu_uuid not in spec.devices]:
            raise EngineError("a GPU that leaves this allocation could not be reset", summary(left))

    async def after_removal(self, id: str, remains: Remains, on_phase: OnPhase) -> ProofItem:
        """A failed reset fails the proof, because the state of the GPU is unknown. A GPU without reset support passes,
        because it could never be sold again otherwise."""
        outcomes = await self.reset(id, remains.slots, simulated=remains.simulated)
        if outcomes:
            await on_phase(PHASE, summary(outcomes))
        evidence = summary(outcomes) or "no GPU of it is known"
        return ProofItem(item=GPU_RESET, ok=not any(one.has_failed for one in outcomes), evidence=evidence)

    async def reset(self, id: str, slots: Sequence[SlotDevice], *, simulated: bool) -> list[Outcome]:
        """Reset the GPUs of an environment without processes, in the order of its slots."""
        async with self._one:
            found = {slot: await self._look(slot, simulated=simulated) for slot in slots}
            # No await until they are marked, so that no other task can reserve one of them.
            others = self._devices.others(id)
            spared = {
                slot: what.detail if not what.method else objection(slot, what, others, self._addresses)
                for slot, what in found.items()
            }
            chosen = {slot: what for slot, what in found.items() if not spared[slot]}
            self._ended.clear()
            self._resetting = frozenset(
                address for slot, what in chosen.items() for address in (_address(slot), *what.together)
            )
            try:
                problems = await self._perform(list(chosen), simulated=simulated)
            finally:
                self._resetting = frozenset()
                self._ended.set()
        return [_outcome(slot, what, spared[slot], problems.get(slot, "")) for slot, what in found.items()]

    async def _perform(self, slots: list[SlotDevice], *, simulated: bool) -> dict[SlotDevice, str]:
        """Reset GPUs with the same method together, as some tools require."""
        groups: dict[int, tuple[ResetMethod, list[SlotDevice]]] = {}
        for slot in slots:
            method = self._methods.of(slot, simulated=simulated)
            groups.setdefault(id(method), (method, []))[1].append(slot)
        problems: dict[SlotDevice, str] = {}
        for method, group in groups.values():
            async with self._nvml.paused() if isinstance(method, NvidiaReset) else nullcontext():
                problem = await method.reset(group)
            log.info("gpus.reset", gpus=[slot.gpu_uuid for slot in group], problem=problem)
            problems |= dict.fromkeys(group, problem)
        return problems


def objection(slot: SlotDevice, found: GpuReset, others: frozenset[str] | None, addresses: Mapping[str, str]) -> str:
    """Why a GPU must not be reset now because of GPUs in use by other environments; empty if it may. A GPU with an
    unknown address could be any GPU."""
    if others is UNKNOWN:
        return "the GPUs of another environment are unknown"
    if slot.gpu_uuid in others:
        return "another environment uses it"
    used = {addresses.get(uuid) for uuid in others}
    if found.together and (None in used or not used.isdisjoint(found.together)):
        return "a reset would also reset GPUs that another environment uses"
    return ""


def _outcome(slot: SlotDevice, found: GpuReset, spared: str, problem: str) -> Outcome:
    if spared or problem:
        return Outcome(slot, f"not reset: {spared or problem}", has_failed=not spared)
    return Outcome(slot, f"reset ({found.method})")


def summary(outcomes: Sequence[Outcome]) -> str:
    """Format the results: `GPU 0, 1: reset (nvidia-smi); GPU 2: not reset: …`."""
    numbers: dict[str, list[str]] = {}
    for one in outcomes:
        numbers.setdefault(one.words, []).append(str(one.slot.index))
    return "; ".join(f"GPU {', '.join(which)}: {words}" for words, which in numbers.items())


def _address(slot: SlotDevice) -> str:
    return normalize_pci(slot.gpu_pci) or slot.gpu_pci


def _slot(gpu: GpuFact) -> SlotDevice:
    return SlotDevice(index=gpu.index, gpu_uuid=gpu.gpu_uuid, gpu_pci=gpu.gpu_pci, numa=gpu.numa)
