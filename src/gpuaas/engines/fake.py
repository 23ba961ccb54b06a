"""An engine in memory with the same contract, for tests, scale demos and the fleet simulator."""

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime
from weakref import WeakValueDictionary

from msgspec.structs import replace

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.devices import Devices
from gpuaas.engines.fake_environments import FakeEnvironment, FakeSamples, host_key_of
from gpuaas.engines.fake_images import FakeImages
from gpuaas.engines.fake_runtimes import FakeBundles, FakeRuntimes
from gpuaas.engines.fake_spares import FakeSpares
from gpuaas.engines.fake_storage import FakeDisk, FakeMounts, FakeVolumes
from gpuaas.engines.fake_terminals import FakeTerminals
from gpuaas.engines.leases import Leases
from gpuaas.engines.logins import Logins
from gpuaas.wire.environments import (
    GPU_RESET,
    AuthorizedKey,
    Capabilities,
    Connection,
    DiskSpace,
    Environment,
    EnvironmentSpec,
    EnvironmentState,
    Fact,
    GpuFact,
    GpuReset,
    Isolation,
    KeySet,
    NodeFacts,
    Ownership,
    ProofItem,
    fingerprints,
)
from gpuaas.wire.images import BaseImage
from gpuaas.wire.link import HOLDER_LEASE_SECONDS

PROOFS = ("processes", "mounts", "files", "port", "network", GPU_RESET)
PORTS = range(20_000, 30_000)
DISK_GIB = 1 << 20

Fault = Callable[[str, str], Awaitable[None]]
"""Awaited with (point, allocation id) before each step: sleep to delay, raise to fail, return to continue."""


