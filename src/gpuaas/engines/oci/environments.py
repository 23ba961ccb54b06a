"""Finds environments: running processes, records, and the observations made of both."""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)
from msgspec.structs import replace

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.devices import Devices
from gpuaas.engines.node import capabilities, commands, files, processes
from gpuaas.engines.node.records import Record, Records, Remains, UnreadableError
from gpuaas.engines.nvml import Nvml, NvmlError
from gpuaas.engines.oci import config, exits, liveness, nesting
from gpuaas.engines.oci.containers import Containers
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.oci.liveness import Liveness, Sighting
from gpuaas.engines.storage.mount_tables import MountTables
from gpuaas.wire.environments import (
    Environment,
    EnvironmentSpec,
    EnvironmentState,
    Init,
    Isolation,
    Mount,
    fingerprints,
)
from gpuaas.wire.gateway import AccessState, InitProcess

KINDS = {"mnt": "mount", "pid": "pid", "ipc": "ipc", "uts": "uts", "user": "user", "net": "network"}
FACT_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
SECCOMP = {"0": "none", "1": "strict", "2": "filter"}  # /proc/<pid>/status: Seccomp
NESTING = "nesting"  # in the folder of an environment: result of the user namespace test
TRIED = {0: "allowed", nesting.REFUSED: "refused"}
VISIBLE = ("GPUAAS_SLOTS", "CUDA_VISIBLE_DEVICES")
SeenMounts = Mapping[InitProcess, list[Mount] | OSError]


@dataclass(kw_only=True)
class Running:
    """A running environment, and the last report of the gateway about it."""

    init: InitProcess
    boot: int
    access: AccessState

    @property
    def pid(self) -> int:
        return self.init.pid


