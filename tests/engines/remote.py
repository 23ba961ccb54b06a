"""The engine protocol over the standard input of another process."""

import asyncio
from datetime import datetime
from typing import Any

import msgspec

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.logins import Logins
from gpuaas.engines.oci.facts import CAPABILITIES
from gpuaas.wire.environments import (
    Connection,
    DiskSpace,
    Environment,
    EnvironmentSpec,
    Fact,
    KeySet,
    NodeFacts,
    Ownership,
    ProofItem,
)
from gpuaas.wire.link import HOLDER_LEASE_SECONDS
from tests.engines.conversations import RemoteTerminals
from tests.engines.remote_images import RemoteImages
from tests.engines.remote_runtimes import Ear, RemoteRuntimes
from tests.engines.remote_samples import RemoteSamples
from tests.engines.remote_spares import RemoteSpares
from tests.engines.remote_storage import RemoteMounts, RemoteVolumes


class RemoteEngine:
    """Asked by a line each, and answered by the number of the line."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process, self.name, self.capabilities = process, name, CAPABILITIES
        self.lacks: tuple[str, ...] = ()
        self._count = 0
        self._waiting: dict[int, tuple[asyncio.Future[Any], OnPhase]] = {}
        self._listening = asyncio.create_task(self._listen())
        self.samples, self.logins = RemoteSamples(self._ask), Logins()
        self.runtimes = RemoteRuntimes(self._ask)
        self.volumes, self.mounts = RemoteVolumes(self._ask), RemoteMounts(self._ask)
        self.terminals = RemoteTerminals(self._ask)
        self.spares = RemoteSpares(self._ask)
        self.images = RemoteImages(self._ask)

    async def starve(self, free: int | None) -> None:
        """See tests/starving.py."""
        await self._ask("starve", free)

    async def fail_at(self, phase: str) -> None:
        """Verbs fail once they reach this phase."""
        await self._ask("fail_at", phase)

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = msgspec.json.decode(line)
            future, on_phase = self._waiting[message["n"]]
            if "phase" in message:
                await on_phase(*message["phase"])
            elif "error" in message:
                future.set_exception(EngineError(*message["error"]))
            else:
                future.set_result(message["result"])
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionResetError("the agent died"))

    async def _ask(self, verb: str, body: object = None, on_phase: OnPhase | None = None) -> Any:
        assert self._process.stdin is not None
        if self._listening.done():
            raise ConnectionResetError("the agent is dead")
        self._count += 1
        number, future = self._count, asyncio.get_running_loop().create_future()
        self._waiting[number] = (future, on_phase or Ear())
        try:
            self._process.stdin.write(msgspec.json.encode({"n": number, "verb": verb, "body": body}) + b"\n")
            return await future
        finally:
            del self._waiting[number]

    async def start(self) -> None:
        await self._ask("start")

    async def close(self, *, stop_environments: bool) -> None:
        await self._ask("close", stop_environments)

    async def probe(self) -> NodeFacts:
        return msgspec.convert(await self._ask("probe"), NodeFacts)

    async def changed_facts(self) -> dict[str, Fact]:
        return msgspec.convert(await self._ask("changed_facts"), dict[str, Fact])

    async def disk_space(self) -> DiskSpace:
        return msgspec.convert(await self._ask("disk_space"), DiskSpace)

    async def observe(self) -> list[Environment]:
        return msgspec.convert(await self._ask("observe"), list[Environment])

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        return msgspec.convert(await self._ask("ensure", spec, on_phase), Environment)

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        return msgspec.convert(await self._ask("remove", allocation_id, on_phase), list[ProofItem])

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        await self._ask("set_keys", [allocation_id, keys])

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        await self._ask("set_ownership", [allocation_id, ownership])

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        await self._ask("lease", [server_time, seconds, holder_seconds])

    async def enforce(self) -> int:
        return int(await self._ask("enforce"))

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        return bool(await self._ask("end_connection", [allocation_id, id, reason]))

    async def pass_time(self, seconds: float) -> None:
        await self._ask("pass_time", seconds)

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        return msgspec.convert(await self._ask("connections", allocation_id), list[Connection])

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        listed = None if fingerprints is None else sorted(fingerprints)
        return int(await self._ask("end_connections", [allocation_id, listed, reason]))

    async def forget_numbers(self) -> None:
        """The next environment gets the lowest free index and port, also when they were used a moment ago."""
        await self._ask("forget_numbers")

    async def break_resets(self, problem: str) -> None:
        """Resets of simulated GPUs fail with this from now on; empty: they work."""
        await self._ask("break_resets", problem)

    async def arm(self, at: int) -> int:
        """Die at that step from now; how many steps there were since it was last armed."""
        return int(await self._ask("arm", at))

    async def stop_listening(self) -> None:
        await self._listening
