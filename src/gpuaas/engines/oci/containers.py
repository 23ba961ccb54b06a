"""Drives the OCI runtime: from a record to a running pid 1 and back.

conmon is the parent of each pid 1: it outlives the agent and writes the exit code to a file. The kernel, not the state
files of the runtime, decides whether an environment runs.
"""

# ruff: noqa: ASYNC240 (single reads of names, /proc and /sys)

import asyncio
import contextlib
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from gpuaas.engines.base import EngineError
from gpuaas.engines.images.node_images import NodeImages
from gpuaas.engines.node import cgroups, commands, files, kernel, processes, resolvers
from gpuaas.engines.node.limits import Limits
from gpuaas.engines.node.processes import Process
from gpuaas.engines.node.records import NAME, Record
from gpuaas.engines.node.site import Site
from gpuaas.engines.oci import cdi, cdi_specs, config, launcher
from gpuaas.engines.oci.folders import Folder
from gpuaas.engines.oci.ids import COUNT, HOLDER, IdRanges
from gpuaas.engines.oci.network import Networks
from gpuaas.engines.oci.view_keeper import ViewKeeper
from gpuaas.engines.oci.views import Lxcfs, choose_cpus, parse_cpus
from gpuaas.engines.storage.mount_process import ask
from gpuaas.engines.storage.mounting import VOLUME_UID
from gpuaas.engines.storage.mounts import VolumeIds
from gpuaas.wire.environments import EnvironmentSpec, GpuFact, Init

CREATE_SECONDS = 30.0
CONMON_SECONDS = 5.0
EXECUTE_TRIES = 5_000  # of two milliseconds each
CONNECTION_MEMORY_MIB = 512  # of all sshd processes of an environment together
DAEMON_MEMORY_MIB = 512  # of all its volume daemons together
HALT = signal.SIGRTMIN + 3  # systemd: halt