class Observer:
    """The environments of an engine."""

    def __init__(
        self,
        records: Records,
        running: Mapping[str, Running],
        containers: Containers,
        devices: Devices,
        *,
        tables: MountTables,
    ) -> None:
        self._records, self._running, self._containers, self._devices = records, running, containers, devices
        self._tables = tables
        self._nested: dict[Init, str] = {}

    def look(self, id: str) -> Sighting:
        """Read from the kernel, not cached."""
        running = self._running.get(id)
        return liveness.look(self._records.folder(id), self._containers.limits, running.init if running else None)

    def pid_of(self, id: str) -> int | None:
        """None only if it is proven that nothing runs there."""
        known = self.look(id).known()
        return known.pid if known else None

    def devices_of(self, id: str) -> tuple[str, ...] | None:
        """Devices of a running environment that was not adopted: from its record, otherwise its configuration."""
        with suppress(UnreadableError):
            here = self._records.read(id)
            return () if here is None else here.devices
        try:
            uuids = configured_variables(self._records.folder(id))["CUDA_VISIBLE_DEVICES"]
        except (OSError, KeyError, ValueError):
            return None
        return tuple(filter(None, uuids.split(",")))

    async def all(self) -> list[Environment]:
        """Mount tables are read first and in a thread, because programs inside determine their size."""
        tables = await asyncio.to_thread(self._read_mounts, [one.init for one in self._running.values()])
        return [self._look(id, tables) for id in self._records.ids()]

    def _read_mounts(self, inits: Iterable[InitProcess]) -> SeenMounts:
        return {init: self._mounts_of(init) for init in inits}

    def _mounts_of(self, init: InitProcess) -> list[Mount] | OSError:
        try:
            return self._tables.reported(init.pid)
        except OSError as error:
            return error

    def _look(self, id: str, tables: SeenMounts) -> Environment:
        broken = Environment(allocation_id=id, state=EnvironmentState.BROKEN, boot=0, devices=self._devices.of(id))
        try:
            record = self._records.read(id)
        except UnreadableError as error:
            state = EnvironmentState.BROKEN if error.is_damaged else EnvironmentState.UNKNOWN
            return replace(broken, state=state, detail=error.reason)
        match record:
            case None:
                return replace(broken, detail="half made")
            case Remains():
                return replace(broken, boot=record.boot, port=record.port, detail="half removed")
            case Record():
                return self._describe(id, record, tables)

    def check_gpus(self, record: Record, nvml: Nvml | str) -> str:
        configured = configured_variables(self._records.folder(record.spec.allocation_id))
        return check_gpus(configured, record.spec, nvml)

    async def reachable(self, record: Record, note: str, on_phase: OnPhase) -> Environment:
        id = record.spec.allocation_id
        if not (access := self._running[id].access).is_open:
            raise EngineError("the environment cannot be reached", access.detail)
        await on_phase("access_ready", note)
        return self._describe(id, record, await asyncio.to_thread(self._read_mounts, [self._running[id].init]))

    def _describe(self, id: str, record: Record, tables: SeenMounts) -> Environment:
        image = self._containers.images.used(record.image)
        seen = replace(_as_recorded(id, record), state=EnvironmentState.STOPPED, image=image)
        sighting, running = self.look(id), self._running.get(id)
        unknown = replace(seen, state=EnvironmentState.UNKNOWN)
        if sighting.is_dead:
            cause = exits.cause(self._records.folder(id), self._containers.limits)
            if cause is None and exits.is_ending(self._records.folder(id)):
                return replace(unknown, detail="its last processes are ending")
            return replace(seen, exit_cause=cause)
        if sighting.liveness is Liveness.UNKNOWN or running is None:
            return replace(unknown, detail=sighting.reason or "it runs and was not adopted yet")
        try:
            return self._describe_running(seen, record, running, tables)
        except OSError as error:
            return replace(unknown, detail=f"it could not be looked at: {error.strerror or error}")

    def _describe_running(self, seen: Environment, record: Record, running: Running, tables: SeenMounts) -> Environment:
        access, init = running.access, running.init
        mounts = tables[init] if init in tables else self._mounts_of(init)  # it booted after the tables were read
        if isinstance(mounts, OSError):
            raise mounts
        return replace(
            seen,
            state=EnvironmentState.RUNNING if access.is_open else EnvironmentState.BROKEN,
            detail="" if access.is_open else access.detail,
            mounts=tuple(mounts),
            own_keys=access.own_keys,
            isolation=self._isolation(record, running.pid),
        )

    def _isolation(self, record: Record, pid: int) -> Isolation:
        """Isolation facts read from the kernel for the running pid 1, not from configuration."""
        fields = processes.status(pid)
        own = tuple(name for kind, name in KINDS.items() if _differs(pid, kind))
        limits = self._containers.limits.found(Folder(self._records.folder(record.spec.allocation_id)).container, pid)
        limits["disk"] = f"ext4 image of {record.spec.disk_gib} GiB"
        missing = {name: "shared with the node" for name in KINDS.values() if name not in own}
        missing |= {f"limit:{name}": "not in force" for name in ("cpu", "memory", "pids") if name not in limits}
        mode = SECCOMP.get(fields.get("Seccomp", ""), "")
        if mode != "filter":
            missing["seccomp"] = "the kernel reports no filter"
        return Isolation(
            namespaces=own,
            uid=self._containers.ids.holder(record.index),
            network="own" if "network" in own else "shared",
            no_new_privileges=fields.get("NoNewPrivs") == "1",
            limits=limits,
            missing=missing,
            seccomp=mode,
            capabilities=tuple(sorted(capabilities.from_mask(int(fields.get("CapBnd", "0"), 16)))),
            nested_user_namespaces=self._nesting(record),
        )

    def _nesting(self, record: Record) -> bool | None:
        try:
            return (self._records.folder(record.spec.allocation_id) / NESTING).read_text() == "allowed"
        except FileNotFoundError:
            return None

    async def try_nesting(self, record: Record, filter: Path) -> None:
        """Test once per init and agent process whether the holder can create a user namespace."""
        init, id = record.spec.init, record.spec.allocation_id
        if init not in self._nested:
            argv = (commands.PYTHON, "-I", "-S", str(nesting.__file__))
            code, _ = await commands.attempt(*argv, str(self._running[id].pid), str(filter))
            if code in TRIED:
                self._nested[init] = TRIED[code]
        path = self._records.folder(id) / NESTING
        path.unlink(missing_ok=True)
        if found := self._nested.get(init):
            files.write_whole(path, found.encode(), durable=False)


