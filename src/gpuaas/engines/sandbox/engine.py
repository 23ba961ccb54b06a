"""The sandbox engine: an environment is a set of namespaces with a pid 1 of ours, entered by SSH through the agent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

import asyncssh
import msgspec

from gpuaas.engines.base import EngineError, OnPhase, Telling
from gpuaas.engines.descriptors import Descriptors
from gpuaas.engines.devices import Devices
from gpuaas.engines.leases import Leases
from gpuaas.engines.logins import Logins
from gpuaas.engines.nvml import Nvml, open_nvml
from gpuaas.engines.sandbox import facts, files, gpus, liveness
from gpuaas.engines.sandbox.boots import Boots, try_namespaces
from gpuaas.engines.sandbox.checks import ID, check, check_keys, told
from gpuaas.engines.sandbox.door import Door
from gpuaas.engines.sandbox.inside import Inside
from gpuaas.engines.sandbox.liveness import Liveness, Sighting
from gpuaas.engines.sandbox.living import Living, Sights
from gpuaas.engines.sandbox.mounts import SandboxMounts, VolumeIds
from gpuaas.engines.sandbox.numbers import Numbers
from gpuaas.engines.sandbox.own_keys import OwnKeys
from gpuaas.engines.sandbox.ports import listen
from gpuaas.engines.sandbox.records import Record, Records, Remains, UnreadableError
from gpuaas.engines.sandbox.removals import Removals
from gpuaas.engines.sandbox.runtimes import SandboxRuntimes
from gpuaas.engines.sandbox.samples import SandboxSamples
from gpuaas.engines.sandbox.site import Site
from gpuaas.engines.sandbox.staging import Staging
from gpuaas.engines.sandbox.terminals import SandboxTerminals
from gpuaas.engines.sandbox.volumes import VOLUME_UID, SandboxVolumes
from gpuaas.wire.environments import Connection, Environment, EnvironmentSpec, KeySet, NodeFacts, Ownership, ProofItem
from gpuaas.wire.link import HOLDER_LEASE_SECONDS
from gpuaas.wire.runtimes import BundleSpec

PORTS = range(20_000, 30_000)
STOP_SECONDS = 2.0


class SandboxEngine:
    name = "sandbox"

    def __init__(
        self,
        root: Path,
        *,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float],
        bind: str = "127.0.0.1",
        ssh_host: str | None = None,
        ports: range = PORTS,
        simulated_gpus: int = 8,
        allow_unisolated: bool = False,
        spare: int = 2,
        spare_networks: int = 8,
        hide: tuple[Path, ...] = (),
        nvml: Callable[[], Nvml | str] = open_nvml,
        shared_storage: Path | None = None,
    ) -> None:
        self._site = Site(root)
        self._clock, self._bind, self._ssh_host = clock, bind, ssh_host or bind
        self._simulated_gpus = simulated_gpus
        self._numbers = Numbers(self._site.root, address=bind, ports=ports)
        self._records = Records(self._site.environments)
        self._allow_unisolated = allow_unisolated
        self._boots = Boots(self._site, spare=spare, spare_networks=spare_networks, hide=hide)
        self.volumes = SandboxVolumes(self._site, shared_storage, clock)
        self._removals = Removals(self._site, self._boots, self._records, self.volumes)
        self.runtimes = SandboxRuntimes(
            self._site, self._records, staging=self._staging, alone=self._alone, clock=clock
        )
        self._living: dict[str, Living] = {}
        self._devices, self.descriptors, self.logins = Devices(), Descriptors(), Logins()
        self.terminals = SandboxTerminals(self._way_in, self.descriptors)
        self._sights = Sights(self._records, self._living, self._boots, self._devices)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._leases = Leases(monotonic, file=self._site.root / "lease.json", clock=clock)
        self._refill: asyncio.Task[None] | None = None
        self._nvml = cache(nvml)
        self.samples = SandboxSamples(self._living, self._records, self._boots, nvml=self._nvml)
        self.mounts = SandboxMounts(
            self._site, self._records, self.volumes, ids=self._volume_ids, pid_of=self._pid_of, alone=self._alone
        )

    async def start(self) -> None:
        refusal = await try_namespaces(is_root=self._site.is_root)
        if refusal and not self._allow_unisolated:
            raise EngineError("this node cannot isolate environments", refusal)
        self._site.open()
        self._leases.restore()
        await self.runtimes.open()
        self.volumes.open()
        self._numbers.open()
        living = self._find_living()
        keep = {index for index, _ in map(self._numbers.of, living) if index is not None}
        pids = {pid for pid in living.values() if pid is not None}
        await self._boots.open(keep, pids if None not in living.values() else None, is_isolated=not refusal)
        await self._adopt_all()
        for id in living:
            if id not in self._living:
                self._devices.hold(id, await self._sights.devices_of(id))
        self._prepare_next()

    def _find_living(self) -> dict[str, int | None]:
        """Each pid 1 to be left alone, also of a record that cannot be read, and None for one that is not known to be
        dead; numbers in use are nobody else's."""
        living: dict[str, int | None] = {}
        for id in self._records.ids():
            folder, here, is_readable = self._records.folder(id), None, True
            try:
                here = self._records.read(id)
            except UnreadableError:
                is_readable = False
            self._devices.hold(id, () if here is None else here.devices)
            index = self._boots.index_of_disk(folder) if here is None else here.index
            self._numbers.keep(id, index=index, port=here.port if here is not None else None)
            if isinstance(here, Record) or not is_readable:
                sighting = liveness.look(folder)
                if not sighting.is_dead:
                    living[id] = sighting.pid
        return living

    async def close(self, *, stop_environments: bool) -> None:
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)
        await asyncio.gather(*(self._leave(id, stop=stop_environments) for id in list(self._living)))
        for folder in map(self._records.folder, self._records.ids() if stop_environments else ()):
            if (pid := liveness.look(folder).pid) is not None:  # of a record that cannot be read
                await self._boots.stop(folder, pid, grace=STOP_SECONDS)
        await self._boots.close(remove=stop_environments)
        self._site.close()

    async def _leave(self, allocation_id: str, *, stop: bool) -> None:
        async with self._alone(allocation_id):
            living = self._living.pop(allocation_id)
            self.terminals.end(allocation_id, "the node is going away")
            await living.door.close("the node is going away")
            if stop:
                await self._boots.stop(living.folder, living.pid, grace=STOP_SECONDS)

    async def probe(self) -> NodeFacts:
        refusal = await try_namespaces(is_root=self._site.is_root)
        return await asyncio.to_thread(
            facts.probe,
            ssh_host=self._ssh_host,
            simulated_gpus=self._simulated_gpus,
            tag=self._site.tag,
            limits=self._boots.limits,
            refusal=refusal,
            storage=self.volumes.describe(),
            nvml=self._nvml(),
        )

    async def observe(self) -> list[Environment]:
        try:
            await self._adopt_all()
            return self._sights.all()
        except OSError as error:
            raise EngineError("the node cannot look at its environments", repr(error)) from error

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        check(spec)
        check_keys(spec.keys)
        id = spec.allocation_id
        async with self._alone(id), told(id):
            record = self._records.read(id)
            if isinstance(record, Remains):
                raise EngineError("this environment is being removed", id)
            sighting = self._look(id)
            if record is None or sighting.is_dead or record.boot < spec.boot:
                with self._reserved(spec):
                    await on_phase("preparing", "making its disk" if record is None else "its disk is here")
                    record = await (self._make(spec) if record is None else self._halt(record))
                    await on_phase("booting", f"boot {spec.boot}")
                    record = await self._boot(record.renewed(spec, self._clock()))
                note = "reachable"
            else:
                self._resume(record, sighting)
                record = self._own(self._admit(record, spec.keys), spec.ownership)
                note = "already running"
            await on_phase("gpus_checked", await gpus.check(self._living[id].inside, record.spec, self._nvml()))
            await self._open_door(record)
            await on_phase("access_ready", note)
            self._prepare_next()
            return self._sights.describe(id, record)

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        if not ID.fullmatch(allocation_id):
            raise EngineError("this is not an allocation", allocation_id)
        async with self._alone(allocation_id), told(allocation_id):
            living = self._living.get(allocation_id)
            pid = living.pid if living else None
            index, port = self._numbers.of(allocation_id)
            remains = self._removals.begin(allocation_id, pid=pid, index=index, port=port)
            self._living.pop(allocation_id, None)
            self.terminals.end(allocation_id, "the allocation was released")
            if living is not None:
                await living.door.close("the allocation was released")
            await on_phase("sessions_ended", "nobody is connected")
            await self._removals.end_processes(allocation_id, pid, remains)
            await on_phase("environment_removed", f"{len(remains.seen)} processes ended")
            items = await self._clean(allocation_id, remains)
            await on_phase("cleaned", ", ".join(item.item for item in items if item.ok))
            self._prepare_next()
            return items

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        check_keys(keys)
        async with self._alone(allocation_id), told(allocation_id):
            record = self._records.read(allocation_id)
            if not isinstance(record, Record):
                raise EngineError("there is no such environment here", allocation_id)
            self._admit(record, keys)

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        async with self._alone(allocation_id), told(allocation_id):
            record = self._records.read(allocation_id)
            if not isinstance(record, Record):
                raise EngineError("there is no such environment here", allocation_id)
            self._own(record, ownership)

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        self._leases.renew(server_time, seconds, holder_seconds)

    async def enforce(self) -> int:
        return sum(living.door.enforce() for living in self._living.values())

    async def connections(self, allocation_id: str | None) -> list[Connection]:
        doors = [living.door for id, living in self._living.items() if allocation_id in (None, id)]
        return [connection for door in doors for connection in door.connections()]

    async def end_connection(self, allocation_id: str, id: str, reason: str) -> bool:
        living = self._living.get(allocation_id)
        return living.door.end_one(id, reason) if living else False

    async def end_connections(self, allocation_id: str, fingerprints: frozenset[str] | None, reason: str) -> int:
        living = self._living.get(allocation_id)
        return living.door.end(fingerprints, reason) if living else 0

    @contextlib.asynccontextmanager
    async def _alone(self, allocation_id: str) -> AsyncIterator[None]:
        """One verb at a time per allocation; a lock lives as long as somebody holds or awaits it."""
        lock = self._locks.setdefault(allocation_id, asyncio.Lock())
        async with lock:
            yield

    @contextlib.contextmanager
    def _reserved(self, spec: EnvironmentSpec) -> Iterator[None]:
        """Its devices are nobody else's while it is made; afterwards it holds what its record names."""
        self._devices.reserve(spec.allocation_id, spec.devices)
        try:
            yield
        finally:
            with contextlib.suppress(UnreadableError):  # then it holds what was reserved
                here = self._records.read(spec.allocation_id)
                self._devices.hold(spec.allocation_id, () if here is None else here.devices)

    def _volume_ids(self, record: Record) -> VolumeIds:
        person = self._site.person_uid(record.index)
        return VolumeIds(on_disk=VOLUME_UID, outside=person, count=1, holder=person)

    def _staging(self, bundle: BundleSpec, tell: Telling) -> Staging:
        if not self._boots.is_isolated:
            raise EngineError("this node cannot offer runtime bundles", "environments have no root of their own here")
        return Staging(self._site, self._boots, bundle, tell)

    def _pid_of(self, allocation_id: str) -> int | None:
        """None only when it is proven that nothing runs there."""
        sighting = self._look(allocation_id)
        if sighting.liveness is Liveness.UNKNOWN:
            raise EngineError("the state of the environment is unknown", sighting.reason)
        return sighting.pid

    def _way_in(self, allocation_id: str) -> tuple[Inside, int] | None:
        living = self._living.get(allocation_id)
        return (living.inside, living.boot) if living else None

    def _look(self, allocation_id: str) -> Sighting:
        living = self._living.get(allocation_id)
        return living.look() if living else liveness.look(self._records.folder(allocation_id))

    async def _make(self, spec: EnvironmentSpec) -> Record:
        """Everything but the boot; until the record is written there is nothing but a folder to throw away."""
        id, folder = spec.allocation_id, self._records.folder(spec.allocation_id)
        await files.erase(folder)
        index, port = self._numbers.take(id, is_prepared=self._boots.is_prepared)
        folder.mkdir(mode=0o700)
        await asyncio.to_thread(self._boots.make_disk, folder, spec, index)
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        return Record(
            spec=spec,
            boot=spec.boot,
            index=index,
            port=port,
            host_key=host_key.export_private_key().decode(),
            keys=spec.keys,
            started_at=self._clock(),
        )

    async def _halt(self, record: Record) -> Record:
        """Stopped by the process that is known; one that is neither known nor proven dead is never booted over."""
        id = record.spec.allocation_id
        living = self._living.get(id)
        pid = living.pid if living else self._look(id).known()
        if living is not None:
            del self._living[id]
            self.terminals.end(id, "the environment restarts")
            await living.door.close("the environment restarts")
        if pid is not None:
            await self._boots.stop(self._records.folder(id), pid, grace=STOP_SECONDS)
        return record

    async def _boot(self, record: Record) -> Record:
        id = record.spec.allocation_id
        self._numbers.keep(id, index=record.index, port=record.port)
        await asyncio.to_thread(self._records.write, id, record)
        pid = await self._boots.boot(self._records.folder(id), record)
        self._welcome(record, pid)
        self.mounts.tell(id, record)
        return record

    async def _adopt_all(self) -> None:
        """Environments that run and that this agent does not serve yet: after a start, or because of a failed look."""
        for id in self._records.ids():
            living, lock = self._living.get(id), self._locks.get(id)
            if (living is None or not living.door.is_open) and not (lock and lock.locked()):
                async with self._alone(id):
                    with contextlib.suppress(EngineError, OSError):  # observed as broken or unknown until it works
                        await self._adopt(id)

    async def _adopt(self, id: str) -> None:
        record, sighting = self._records.read(id), self._look(id)
        if isinstance(record, Record) and sighting.liveness is Liveness.RUNNING:
            self._resume(record, sighting)
            await self._open_door(record)

    def _resume(self, record: Record, sighting: Sighting) -> None:
        id = record.spec.allocation_id
        if sighting.liveness is not Liveness.RUNNING or sighting.pid is None:
            raise EngineError("the state of the environment is unknown", sighting.reason)
        if id not in self._living:
            self._numbers.keep(id, index=record.index, port=record.port)
            self._devices.hold(id, record.devices)
            self._welcome(record, sighting.pid)

    def _welcome(self, record: Record, pid: int) -> None:
        folder, username = self._records.folder(record.spec.allocation_id), record.spec.username
        inside = Inside(folder)
        door = Door(
            inside=inside,
            username=username,
            keys=record.keys,
            own=OwnKeys(folder, username, self._boots.owner_of_home(record.index)),
            clock=self._clock,
            leases=self._leases,
            descriptors=self.descriptors,
            logins=self.logins,
            allocation_id=record.spec.allocation_id,
        )
        init = liveness.record(folder, pid)
        self._living[record.spec.allocation_id] = Living(
            folder=folder, init=init, boot=record.boot, inside=inside, door=door
        )

    async def _open_door(self, record: Record) -> None:
        door = self._living[record.spec.allocation_id].door
        if door.is_open:
            return
        listener = await listen(self._bind, record.port)
        if listener is None:
            raise EngineError("the environment cannot be reached", f"another program has port {record.port}")
        await door.open(listener, asyncssh.import_private_key(record.host_key))
        self._numbers.port_used(record.port)

    def _admit(self, record: Record, keys: KeySet) -> Record:
        """On disk first: what admits after a crash is never older than what admitted before it."""
        if keys.generation < record.keys.generation or keys == record.keys:
            return record
        renewed = msgspec.structs.replace(record, keys=keys)
        self._records.write(record.spec.allocation_id, renewed)
        living = self._living.get(record.spec.allocation_id)
        if living is not None:
            living.door.set_keys(keys)
        return renewed

    def _own(self, record: Record, ownership: Ownership | None) -> Record:
        if ownership in (None, record.spec.ownership):
            return record
        renewed = msgspec.structs.replace(record, spec=msgspec.structs.replace(record.spec, ownership=ownership))
        self._records.write(record.spec.allocation_id, renewed)
        return renewed

    async def _clean(self, id: str, remains: Remains) -> list[ProofItem]:
        """Its numbers come back once all is proven to be gone, and not before."""
        items = await self._removals.clean(id, remains)
        if not all(item.ok for item in items):
            return [*items, self._removals.keep(id)]
        self._numbers.retire(remains)
        items.append(await self._removals.finish(id))
        self._numbers.give_back(id)
        self._devices.release(id)
        return items

    def _prepare_next(self) -> None:
        if self._refill is None or self._refill.done():
            self._refill = asyncio.create_task(self._boots.refill(self._numbers.free_indexes()))
