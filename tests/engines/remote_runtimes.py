"""The runtimes of an engine in another process, and somebody who listens to what it tells."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gpuaas.engines.base import OnPhase, Telling
from gpuaas.wire.environments import ProofItem
from gpuaas.wire.runtimes import BundleSpec, RuntimeDescriptor, StagedBundle

Ask = Callable[[str, object, OnPhase], Awaitable[Any]]


class Ear:
    """Keeps phases and lines."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.lines: list[str] = []

    async def __call__(self, phase: str, note: str, /) -> None:
        self.phases.append(phase)

    def say(self, line: str) -> None:
        self.lines.append(line)


class RemoteRuntimes:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def stage(self, bundle: BundleSpec, tell: Telling, *, manifest: str = "") -> StagedBundle:
        return msgspec.convert(await self._ask("stage", [bundle, manifest], tell), StagedBundle)

    async def unstage(self, slug: str, version: str, tell: Telling) -> list[ProofItem]:
        return msgspec.convert(await self._ask("unstage", [slug, version], tell), list[ProofItem])

    async def staged(self) -> list[StagedBundle]:
        return msgspec.convert(await self._ask("staged", None, Ear()), list[StagedBundle])

    async def write_descriptor(self, allocation_id: str, descriptor: RuntimeDescriptor | None) -> None:
        await self._ask("write_descriptor", [allocation_id, descriptor], Ear())

    async def descriptor(self, allocation_id: str) -> RuntimeDescriptor | None:
        return msgspec.convert(await self._ask("descriptor", allocation_id, Ear()), RuntimeDescriptor | None)
