"""Replaces the oci engine on a node with missing requirements: reports them, and changes nothing.

Existing environments may still run. They are reported as unknown, from their records alone, and never as stopped,
broken or removed. The SSH gateway continues as it does without an agent.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Never

from gpuaas.engines.base import EngineError
from gpuaas.engines.images.node_images import NodeImages
from gpuaas.engines.logins import Logins
from gpuaas.engines.node.records import Records
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import environments, facts, requirements
from gpuaas.engines.oci.engine import OciEngine
from gpuaas.wire.environments import DiskSpace, Environment, Fact, NodeFacts
from gpuaas.wire.link import HOLDER_LEASE_SECONDS

CANNOT = "this node cannot make environments"


class Refusals:
    """Every facet of an engine; each operation is refused with the missing requirements."""

    def __init__(self, lacks: Sequence[str]) -> None:
        self._lacks = lacks

    async def _refuse(self, *_: object, **__: object) -> Never:
        raise EngineError(CANNOT, f"missing: {', '.join(self._lacks)}")

    stage = unstage = staged = write_descriptor = descriptor = _refuse  # runtimes
    ensure = set_ownership = present = measure = snapshot = delete = conform = _refuse  # volumes
    attach = detach = _refuse  # mounts
    want = keep = report = _refuse  # spares
    take = _refuse  # samples
    open = take_over = _refuse  # terminals


class IncapableEngine:
    name = "oci"
    capabilities = facts.CAPABILITIES

    def __init__(
        self,
        root: Path,
        lacks: Sequence[str],
        images: NodeImages,
        *,
        probe: Callable[[], Coroutine[Any, Any, NodeFacts]],
        disk_space: Callable[[], Coroutine[Any, Any, DiskSpace]],
    ) -> None:
        self.lacks, self.images = tuple(lacks), images
        self._records = Records(Site(root).environments)
        self.probe, self.disk_space = probe, disk_space
        self.logins, refusals = Logins(), Refusals(self.lacks)
        self.samples = self.runtimes = self.volumes = self.mounts = self.terminals = self.spares = refusals
        self.ensure = self.set_keys = self.connections = refusals.ensure
        self.remove = self.end_connection = self.end_connections = refusals.ensure
        self.set_ownership = refusals.set_ownership

    async def start(self) -> None:
        """Does not open, adopt or clean up anything."""

    async def close(self, *, stop_environments: bool) -> None:
        """Does not stop anything, because the running processes are unknown."""

    async def changed_facts(self) -> dict[str, Fact]:
        return {}

    async def observe(self) -> list[Environment]:
        """Raises if the records cannot be listed, because an empty list would report all of them as removed."""
        return await asyncio.to_thread(self._observe)

    def _observe(self) -> list[Environment]:
        reason = f"the node lacks {', '.join(self.lacks)}"
        try:
            return [environments.recorded(self._records, id, reason) for id in self._records.ids()]
        except OSError as error:
            raise EngineError("the node cannot look at its environments", f"{error!r}; {reason}") from error

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        """Does not renew the lease: key sets cannot change here, so keys expire as on a node without a link."""

    async def enforce(self) -> int:
        """The SSH gateway enforces the lease itself."""
        return 0


def for_this_node(engine: OciEngine, root: Path) -> OciEngine | IncapableEngine:
    """The engine, or its replacement if the node lacks a requirement. Decided once, before the start."""
    lacks = requirements.missing()
    if not lacks:
        return engine
    return IncapableEngine(root, lacks, engine.images, probe=engine.probe, disk_space=engine.disk_space)
