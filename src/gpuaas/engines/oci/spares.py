"""Environments prepared in advance: they run with disk, network, id range and devices, and have no holder yet.

Spares have a separate folder, so listings of environments do not include them. A create with a matching form renames
the folder and writes personal files into it. A spare is used once and does not outlive its agent: the next agent
removes existing spares and prepares new ones.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog

from gpuaas.engines.base import EngineError
from gpuaas.engines.devices import Devices
from gpuaas.engines.images import images
from gpuaas.engines.node import files
from gpuaas.engines.node.processes import Process
from gpuaas.engines.node.records import NAME, Record, Records
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import disks, liveness
from gpuaas.engines.oci.access import Access
from gpuaas.engines.oci.checks import check
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.environments import new_host_key, public_half
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.oci.numbers import Numbers
from gpuaas.engines.oci.removals import Removals
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.environments import EnvironmentSpec, KeySet
from gpuaas.wire.gateway import InitProcess
from gpuaas.wire.spares import SPARE_PREFIX, SpareForm, SpareReport, form_of, spare_of

FAILURES = 3  # consecutive failures; then this form is not tried again until the wanted forms change

log = structlog.get_logger()


@dataclass(frozen=True)
class Ready:
    """A spare, and the facts that must still be true when it is used."""

    id: str
    form: SpareForm
    index: int
    image: str
    init: InitProcess
    lxcfs: int | None
    port: int
    host_key: str  # private


class OciSpares:
    def __init__(
        self,
        site: Site,
        containers: Containers,
        numbers: Numbers,
        devices: Devices,
        volumes: NodeVolumes,
        *,
        access: Access,
        clock: Callable[[], datetime],
        most: int,
    ) -> None:
        self._environments, self._clock, self._most = site.environments, clock, most
        self._containers, self._numbers, self._devices, self._access = containers, numbers, devices, access
        self._records = Records(site.root / "spares")
        self._removals = Removals(containers, self._records, volumes)
        self._wanted: tuple[SpareForm, ...] = ()
        self._ready: dict[SpareForm, Ready] = {}
        self._unfit: list[str] = []  # to be removed by the next `keep`
        self._failures: dict[SpareForm, int] = {}
        self._used = self._discarded = 0
        self._detail = ""

    async def clear(self) -> None:
        """Remove all, at the start and end of an agent. A spare that cannot be removed stays unfit."""
        self._records.root.mkdir(mode=0o700, exist_ok=True)
        self._ready.clear()
        self._unfit = self._records.ids()
        for id in self._unfit:
            path = self._records.folder(id)
            self._numbers.keep(id, index=self._containers.index_of(path), port=self._access.port_of(path))
        for id in list(self._unfit):
            await self._try_to_remove(id)

    async def want(self, forms: Iterable[SpareForm]) -> None:
        wanted = tuple(dict.fromkeys(forms))
        if wanted != self._wanted:
            self._wanted = wanted
            self._failures.clear()

    async def keep(self) -> bool:
        for spare in list(self._ready.values()):
            if spare.form not in self._wanted or self._is_defective(spare):
                self._unfit.append(self._ready.pop(spare.form).id)
        if self._unfit and await self._try_to_remove(self._unfit[0]):
            return True
        if form := next(self._missing(), None):
            await self._prepare(form)
            return True
        return False

    async def report(self) -> SpareReport:
        ready = (spare_of(one.id, one.form, one.port, public_half(one.host_key)) for one in self._ready.values())
        return SpareReport(
            ready=tuple(sorted(ready, key=lambda one: one.slots)),
            used=self._used,
            discarded=self._discarded,
            detail=self._detail,
        )

    def _missing(self) -> Iterator[SpareForm]:
        for form in self._wanted if len(self._ready) < self._most else ():
            has_failed = self._failures.get(form, 0) >= FAILURES
            if form not in self._ready and not has_failed and self._devices.are_free(_uuids(form)):
                yield form

    def _is_defective(self, spare: Ready) -> bool:
        if reason := self._defect(spare):
            self._count(spare.id, reason)
        return bool(reason)

    def _defect(self, spare: Ready) -> str:
        if not liveness.is_alive(spare.init):
            return "it ended"
        if self._containers.images.current().version != spare.image:
            return "the base image changed"
        if self._containers.lxcfs_pid() != spare.lxcfs:
            return "lxcfs was started again"
        if not self._containers.has_network(spare.index):
            return "its network is gone"
        return ""

    def _count(self, id: str, reason: str) -> None:
        self._discarded += 1
        self._detail = reason
        log.warning("spare.discarded", spare=id, reason=reason)

    async def _prepare(self, form: SpareForm) -> None:
        id = f"{SPARE_PREFIX}{secrets.token_hex(6)}"
        try:
            self._ready[form] = await self._make(id, form)
            self._failures.pop(form, None)
        except (EngineError, OSError) as error:
            self._failures[form] = self._failures.get(form, 0) + 1
            self._count(id, str(error))
            self._unfit.append(id)

    async def _make(self, id: str, form: SpareForm) -> Ready:
        spec = _nobodys(id, form)
        check(spec)
        path, image = self._records.folder(id), self._containers.images.current()
        index, port, host_key = self._numbers.take_index(id), self._numbers.take_port(id), new_host_key()
        path.mkdir(mode=0o700)
        images.claim(image, path)
        await disks.make(Folder(path).disk, form.disk_gib)
        record = Record(
            spec=spec,
            boot=0,
            index=index,
            port=port,
            host_key=host_key,
            keys=KeySet(generation=0),
            started_at=self._clock(),
            image=image.version,
        )
        init = liveness.record(path, await self._containers.boot(path, record, is_spare=True))
        access = await self._access.serve(path, record, init, is_spare=True)
        if not access.is_open:
            raise EngineError("the spare cannot be reached", access.detail)
        return Ready(id, form, index, image.version, init, self._containers.lxcfs_pid(), port, host_key)

    async def _try_to_remove(self, id: str) -> bool:
        """Retry the removal of a spare after the others, without delaying them or the agent."""
        self._unfit.remove(id)
        try:
            await self._remove(id)
        except (EngineError, OSError) as error:
            log.warning("spare.not_removed", spare=id, error=str(error))
            self._unfit.append(id)
            return False
        return True

    async def _remove(self, id: str) -> None:
        path = self._records.folder(id)
        first = liveness.look(path, self._containers.limits).known()
        index, port = self._numbers.of(id)
        remains = await self._removals.begin(id, first, index=index, port=port)
        await self._access.close(path, "the spare was removed")
        await self._removals.end_processes(id, first, remains)
        items = await self._removals.clean(id, remains)
        if left := [item.evidence for item in items if not item.ok]:  # its numbers stay reserved
            raise EngineError("the spare was not removed", "; ".join(left))
        self._numbers.retire(remains)
        await self._removals.finish(id)
        self._numbers.give_back(id)

    def prospect(self, spec: EnvironmentSpec) -> str:
        """How the environment will be created, in words."""
        return "a spare is ready" if form_of(spec) in self._ready else "making its disk"

    def claim(self, spec: EnvironmentSpec, image: images.Image) -> Ready | None:
        """Move a matching spare to the folder of the environment; None if there is none.

        The folder is then an incomplete environment: after a failure, it is removed or created again."""
        spare = self._ready.pop(form_of(spec), None)
        if spare is None:
            return None
        path, folder = self._records.folder(spare.id), self._environments / spec.allocation_id
        if spare.image != image.version or self._is_defective(spare):
            self._unfit.append(spare.id)
            return None
        if reason := self._containers.device_change(path, spec):
            self._count(spare.id, reason)
            self._unfit.append(spare.id)
            return None
        Folder(path).keep_container_name()
        path.rename(folder)
        images.claim(image, folder)
        self._numbers.give_back(spare.id)
        self._numbers.keep(spec.allocation_id, index=spare.index, port=spare.port)
        return spare

    async def personalise(self, folder: Path, record: Record) -> bool:
        """Whether the environment runs, because `claim` moved a spare there. A defective spare is ended,
        and the environment can be booted normally."""
        container, init = Folder(folder).container, liveness.recorded(folder)
        if container == folder.name or init is None or (folder / NAME).exists():
            return False
        try:
            await self._containers.personalise(folder, record, init.pid)
            await asyncio.to_thread(files.sync_folder, self._environments)  # the name must be durable first
        except (EngineError, OSError) as error:
            self._count(container, str(error))
            await self._containers.stop(folder, Process(init.pid, init.born), grace=0)
            return False
        self._used += 1
        return True


def _uuids(form: SpareForm) -> list[str]:
    return [slot.gpu_uuid for slot in form.slots]


def _nobodys(id: str, form: SpareForm) -> EnvironmentSpec:
    """Placeholder for the unknown holder."""
    return EnvironmentSpec(
        allocation_id=id,
        boot=0,
        hostname="spare",
        keys=KeySet(generation=0),
        **{name: getattr(form, name) for name in SpareForm.__struct_fields__},
    )
