"""The oci engine: an environment is a container of a standard runtime, entered through the SSH gateway of the node."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path
from weakref import WeakValueDictionary

from msgspec.structs import replace

from gpuaas.engines.base import EngineError, OnPhase, Telling
from gpuaas.engines.devices import Devices
from gpuaas.engines.images import images
from gpuaas.engines.images.node_images import NodeImages
from gpuaas.engines.leases import Leases
from gpuaas.engines.node import files
from gpuaas.engines.node.gpu_resets import ResetMethods
from gpuaas.engines.node.records import Record, Records, Remains, UnreadableError
from gpuaas.engines.node.site import Site
from gpuaas.engines.nvml import Nvml, NvmlSource, open_nvml
from gpuaas.engines.oci import disks, facts, liveness
from gpuaas.engines.oci.access import Access
from gpuaas.engines.oci.checks import ID, check, check_keys, halting_on_failure, os_errors_as_engine_errors
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.environments import Observer, Running, new_host_key, write_facts
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.oci.gateway import GatewayClient
from gpuaas.engines.oci.numbers import Numbers
from gpuaas.engines.oci.removals import Removals
from gpuaas.engines.oci.resets import Resets
from gpuaas.engines.oci.samples import OciSamples
from gpuaas.engines.oci.spares import OciSpares
from gpuaas.engines.oci.upgrade import remove_sandbox
from gpuaas.engines.runtimes.runtimes import NodeRuntimes
from gpuaas.engines.runtimes.staging import Staging
from gpuaas.engines.storage.mounts import NodeMounts
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.environments import (
    VIEWS,
    DiskSpace,
    Environment,
    EnvironmentSpec,
    Fact,
    KeySet,
    NodeFacts,
    Ownership,
    ProofItem,
)
from gpuaas.wire.gateway import LEASE_FILE
from gpuaas.wire.link import HOLDER_LEASE_SECONDS
from gpuaas.wire.runtimes import BundleSpec

PORTS = range(20_000, 30_000)
STOP_SECONDS = 2.0
NOT_STARTED = "the environment could not be started"


class OciEngine:
    name = "oci"
    capabilities = facts.CAPABILITIES
    lacks: tuple[str, ...] = ()

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
        images_folder: Path | None = None,
        image_days: int = 0,
        allowed_networks: tuple[IPv4Network, ...] = (),
        nvml: Callable[[], Nvml | str] = open_nvml,
        shared_storage: Path | None = None,
        most_spares: int = 0,
        gpu_reset: bool = True,
    ) -> None:
        self._site = Site(root)
        self._clock, self._ssh_host, self._simulated_gpus = clock, ssh_host or bind, simulated_gpus
        self.images = NodeImages(images_folder or self._site.root / "images", now=clock, max_age_days=image_days)
        self._numbers = Numbers(self._site.root, address=bind, ports=ports)
        self._records = Records(self._site.environments)
        self._containers = Containers(self._site, self.images, allowed_networks, clock)
        self.volumes = volumes = NodeVolumes(self._site, shared_storage, clock)
        self._removals = Removals(self._containers, self._records, volumes)
        self._running: dict[str, Running] = {}
        self._devices = Devices()
        tables, self._gateway = volumes.tables, GatewayClient(self._site.root)
        self.logins, self.terminals = self._gateway.logins, self._gateway.terminals
        self.enforce, self.connections = self._gateway.enforce, self._gateway.connections
        self.end_connection, self.end_connections = self._gateway.end_connection, self._gateway.end_connections
        self._access = access = Access(self._gateway, self._containers, root=self._site.root, bind=bind)
        parts = (self._site, self._containers, self._numbers, self._devices, volumes)
        self.spares = OciSpares(*parts, access=access, clock=clock, most=most_spares)
        self._observer = Observer(self._records, self._running, self._containers, self._devices, tables=tables)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._leases = Leases(monotonic, file=self._site.root / LEASE_FILE, clock=clock)
        self._nvml = NvmlSource(nvml)
        self._resets = Resets(self._devices, ResetMethods(self._site.root), self._nvml, is_on=gpu_reset)
        self.samples = OciSamples(
            self._running, self._records, self._containers, connections=self.connections, nvml=self._nvml, tables=tables
        )
        self.runtimes = NodeRuntimes(
            self._site, self._records, self.images.used, staging=self._staging, alone=self._alone, clock=clock
        )
        ids, pid_of = self._containers.volume_ids, self._observer.pid_of
        self.mounts = NodeMounts(self._records, volumes, ids=ids, pid_of=pid_of, alone=self._alone, stop=self._halt)

    async def start(self) -> None:
        self._site.open()
        self._containers.ids.open(self._site.seed)
        self._leases.restore()
        await remove_sandbox(self._site.root.with_name("sandbox"), self._site.root)
        await self.runtimes.open()
        await self.volumes.open()
        self._numbers.open()
        for id in self._containers.leftovers([self._records.folder(id) for id in self._records.ids()]):
            await self._containers.delete(id)
        await self._containers.open(self._restore_from_records())
        self._access.open()
        await self._gateway.start()
        await self.spares.clear()
        await self._adopt_all()
        for id in self._records.ids():
            if id not in self._running and not self._observer.look(id).is_dead:
                self._devices.hold(id, self._observer.devices_of(id))
        self._containers.views.begin(lambda: {id: one.pid for id, one in self._running.items()})

    def _restore_from_records(self) -> set[int]:
        """Reserve the devices and numbers of every recorded environment. Returns the indexes of networks to keep: those
        of every environment that is not proven dead."""
        living = set()
        for id in self._records.ids():
            here = None
            try:
                here = self._records.read(id)
                index = here.index if here else None
            except UnreadableError:
                index = self._containers.index_of(self._records.folder(id))
            self._devices.hold(id, () if here is None else here.devices)
            self._resets.learn(here.slots if here else ())
            self._numbers.keep(id, index=index, port=here.port if here else None)
            if index is not None and not isinstance(here, Remains) and not self._observer.look(id).is_dead:
                living.add(index)
        return living

    async def close(self, *, stop_environments: bool) -> None:
        if stop_environments:
            for id in self._records.ids():
                await self._stop(id, "the node is going away")
        await self.spares.clear()
        await self._gateway.close(stop=stop_environments)
        await self._containers.close(remove=stop_environments)
        if stop_environments and not self._records.ids():
            self._containers.ids.close()
        self._running.clear()
        self._site.close()

    async def _stop(self, id: str, reason: str) -> None:
        async with self._alone(id):
            self._running.pop(id, None)
            await self._gateway.close_environment(id, reason)
            if (first := self._observer.look(id).process) is not None:
                await self._containers.stop(self._records.folder(id), first, grace=STOP_SECONDS)

    async def probe(self) -> NodeFacts:
        async with self._resets.none_running():
            found = await asyncio.to_thread(
                facts.probe,
                ssh_host=self._ssh_host,
                simulated_gpus=self._simulated_gpus,
                tag=self._site.tag,
                limits=self._containers.limits,
                image=self.images.find(),
                storage=self.volumes.describe(),
                nvml=await asyncio.to_thread(self._nvml),
                disk=await self.disk_space(),
                views=self._containers.views.fact(),
            )
        return replace(found, gpus=await self._resets.described(found.gpus))

    async def changed_facts(self) -> dict[str, Fact]:
        return {VIEWS: self._containers.views.fact()} if self._containers.views.has_changed else {}

    async def disk_space(self) -> DiskSpace:
        return await asyncio.to_thread(facts.disk_space, self._site.root)

    async def observe(self) -> list[Environment]:
        try:
            await self._adopt_all()
            return await self._observer.all()
        except OSError as error:
            raise EngineError("the node cannot look at its environments", repr(error)) from error

    async def ensure(self, spec: EnvironmentSpec, on_phase: OnPhase) -> Environment:
        check(spec)
        check_keys(spec.keys)
        id = spec.allocation_id
        async with self._alone(id), os_errors_as_engine_errors(id):
            record = self._records.read(id)
            if isinstance(record, Remains):
                raise EngineError("this environment is being removed", id)
            sighting = self._observer.look(id)
            if record is None or sighting.is_dead or record.boot < spec.boot:
                await self._resets.settled(spec.slots)
                with self._reserved(spec):
                    await on_phase("preparing", self.spares.prospect(spec) if record is None else "its disk is here")
                    if record is None:
                        record = await self._make(spec)
                    else:
                        await self._halt(record, "the environment restarts")
                        await self._resets.before_boot(record, spec, on_phase)
                    await on_phase("booting", f"boot {spec.boot}")
                    record = record.renewed(spec, self._clock())
                    async with halting_on_failure(partial(self._halt, record, NOT_STARTED)):
                        await self._boot(record)
                        return await self._checked(record, "reachable", on_phase)
            record = self._renewed(record, spec.keys, spec.ownership)
            await self._adopt(id, record)
            async with halting_on_failure(partial(self._halt, record, NOT_STARTED), but=(OSError,)):
                return await self._checked(record, "already running", on_phase)

    async def _checked(self, record: Record, note: str, on_phase: OnPhase) -> Environment:
        async with self._resets.none_running():
            seen = await asyncio.to_thread(lambda: self._observer.check_gpus(record, self._nvml()))
        await on_phase("gpus_checked", seen)
        return await self._observer.reachable(record, note, on_phase)

    async def remove(self, allocation_id: str, on_phase: OnPhase) -> list[ProofItem]:
        if not ID.fullmatch(allocation_id):
            raise EngineError("this is not an allocation", allocation_id)
        async with self._alone(allocation_id), os_errors_as_engine_errors(allocation_id):
            first = self._observer.look(allocation_id).known()
            index, port = self._numbers.of(allocation_id)
            remains = await self._removals.begin(allocation_id, first, index=index, port=port)
            self._running.pop(allocation_id, None)
            await self._access.close(self._records.folder(allocation_id), "the allocation was released")
            await on_phase("sessions_ended", "nobody is connected")
            await self._removals.end_processes(allocation_id, first, remains)
            await on_phase("environment_removed", f"{len(remains.seen)} processes ended")
            reset = await self._resets.after_removal(allocation_id, remains, on_phase)
            items = await self._clean(allocation_id, remains, reset)
            await on_phase("cleaned", ", ".join(item.item for item in items if item.ok))
            return items

    async def set_keys(self, allocation_id: str, keys: KeySet) -> None:
        check_keys(keys)
        async with self._alone(allocation_id), os_errors_as_engine_errors(allocation_id):
            record = self._existing(allocation_id)
            renewed = self._renewed(record, keys, None)
            if renewed is not record and allocation_id in self._running:
                await self._serve(renewed)

    async def set_ownership(self, allocation_id: str, ownership: Ownership) -> None:
        async with self._alone(allocation_id), os_errors_as_engine_errors(allocation_id):
            record = self._existing(allocation_id)
            self._renewed(record, record.keys, ownership)

    def _existing(self, allocation_id: str) -> Record:
        record = self._records.read(allocation_id)
        if not isinstance(record, Record):
            raise EngineError("there is no such environment here", allocation_id)
        return record

    async def lease(self, server_time: datetime, seconds: float, holder_seconds: float = HOLDER_LEASE_SECONDS) -> None:
        self._leases.renew(server_time, seconds, holder_seconds)
        await self._gateway.renew_lease()

    @contextlib.asynccontextmanager
    async def _alone(self, allocation_id: str) -> AsyncIterator[None]:
        """One operation at a time per allocation; a lock exists while a task holds it or waits for it."""
        lock = self._locks.setdefault(allocation_id, asyncio.Lock())
        async with lock:
            yield

    @contextlib.contextmanager
    def _reserved(self, spec: EnvironmentSpec) -> Iterator[None]:
        """Reserve its devices during the create; afterwards, it holds the devices in its record."""
        self._devices.reserve(spec.allocation_id, spec.devices)
        try:
            yield
        finally:
            with contextlib.suppress(UnreadableError):  # then it holds the reserved devices
                here = self._records.read(spec.allocation_id)
                self._devices.hold(spec.allocation_id, () if here is None else here.devices)

    def _staging(self, bundle: BundleSpec, tell: Telling) -> Staging:
        return Staging(self._site, bundle, tell, image=self.images.current, environment=os.environ)

    async def _make(self, spec: EnvironmentSpec) -> Record:
        """Everything except the boot; until the record is written, a failure leaves only a folder to delete."""
        id, folder, image = spec.allocation_id, self._records.folder(spec.allocation_id), self.images.current()
        await self._containers.delete(Folder(folder).container)  # of an incomplete conversion of a spare
        await files.erase(folder)
        spare = self.spares.claim(spec, image)
        if spare is None:
            folder.mkdir(mode=0o700)
            images.claim(image, folder)
            await disks.make(Folder(folder).disk, spec.disk_gib)
        return Record(
            spec=spec,
            boot=spec.boot,
            index=spare.index if spare else self._numbers.take_index(id),
            port=spare.port if spare else self._numbers.take_port(id),
            host_key=spare.host_key if spare else new_host_key(),
            keys=spec.keys,
            started_at=self._clock(),
            image=image.version,
        )

    async def _halt(self, record: Record, reason: str) -> None:
        """Stop it by its known pid 1; an environment in an unknown state is not booted."""
        id = record.spec.allocation_id
        first = self._observer.look(id).known()
        self._running.pop(id, None)
        await self._gateway.close_environment(id, reason)
        if first is not None:
            await self._containers.stop(self._records.folder(id), first, grace=STOP_SECONDS)

    async def _boot(self, record: Record) -> None:
        id, folder = record.spec.allocation_id, self._records.folder(record.spec.allocation_id)
        self._numbers.keep(id, index=record.index, port=record.port)
        write_facts(Folder(folder).facts, record.spec)
        is_up = await self.spares.personalise(folder, record)
        await asyncio.to_thread(self._records.write, id, record)
        if not is_up:
            await disks.fit(Folder(folder).disk, record.spec.disk_gib)
            (folder / liveness.NAME).unlink(missing_ok=True)
            liveness.record(folder, await self._containers.boot(folder, record))
        await self._serve(record)
        await self._observer.try_nesting(record, self._access.filter(record.spec.init))
        self.mounts.tell(id, record)

    async def _serve(self, record: Record) -> None:
        """Make the gateway accept exactly the keys in the record."""
        id, folder = record.spec.allocation_id, self._records.folder(record.spec.allocation_id)
        if (init := liveness.recorded(folder)) is None:
            raise EngineError("the environment is not running", id)
        access = await self._access.serve(folder, record, init)
        self._running[id] = Running(init=init, boot=record.boot, access=access)

    async def _adopt_all(self) -> None:
        """Running environments that are not served yet, and those whose own key file may have changed."""
        for id in self._records.ids():
            running, lock = self._running.get(id), self._locks.get(id)
            is_served = running is not None and running.access.is_open and running.access.own_keys is None
            if not is_served and not (lock and lock.locked()):
                async with self._alone(id):
                    with contextlib.suppress(EngineError, OSError):  # observed as broken or unknown until it succeeds
                        record = self._records.read(id)
                        if isinstance(record, Record):
                            await self._adopt(id, record)

    async def _adopt(self, id: str, record: Record) -> None:
        first = self._observer.look(id).known()
        if first is None:
            return
        folder = self._records.folder(id)
        if liveness.recorded(folder) is None:
            liveness.record(folder, first.pid)
        self._numbers.keep(id, index=record.index, port=record.port)
        self._devices.hold(id, record.devices)
        await self._serve(record)

    def _renewed(self, record: Record, keys: KeySet, ownership: Ownership | None) -> Record:
        """Write to disk first."""
        renewed = record.admitting(keys, ownership)
        if renewed is not record:
            self._records.write(record.spec.allocation_id, renewed)
        return renewed

    async def _clean(self, id: str, remains: Remains, reset: ProofItem) -> list[ProofItem]:
        """Free its numbers only after the removal is proven."""
        items = [reset, *await self._removals.clean(id, remains)]
        if not all(item.ok for item in items):
            return [*items, self._removals.keep(id)]
        self._numbers.retire(remains)
        items.append(await self._removals.finish(id))
        self._numbers.give_back(id)
        self._devices.release(id)
        return items