def recorded(records: Records, id: str, reason: str) -> Environment:
    """Facts in the record of an environment that was not observed, with the reason."""
    unknown = Environment(allocation_id=id, state=EnvironmentState.UNKNOWN, boot=0, detail=reason)
    try:
        record = records.read(id)
    except UnreadableError as error:
        return replace(unknown, detail=f"{error.reason}; {reason}")
    match record:
        case None:
            return unknown
        case Remains():
            return replace(unknown, boot=record.boot, port=record.port, devices=record.devices)
        case Record():
            return replace(_as_recorded(id, record), detail=reason)


def _as_recorded(id: str, record: Record) -> Environment:
    """All fields except its state."""
    return Environment(
        allocation_id=id,
        state=EnvironmentState.UNKNOWN,
        boot=record.boot,
        port=record.port,
        host_key=public_half(record.host_key),
        key_generation=record.keys.generation,
        started_at=record.started_at,
        devices=record.devices,
        ownership=record.spec.ownership,
        admitted=fingerprints(record.keys),
    )


def write_facts(folder: Path, spec: EnvironmentSpec) -> None:
    """Facts in /etc/gpuaas inside; written again at each boot."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    for path in (folder.parent, folder):
        path.chmod(0o755)
    for name, value in facts_of(spec).items():
        files.write_whole(folder / name, f"{value}\n".encode(), mode=0o644, durable=False)


def facts_of(spec: EnvironmentSpec) -> dict[str, str]:
    """Write one small file per fact, and all facts as JSON."""
    known = {
        **{name: value for name, value in spec.facts.items() if FACT_NAME.fullmatch(name)},
        "allocation_id": spec.allocation_id,
        "boot": str(spec.boot),
        "hostname": spec.hostname,
        "slots": ",".join(str(slot.index) for slot in spec.slots),
        "gpus": ",".join(slot.gpu_uuid for slot in spec.slots),
        "vcpus": str(spec.vcpus),
        "memory_mib": str(spec.memory_mib),
        "simulated": str(spec.simulated).lower(),
    }
    return {**known, "facts.json": json.dumps(known, indent=2, sort_keys=True)}


def configured_variables(folder: Path) -> dict[str, str]:
    """Variables that the engine passed to pid 1. Those in /proc are under the control of the tenant."""
    runtime = json.loads((Folder(folder).bundle / "config.json").read_bytes())
    return dict(pair.split("=", 1) for pair in runtime["process"]["env"])


def check_gpus(configured: Mapping[str, str], spec: EnvironmentSpec, nvml: Nvml | str) -> str:
    """The configured GPUs in words; EngineError if a requested GPU is missing. Each boot compares device nodes with the
    configuration before any program runs inside."""
    wanted = config.variables(spec)
    for name in VISIBLE:
        if configured.get(name) != wanted[name]:
            detail = f"{name} is {configured.get(name)!r} in its configuration, {wanted[name]!r} was asked for"
            raise EngineError("its GPUs are not visible inside", detail)
    told = f"{len(spec.slots)} visible inside as slots {wanted['GPUAAS_SLOTS'] or 'none'}"
    return f"{told}; simulated" if spec.simulated else f"{told}; {_answers(spec, nvml)}"


def _answers(spec: EnvironmentSpec, nvml: Nvml | str) -> str:
    if isinstance(nvml, str):
        raise EngineError("its GPUs cannot be checked", nvml)
    told = []
    for slot in spec.slots:
        try:
            state = nvml.state(slot.gpu_uuid)
        except NvmlError as error:
            raise EngineError(f"GPU {slot.index} does not answer", f"{slot.gpu_uuid}: {error}") from error
        told.append(f"{slot.gpu_uuid} {state.memory_total_bytes >> 20} MiB {state.temperature_celsius} °C")
    return f"NVML: {', '.join(told)}"


def _differs(pid: int, kind: str) -> bool:
    theirs = processes.namespace(pid, kind)
    return bool(theirs) and theirs != str(Path(f"/proc/self/ns/{kind}").readlink())


def new_host_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()


def public_half(host_key: str) -> str:
    public = load_ssh_private_key(host_key.encode(), password=None).public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
