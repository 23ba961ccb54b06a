"""An engine in memory whose every verb can be held, so that a test decides what happens in the middle of it."""

import asyncio
from collections import Counter, defaultdict
from datetime import UTC, datetime

import msgspec

from gpuaas.engines.base import EngineError, EngineTerminal, OnPhase
from gpuaas.engines.fake_images import FakeImages
from gpuaas.engines.fake_runtimes import FakeBundles, FakeRuntimes
from gpuaas.engines.fake_spares import FakeSpares
from gpuaas.engines.fake_storage import FakeDisk, FakeMounts, FakeVolumes
from gpuaas.engines.logins import Logins
from gpuaas.wire.environments import (
    Capabilities,
    Connection,
    DiskSpace,
    Environment,
    EnvironmentSpec,
    EnvironmentState,
    Fact,
    KeySet,
    NodeFacts,
    Ownership,
    ProofItem,
)
from gpuaas.wire.images import BaseImage
from gpuaas.wire.link import HOLDER_LEASE_SECONDS
from gpuaas.wire.metrics import Sample


class Gate:
    """Open unless shut; tells when somebody stands before it."""

    def __init__(self) -> None:
        self.reached, self._open = asyncio.Event(), asyncio.Event()
        self._open.set()

    def shut(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    async def pass_through(self) -> None:
        self.reached.set()
        await self._open.wait()


class NoSamples:
    async def take(self, at: datetime) -> list[Sample]:
        return []


class NoTerminals:
    async def open(self, allocation_id: str, boot: int, name: str) -> EngineTerminal:
        raise EngineError("there are no terminals here", f"{name} of {allocation_id} at boot {boot}")

    async def take_over(self) -> list[tuple[str, str, EngineTerminal]]:
        return []


class StandInEngine:
    """Its environments live in this object, so they outlive any agent that a test stops or kills."""

    name = "stand-in"
    capabilities = Capabilities()

    def __init__(self) -> None:
        self.lacks: tuple[str, ...] = ()
        self.here: dict[str, Environment] = {}
        self.inside: list[Connection] = []
        self.volumes = FakeVolumes(FakeDisk(), lambda: datetime.now(UTC))
        self.mounts = FakeMounts(self.volumes, lambda _: None)
        self.calls: list[str] = []
        self.made: Counter[str] = Counter()
        self.gates: defaultdict[str, Gate] = defaultdict(Gate)
        self.fails_with: Exception | None = None
        self.observe_fails_with: Exception | None = None
        self.vcpus = 8
        self.closed_with: list[bool] = []
        self.images = FakeImages()
        self.runtimes = FakeRuntimes(
            FakeBundles(), self.images, image_of=self._image_of, clock=lambda: datetime.now(UTC)
        )
        self.most_at_once, self._at_once = 0, 0
        self.samples, self.logins = NoSamples(), Logins()
        self.terminals = NoTerminals()
        self.spares = FakeSpares(lambda _: True, lambda: 20_000, most=0)

    def _image_of(self, allocation_id: str) -> BaseImage | None:
        return self.images.new() if allocation_id in self.here else None

    async def start(self) -> None:
        self.calls.append("start")

    async def close(self, *, stop_environments: bool) -> None:
        self.closed_with.append(stop_environments)

    async def probe(self) -> NodeFacts:
        return NodeFacts(engine=self.name, simulated=True, vcpus=self.vcpus, memory_mib=1024, ssh_host="127.0.0.1")

    async def changed_facts(self) -> dict[str, Fact]:
        return {}

    async def disk_space(self) -> DiskSpace:
        return DiskSpace(size_gib=100, free_gib=100)

    async def observe(self) -> list[Environment]:
        seen = list(self.here.values())
        await self.gates["observe"].pass_through()
        if self.observe_fails_with is not None:
            raise self.observe_fails_with
        return seen

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        self.calls.append(f"ensure {spec.allocation_id}")
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await on_phase("preparing", "")
            await self.gates["ensure"].pass_through()
            if self.fails_with is not None:
                raise self.fails_with
            await on_phase("booting", "boot 1")
        except asyncio.CancelledError:
            await self.gates["unwind"].pass_through()
            self.calls.append(f"unwound {spec.allocation_id}")
            raise
        finally:
            self._at_once -= 1
        if spec.allocation_id not in self.here:
            self.made[spec.allocation_id] += 1
        self.here[spec.allocation_id] = made = Environment(
            allocation_id=spec.allocation_id,
            state=EnvironmentState.RUNNING,
            boot=spec.boot,
            port=20000,
            key_generation=spec.keys.generation,
        )
        await on_phase("access_ready", "")
        return made

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        self.calls.append(f"remove {allocation_id}")
        await on_phase("sessions_ended", "")
        await self.gates["remove"].pass_through()
        self.here.pop(allocation_id, None)
        await on_phase("cleaned", "")
        return [ProofItem(item="environment", ok=self.fails_with is None, evidence="looked")]

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        self.calls.append(f"set_keys {allocation_id}")
        if allocation_id not in self.here:
            raise EngineError("there is no such environment", allocation_id)
        self.here[allocation_id] = msgspec.structs.replace(self.here[allocation_id], key_generation=keys.generation)

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        self.here[allocation_id] = msgspec.structs.replace(self.here[allocation_id], ownership=ownership)

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        self.calls.append(f"lease {seconds:.0f}")

    async def enforce(self) -> int:
        return 0

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        return [one for one in self.inside if allocation_id in (None, one.allocation_id)]

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        self.calls.append(f"end_connection {allocation_id} {id}")
        before = len(self.inside)
        self.inside = [one for one in self.inside if one.id != id]
        return len(self.inside) < before

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        return 0