class Containers:
    """The containers of one engine, without keys and connections."""

    def __init__(
        self,
        site: Site,
        images: NodeImages,
        allowed_networks: tuple[IPv4Network, ...],
        clock: Callable[[], datetime],
    ) -> None:
        self._site, self.images, self._allowed = site, images, allowed_networks
        self._state = site.root / "runc"
        self.ids = IdRanges(site.root)
        self.limits = Limits(site.tag)
        self.networks: Networks | None = None
        self._lxcfs = Lxcfs(site.root / "lxcfs")
        self.views = ViewKeeper(self._lxcfs, clock)

    async def open(self, keep: set[int]) -> None:
        self._state.mkdir(mode=0o700, exist_ok=True)
        await self._lxcfs.ensure()
        self.networks = Networks(self._site.tag, await self._site.block(), self._allowed)
        await self.networks.open(keep)

    async def close(self, *, remove: bool) -> None:
        await self.views.close()
        if self.networks is not None:
            await self.networks.close(remove=remove)
        if remove:
            await self._lxcfs.stop()
            self.limits.close()

    def lxcfs_pid(self) -> int | None:
        return self._lxcfs.pid()

    def has_network(self, index: int) -> bool:
        return self.networks is None or bool(self.networks.residue(index))

    async def boot(self, path: Path, record: Record, *, is_spare: bool = False) -> int:
        """Boot; return the pid of pid 1 on the node. A spare has no personal files yet."""
        id, folder = path.name, Folder(path)
        await self.delete(folder.container)
        folder.drop_container_name()
        for one in (folder.bundle, folder.exit_code.parent, folder.facts):
            one.mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.exit_code.unlink(missing_ok=True)
        folder.pid.unlink(missing_ok=True)
        first_id = self.ids.first(record.index)
        cpus = choose_cpus(record.spec.vcpus, self._cpus_in_use(), os.sched_getaffinity(0))
        runtime = config.build(record.spec, first_id=first_id, cgroup=self._cgroup(id), cpus=cpus)
        await self.views.revive()
        runtime["mounts"] += self._lxcfs.mounts()
        runtime = cdi.apply(runtime, cdi.select(_device_specs(folder, record.spec), record.spec.slots))
        files.write_whole(folder.bundle / "config.json", json.dumps(runtime).encode(), durable=False)
        try:
            pid = await self._launch({**self._order(folder, record, first_id), "is_spare": is_spare})
            _check_nodes(pid, runtime)
            if record.spec.init is Init.SYSTEMD:
                cgroups.hand_over(pid, first_id)
                await ask({"verb": "share", "pid": pid, "born": processes.born(pid)})
            if self.networks is not None:
                await self.networks.attach(record.index, pid)
            self._limit_connections(folder, record.spec)
            await commands.run("runc", "--root", str(self._state), "start", id)
            await executed(pid)
        except BaseException:
            await self.delete(id)
            raise
        return pid

    def device_change(self, path: Path, spec: EnvironmentSpec) -> str:
        """How the devices of a container differ from those of a boot now; empty if equal. After a reload of a driver,
        other devices may have their numbers."""
        folder = Folder(path)
        try:
            wanted = cdi.apply({}, cdi.select(_device_specs(folder, spec), spec.slots))
            runtime = json.loads((folder.bundle / "config.json").read_bytes())
        except (EngineError, OSError, json.JSONDecodeError) as error:
            return f"its devices are unknown: {error}"
        if _devices(runtime) != _devices(wanted):
            return "its devices have other numbers now"
        is_mounted = all(mount in runtime["mounts"] for mount in wanted.get("mounts", ()))
        return "" if is_mounted else "its devices have other mounts now"

    def _limit_connections(self, folder: Folder, spec: EnvironmentSpec) -> None:
        self.limits.make(_connections_of(folder.container), vcpus=spec.vcpus, memory_mib=CONNECTION_MEMORY_MIB)

    async def personalise(self, path: Path, record: Record, pid: int) -> None:
        """Turn a running spare into the environment of this record: personal files on its root disk, and host name.
        Only programs of the image have run there."""
        keeper = processes.parent(pid)  # conmon has the mounts of the launcher
        if not _is_conmon(keeper):  # another process has this pid, with the mounts of the node
            raise EngineError("the spare is defective", "its conmon has ended")
        order = self._order(Folder(path), record, self.ids.first(record.index))
        stage = f"/proc/{keeper}/root{launcher.STAGE}"
        await asyncio.to_thread(launcher.set_up, stage, order)
        kernel.set_hostname(pid, record.spec.hostname)

    def _cpus_in_use(self) -> Counter[int]:
        """The number of containers per CPU, from their configurations."""
        found: Counter[int] = Counter()
        for path in self._site.root.glob("*/*/bundle/config.json"):
            with contextlib.suppress(OSError, KeyError, json.JSONDecodeError):
                runtime = json.loads(path.read_text())["linux"]
                if (self._state / Path(runtime["cgroupsPath"]).name).exists():
                    found.update(parse_cpus(runtime["resources"]["cpu"]["cpus"]))
        return found

    def _cgroup(self, id: str) -> str:
        return f"/gpuaas-{self._site.tag}/{id}"

    async def _launch(self, order: dict[str, object]) -> int:
        """Mount, start conmon and run `runc create`; return when the container waits for its start."""
        answers, answer = os.pipe2(os.O_CLOEXEC)
        try:
            with commands.given(json.dumps(order)) as stdin:
                process = await asyncio.create_subprocess_exec(
                    *commands.ours(launcher.__file__),
                    env={**commands.FOR_OURS, "_OCI_SYNCPIPE": str(answer)},
                    pass_fds=(answer,),
                    stdin=stdin,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.PIPE,
                    start_new_session=True,
                )
            os.close(answer)
            answer = -1
            said = await self._answer(answers, process)
        finally:
            for descriptor in (answers, answer):
                if descriptor >= 0:
                    os.close(descriptor)
        pid = said.get("data")
        if not isinstance(pid, int) or pid <= 0:
            raise EngineError("the environment did not start", str(said.get("message", said))[-1000:])
        return pid

    async def _answer(self, answers: int, process: asyncio.subprocess.Process) -> dict[str, object]:
        """Read the line of conmon, or the error of the launcher."""
        try:
            await processes.readable(answers, CREATE_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            return {"message": f"no response in {CREATE_SECONDS:.0f} s"}
        data = await asyncio.to_thread(os.read, answers, 65_536)
        await process.wait()
        if data:
            found: dict[str, object] = json.loads(data.split(b"\n", 1)[0])
            return found
        assert process.stderr is not None  # noqa: S101 (it was asked for)
        return {"message": (await process.stderr.read(4096)).decode(errors="replace")}

    def _order(self, folder: Folder, record: Record, first_id: int) -> dict[str, object]:
        spec, id = record.spec, folder.path.name
        root = self.images.of(record.image)
        if root is None:
            raise EngineError("the base image of this environment is gone", record.image)
        etc = {name: (root.root / "etc" / name).read_text() for name in ("passwd", "group", "shadow")}
        address = str(self.networks.address(record.index)) if self.networks else "127.0.1.1"
        resolv = "".join(f"{line}\n" for line in resolvers.lines())
        return {
            "image": str(root.root),
            "first_id": first_id,
            "disk": str(folder.disk),
            "uid": HOLDER,
            "home": config.home(spec),
            "folders": config.folders(spec),
            "files": config.files(spec, image_etc=etc, address=address, resolv=resolv) | config.MANAGER_FILE,
            "platform": {
                "runtimes": str(self._site.runtimes),
                "gpuaas": str(folder.facts),
                "programs": str(self._site.programs),
            },
            "argv": [
                *(commands.find("conmon") or "conmon", "--api-version", "1", "-c", id, "-u", id, "-n", id),
                *("-r", commands.find("runc") or "runc", "-b", str(folder.bundle), "-p", str(folder.pid)),
                *("--runtime-arg", "--root", "--runtime-arg", str(self._state)),
                *("--exit-dir", str(folder.exit_code.parent), "--socket-dir-path", str(folder.bundle), "-l", "none"),
                *("--log-level", "error"),
            ],
        }

    async def stop(self, folder: Path, first: Process, *, grace: float) -> None:
        """Signal processes, then kill pid 1: the kernel ends all others with it, and conmon exits."""
        above = processes.parent(first.pid)
        if not processes.is_alive(*first):
            above = 0  # of another process with its pid
        elif grace:
            await self._ask_to_end(folder, first, grace)
        await processes.end(first.pid, lambda pid: processes.is_alive(pid, first.born))
        if _is_conmon(above):  # a killed conmon left pid 1 to another parent
            await processes.gone(above, CONMON_SECONDS)  # its mounts keep the disk busy
        await self.delete(Folder(folder).container)

    async def _ask_to_end(self, folder: Path, first: Process, grace: float) -> None:
        others = [other for other in processes.in_pid_namespace_of(first.pid) if other != first]
        runtime = json.loads((Folder(folder).bundle / "config.json").read_text())
        if runtime["process"]["args"] == list(config.PID_1[Init.SYSTEMD]):
            processes.send(first, HALT)
            await processes.gone(first.pid, 5 * grace)
            return
        for other in others:
            processes.send(other, signal.SIGTERM, signal.SIGCONT)
        async with asyncio.TaskGroup() as waiting:
            for other in others:
                waiting.create_task(processes.gone(other.pid, grace))

    async def delete(self, id: str) -> None:
        """Delete the runtime's state, its control groups and those of its connections; also ends a container that waits
        for its start. A killed runtime may have left a process without state; it is in the control group, which must
        become empty."""
        if (self._state / id).exists():
            await commands.attempt("runc", "--root", str(self._state), "delete", "--force", id)
        await self._end_members(id)
        await self._remove_group(_connections_of(id))

    async def _remove_group(self, group: str) -> None:
        await self._end_members(group)
        await self.limits.remove(group)

    async def _end_members(self, group: str) -> None:
        for pid in self.limits.members(group):
            await processes.end(pid, lambda pid: pid in self.limits.members(group))

    def is_waiting(self, id: str) -> bool:
        """Whether it was created and never started, because an agent died in between."""
        return (self._state / id / "exec.fifo").exists()

    def leftovers(self, environments: Iterable[Path]) -> list[str]:
        """Containers that belong to none of these environments, or never started. An environment without a record is
        incomplete."""
        if not self._state.is_dir():
            return []
        known = {Folder(path).container for path in environments if (path / NAME).exists()}
        found = [path.name for path in self._state.iterdir()]
        return [id for id in found if id not in known or self.is_waiting(id)]

    async def forget(self, allocation_id: str, container: str, index: int | None) -> None:
        """Remove resources outside its folder. Its connections are closed: a remaining sshd has no record, because its
        gateway died before writing it."""
        await self.delete(container)
        for group in (container, *_groups_beside(allocation_id, container)):
            await self._remove_group(group)
        (self._site.root / "exits" / container).unlink(missing_ok=True)
        if self.networks is not None and index is not None:
            await self.networks.remove(index)

    def index_of(self, path: Path) -> int | None:
        """The id range in its configuration, for an unreadable record; written before any start."""
        try:
            runtime = json.loads((Folder(path).bundle / "config.json").read_text())
            return self.ids.index(runtime["linux"]["uidMappings"][0]["hostID"])
        except (OSError, KeyError, IndexError, TypeError, json.JSONDecodeError):
            return None

    def volume_ids(self, record: Record) -> VolumeIds:
        """Ids inside stay the same, in a separate range on the volume."""
        first = self.ids.first(record.index)
        return VolumeIds(
            on_disk=VOLUME_UID - HOLDER,
            outside=first,
            count=COUNT,
            root=first,
            holder=first + HOLDER,
            limit_daemons=lambda: self._limit_daemons(record.spec),
        )

    def _limit_daemons(self, spec: EnvironmentSpec) -> list[str]:
        name = f"{spec.allocation_id}.storage"
        return self.limits.make(name, vcpus=spec.vcpus, memory_mib=DAEMON_MEMORY_MIB)

    def listeners(self) -> list[int]:
        """Our processes that may listen on the port of an environment: SSH gateways, including running ones of older
        releases."""
        return processes.with_argument(str(self._site.root))

    def groups(self, allocation_id: str, container: str) -> list[str]:
        names = (container, *_groups_beside(allocation_id, container))
        return [folder for name in names for folder in self.limits.residue(name)]

    def connection_groups(self, folder: Folder) -> tuple[str, ...]:
        """Group names; earlier versions named those of a former spare after its allocation."""
        names = (_connections_of(folder.container), _connections_of(folder.path.name))
        name = next((each for each in names if self.limits.residue(each)), names[0])
        return tuple(sorted({str(each) for each in self.limits.folders(name).values()}))


def _groups_beside(allocation_id: str, container: str) -> tuple[str, ...]:
    """Control groups of its connections, for each name that its container may have had, and of its volume daemons."""
    return *dict.fromkeys((_connections_of(container), _connections_of(allocation_id))), f"{allocation_id}.storage"


def _connections_of(container: str) -> str:
    return f"{container}.ssh"


def _is_conmon(pid: int) -> bool:
    return processes.status(pid).get("Name") == "conmon"


def _device_specs(folder: Folder, spec: EnvironmentSpec) -> cdi_specs.Specs:
    """CDI folders of the node; a simulated GPU has a spec in the engine's folder and uses the same code."""
    if not spec.simulated:
        return cdi_specs.discover()
    gpus = (
        GpuFact(
            index=slot.index,
            family="simulated",
            gpu_uuid=slot.gpu_uuid,
            gpu_pci=slot.gpu_pci,
            numa=slot.numa,
            memory_mib=0,
            simulated=True,
            source="simulated by the engine",
        )
        for slot in spec.slots
    )
    return cdi_specs.discover((cdi.write_simulated(folder.path / "cdi", gpus).parent,))


def _devices(runtime: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Device nodes, and the rules that permit them."""
    linux = runtime.get("linux", {})
    rules = linux.get("resources", {}).get("devices", [])
    return linux.get("devices", []), [rule for rule in rules if rule["allow"]]


def _check_nodes(pid: int, runtime: dict[str, Any]) -> None:
    """Verify device nodes before any program runs inside."""
    for node in runtime["linux"].get("devices", ()):
        try:
            found = os.stat(f"/proc/{pid}/root{node['path']}")  # noqa: PTH116 (a link of the kernel's)
        except OSError as error:
            raise EngineError("its GPUs are not visible inside", f"{node['path']}: {error.strerror}") from error
        if (os.major(found.st_rdev), os.minor(found.st_rdev)) != (node["major"], node["minor"]):
            raise EngineError("its GPUs are not visible inside", f"{node['path']} is another device")


async def executed(pid: int) -> None:
    """Wait for pid 1: the runtime reports "started" slightly before its process executes pid 1."""
    for _ in range(EXECUTE_TRIES):
        try:
            name = Path(f"/proc/{pid}/comm").read_text()
        except (FileNotFoundError, ProcessLookupError):
            raise EngineError("the environment did not start", "its first process ended at once") from None
        if not name.startswith("runc"):
            return
        await asyncio.sleep(0.002)
    raise EngineError("the environment did not start", "the runtime did not execute its first process")