class FakeEngine:
    """A second engine with the same `environments` acts as the same node after the death of its agent."""

    name = "fake"
    capabilities = Capabilities(systemd=True, live_mount=True)  # nothing runs, so every init works
    lacks: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        clock: Callable[[], datetime],
        gpus: int = 8,
        ports: range = PORTS,
        fault: Fault | None = None,
        environments: dict[str, FakeEnvironment] | None = None,
        monotonic: Callable[[], float] | None = None,
        bundles: FakeBundles | None = None,
        disk: FakeDisk | None = None,
        most_spares: int = 0,
    ) -> None:
        self._leases = Leases(monotonic or (lambda: clock().timestamp()))
        self._clock, self._gpus, self._ports, self._fault = clock, gpus, ports, fault
        self.environments = {} if environments is None else environments
        self.images = FakeImages()
        self.runtimes = FakeRuntimes(bundles or FakeBundles(), self.images, image_of=self._image_of, clock=clock)
        self.volumes = FakeVolumes(disk or FakeDisk(), clock, node=id(self.environments))
        self.mounts = FakeMounts(self.volumes, self.environments.get)
        self.terminals = FakeTerminals(self._boot_of)
        self.logins = Logins()
        self.disk_gib = DISK_GIB
        self.resets: Counter[str] = Counter()  # of GPUs, by UUID
        self.blind = ""  # why no environment can be observed
        self._next_port = 0
        self._numbers = itertools.count(1)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._making: dict[str, tuple[str, ...]] = {}  # devices reserved by running creates
        self.samples = FakeSamples(self.environments)
        self.spares = FakeSpares(lambda uuids: self._held().are_free(uuids), self._port, most_spares)

    async def start(self) -> None:
        for environment in self.environments.values():
            environment.connections.clear()  # connections used the agent that died

    async def close(self, *, stop_environments: bool) -> None:
        self.terminals.end_all("the node is going away")
        for environment in self.environments.values():
            environment.connections.clear()
            if stop_environments and environment.state is EnvironmentState.RUNNING:
                environment.state = EnvironmentState.STOPPED
                environment.mounts.clear()

    async def probe(self) -> NodeFacts:
        source = "simulated by the fake engine"
        gpus = tuple(
            GpuFact(
                index=index,
                family="h200",
                gpu_uuid=f"GPU-fake-{index}",
                gpu_pci=f"0000:{0x10 + index:02x}:00.0",
                numa=index * 2 // self._gpus,
                memory_mib=81_920,
                simulated=True,
                source=source,
                reset=GpuReset(method="simulated"),
            )
            for index in range(self._gpus)
        )
        return NodeFacts(
            engine=self.name,
            simulated=True,
            vcpus=16 * self._gpus,
            memory_mib=131_072 * self._gpus,
            ssh_host="127.0.0.1",
            gpus=gpus,
            facts={
                "isolation": Fact(value="none", source=source),
                "runtimes": Fact(value=self.images.current.python, source=source),
                "distribution": Fact(value=self.images.current.distribution, source=source),
                "storage_shared": Fact(value="memory", source=source),
                "storage_local": Fact(value="memory", source=source),
            },
            capabilities=self.capabilities,
            disk=await self.disk_space(),
        )

    async def changed_facts(self) -> dict[str, Fact]:
        return {}

    async def disk_space(self) -> DiskSpace:
        return DiskSpace(size_gib=self.disk_gib, free_gib=self.disk_gib)

    async def observe(self) -> list[Environment]:
        return [self._describe(id) for id in sorted(self.environments)]

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        id = spec.allocation_id
        async with self._alone(id):
            here = self.environments.get(id)
            if here is not None and here.removing:
                raise EngineError("this environment is being removed", id)
            self._look()
            if here is None or here.state is not EnvironmentState.RUNNING or here.boot < spec.boot:
                with self._reserved(spec):
                    await self._point("preparing", id)
                    await on_phase("preparing", "making its disk" if here is None else "its disk is here")
                    if here is not None and here.spec.slots:
                        await on_phase("gpus_reset", self._reset(here.spec))
                    here = self._made(spec)
                    await self._point("booting", id)
                    await on_phase("booting", f"boot {spec.boot}")
                    here.spec, here.boot = spec, max(here.boot, spec.boot)
                    here.state, here.started_at = EnvironmentState.RUNNING, self._clock()
            self._admit(here, spec.keys)
            here.spec = replace(here.spec, ownership=spec.ownership or here.spec.ownership)
            try:
                await self._point("gpus_checked", id)
                await on_phase("gpus_checked", f"{len(spec.slots)} simulated")
                await self._point("access_ready", id)
                await on_phase("access_ready", "reachable")
            except Exception:
                self._halt(id, here, "the environment could not be started")
                raise
            return self._describe(id)

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        async with self._alone(allocation_id):
            here = self.environments.get(allocation_id)
            self._look()
            if here is not None:
                here.state, here.removing = EnvironmentState.BROKEN, True
                self._close(here, [])
                self.terminals.end(allocation_id, "the allocation was released")
            slots = here.spec.slots if here else ()
            for phase in ("sessions_ended", "environment_removed", *(["gpus_reset"] if slots else []), "cleaned"):
                await self._point(phase, allocation_id)
                await on_phase(phase, self._reset(here.spec) if here and phase == "gpus_reset" else "")
            self.environments.pop(allocation_id, None)
            self.runtimes.bundles.descriptors.pop(allocation_id, None)
            return [ProofItem(item=name, ok=True, evidence="looked for in memory") for name in PROOFS]

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        async with self._alone(allocation_id):
            await self._point("set_keys", allocation_id)
            here = self.environments.get(allocation_id)
            if here is None or here.removing:
                raise EngineError("there is no such environment here", allocation_id)
            self._admit(here, keys)

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        async with self._alone(allocation_id):
            here = self.environments.get(allocation_id)
            if here is None or here.removing:
                raise EngineError("there is no such environment here", allocation_id)
            here.spec = replace(here.spec, ownership=ownership)

    def _reset(self, spec: EnvironmentSpec) -> str:
        self.resets.update(spec.devices)
        return f"{len(spec.slots)} simulated"

    def _image_of(self, allocation_id: str) -> BaseImage | None:
        here = self.environments.get(allocation_id)
        return None if here is None or here.removing else here.image

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        self._leases.renew(server_time, seconds, holder_seconds)

    async def enforce(self) -> int:
        return sum(self._cut_unadmitted(here) for here in self.environments.values())

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        chosen = [here for id, here in self.environments.items() if allocation_id in (None, id)]
        return [connection for here in chosen for connection in here.connections]

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:  # noqa: ARG002 (nobody to tell)
        here = self.environments.get(allocation_id)
        return here is not None and self._close(here, [one for one in here.connections if one.id != id]) > 0

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:  # noqa: ARG002 (nobody to tell)
        here = self.environments.get(allocation_id)
        if here is None:
            return 0
        stay = [one for one in here.connections if fingerprints is not None and one.key_fingerprint not in fingerprints]
        return self._close(here, stay)

    def log_in(self, allocation_id: str, username: str, fingerprint: str) -> Connection | None:
        """Simulate an SSH login; None is a refusal."""
        here = self.environments.get(allocation_id)
        if here is None or here.state is not EnvironmentState.RUNNING or here.spec.username != username:
            return None
        key = self._admitted(here, fingerprint)
        if key is None and not (fingerprint in here.own_file and self._admits_own(here, fingerprint)):
            return None
        connection = Connection(
            id=f"{allocation_id}-{next(self._numbers)}",
            key_fingerprint=fingerprint,
            source="127.0.0.1:0",
            opened_at=self._clock(),
            allocation_id=allocation_id,
            user_id=key.user_id if key else "",
        )
        here.connections.append(connection)
        self.logins.opened(connection)
        return connection

    def _close(self, here: FakeEnvironment, stay: list[Connection]) -> int:
        """Close all except those that stay; return the number."""
        gone = [one for one in here.connections if one not in stay]
        here.connections[:] = stay
        for one in gone:
            self.logins.closed(one, self._clock())
        return len(gone)

    def _boot_of(self, allocation_id: str) -> int | None:
        here = self.environments.get(allocation_id)
        return here.boot if here is not None and here.state is EnvironmentState.RUNNING else None

    @contextlib.asynccontextmanager
    async def _alone(self, allocation_id: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(allocation_id, asyncio.Lock())
        async with lock:
            yield

    @contextlib.contextmanager
    def _reserved(self, spec: EnvironmentSpec) -> Iterator[None]:
        """Reserve its devices during the create; afterwards it holds those of its spec."""
        self._held().reserve(spec.allocation_id, spec.devices)
        self._making[spec.allocation_id] = spec.devices
        try:
            yield
        finally:
            del self._making[spec.allocation_id]

    def _held(self) -> Devices:
        devices = Devices()
        for id, here in self.environments.items():
            devices.hold(id, (*here.spec.devices, *self._making.get(id, ())))
        for id in self._making.keys() - self.environments.keys():
            devices.hold(id, self._making[id])
        return devices

    async def _point(self, point: str, allocation_id: str) -> None:
        if self._fault is not None:
            await self._fault(point, allocation_id)

    def _made(self, spec: EnvironmentSpec) -> FakeEnvironment:
        """Incomplete until it boots; closes its connections."""
        here = self.environments.get(spec.allocation_id)
        if here is None:
            spare = self.spares.use(spec)
            here = FakeEnvironment(
                spec=spec,
                state=EnvironmentState.BROKEN,
                boot=spec.boot,
                port=spare.port if spare and spare.port else self._port(),
                host_key=spare.host_key if spare else host_key_of(spec.allocation_id),
                keys=spec.keys,
                image=self.images.new(),
            )
            self.environments[spec.allocation_id] = here
        self._halt(spec.allocation_id, here, "the environment restarts")
        return here

    def _halt(self, id: str, here: FakeEnvironment, reason: str) -> None:
        if here.state is EnvironmentState.RUNNING:
            here.state = EnvironmentState.STOPPED
            self.terminals.end(id, reason)
        self._close(here, [])
        here.mounts.clear()

    def _port(self) -> int:
        """The next port in the range, which approximates least recently used."""
        taken = {one.port for one in self.environments.values()} | {one.port for one in self.spares.ready}
        for _ in self._ports:
            port = self._ports[self._next_port % len(self._ports)]
            self._next_port += 1
            if port not in taken:
                return port
        raise EngineError("this node has no port left", f"{self._ports}")

    def _admit(self, here: FakeEnvironment, keys: KeySet) -> None:
        if keys.generation >= here.keys.generation:
            here.keys = keys
            self._cut_unadmitted(here)

    def _admitted(self, here: FakeEnvironment, fingerprint: str) -> AuthorizedKey | None:
        key = next((key for key in here.keys.keys if key.fingerprint == fingerprint), None)
        return None if key is None or self._leases.objection(key) else key

    def _admits_own(self, here: FakeEnvironment, fingerprint: str) -> bool:
        key = AuthorizedKey(type="", blob="", fingerprint=fingerprint, user_id="")
        is_refused = fingerprint in here.keys.refused_own
        return here.keys.admits_own and not is_refused and not self._leases.objection(key, is_own_file=True)

    def _cut_unadmitted(self, here: FakeEnvironment) -> int:
        stay = [
            one
            for one in here.connections
            if (not one.user_id and self._admits_own(here, one.key_fingerprint))
            or self._admitted(here, one.key_fingerprint)
        ]
        return self._close(here, stay)

    def _own_keys(self, here: FakeEnvironment) -> tuple[str, ...] | None:
        known = {key.fingerprint for key in here.keys.keys}
        return tuple(sorted(here.own_file - known)) if here.keys.admits_own else None

    def _look(self) -> None:
        if self.blind:
            raise EngineError("the state of the environment is unknown", self.blind)

    def _describe(self, allocation_id: str) -> Environment:
        here = self.environments[allocation_id]
        is_running = here.state is EnvironmentState.RUNNING and not self.blind
        return Environment(
            allocation_id=allocation_id,
            state=EnvironmentState.UNKNOWN if self.blind else here.state,
            detail=self.blind,
            boot=here.boot,
            port=here.port,
            host_key=here.host_key,
            key_generation=here.keys.generation,
            started_at=here.started_at,
            isolation=NO_ISOLATION if is_running else None,
            mounts=tuple(here.mounts.values()) if is_running else (),
            own_keys=self._own_keys(here) if is_running else None,
            devices=here.spec.devices,
            ownership=here.spec.ownership,
            admitted=fingerprints(here.keys),
            image=self.images.seen(here.image),
        )


NO_ISOLATION = Isolation(
    namespaces=(), uid=0, network="shared", no_new_privileges=False, missing={"all": "there is nothing to isolate"}
)
