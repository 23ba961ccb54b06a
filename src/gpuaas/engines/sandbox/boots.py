"""From a record to a running pid 1 and back: disk, network, limits, root view."""

import asyncio
import contextlib
import os
import shutil
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox import commands, etc, files, liveness, processes
from gpuaas.engines.sandbox.inside import Inside
from gpuaas.engines.sandbox.limits import Limits
from gpuaas.engines.sandbox.network import Networks
from gpuaas.engines.sandbox.nursery import INSIDE_UID, Nursery
from gpuaas.engines.sandbox.records import Record
from gpuaas.engines.sandbox.site import Site
from gpuaas.wire.environments import EnvironmentSpec

SKELETON = Path("/etc/skel")
SHARED_ADDRESS = "127.0.1.1"
OPEN_FILES = 65_536


class Boots:
    """Makes disks, boots and stops environments of one engine; knows nothing of keys and doors."""

    def __init__(self, site: Site, *, spare: int, spare_networks: int, hide: tuple[Path, ...]) -> None:
        self._site, self._spare_networks = site, spare_networks
        self._hide = [str(path.resolve()) for path in (site.root, *hide)]
        self.limits = Limits(site.tag)
        self.networks: Networks | None = None
        self._nursery = Nursery(site.mark, site.root / "init.log", is_root=site.is_root, spare=spare)

    @property
    def is_isolated(self) -> bool:
        return self._nursery.is_isolated

    @property
    def namespaces(self) -> tuple[str, ...]:
        return self._nursery.flags(is_root=self._site.is_root)

    async def open(self, keep: set[int], living: set[int] | None, *, is_isolated: bool) -> None:
        """Everything an earlier agent left half done ends here; the living are left alone. `living` is None when not
        all of them are known: then no process is ended."""
        self._nursery.is_isolated = is_isolated
        if living is not None:
            await self._end_leftovers(living)
        if self._site.is_root and is_isolated:
            self.networks = Networks(self._site.tag, await self._site.block())
            await self.networks.open(keep)
        if living == set():
            await files.erase(self._site.root / "etc")
        await self.snapshot()
        self._nursery.fill()

    async def _end_leftovers(self, living: set[int]) -> None:
        """Pid 1s, and the `unshare` above each, that serve no environment we know."""
        spared = living | {processes.parent(pid) for pid in living}
        for pid in processes.with_argument(self._site.mark):
            if pid not in spared:
                await processes.end(pid, lambda pid: pid in processes.with_argument(self._site.mark))

    async def close(self, *, remove: bool) -> None:
        await self._nursery.close()
        if self.networks is not None:
            await self.networks.close(remove=remove)
        if remove:
            self.limits.close()

    async def prepare(self, index: int) -> None:
        if self.networks is not None:
            await self.networks.ensure(index)

    def make_disk(self, folder: Path, spec: EnvironmentSpec, index: int) -> None:
        """Before any process of the person's ran, so there is nobody to race with."""
        home = folder / "disk" / "home" / spec.username
        home.mkdir(mode=0o700, parents=True)
        for name in ("tmp", "var_tmp"):
            (folder / "disk" / name).mkdir()
            (folder / "disk" / name).chmod(0o1777)
        if SKELETON.is_dir():
            shutil.copytree(SKELETON, home, dirs_exist_ok=True, symlinks=True)
        home.chmod(0o700)
        if not self.is_isolated:  # without a root view the person has to find the way to their home
            for path in (self._site.root, self._site.environments, folder):
                path.chmod(0o711)
        if self._site.is_root:
            uid = self._site.person_uid(index)
            for path in (home, *home.rglob("*"), folder / "disk" / "tmp", folder / "disk" / "var_tmp"):
                os.chown(path, uid, uid, follow_symlinks=False)

    def owner_of_home(self, index: int) -> int:
        """The person, as the machine numbers people."""
        return self._site.person_uid(index) if self._site.is_root else os.geteuid()

    async def boot(self, folder: Path, record: Record) -> int:
        """The pid of a serving pid 1, as the machine numbers it."""
        spec = record.spec
        await self.prepare(record.index)
        for name in ("init.sock", liveness.NAME):
            (folder / name).unlink(missing_ok=True)
        address = str(self.networks.address(record.index)) if self.networks else SHARED_ADDRESS
        etc.write_own(folder / "etc", spec, uid=INSIDE_UID, gid=INSIDE_UID, address=address)
        groups = self.limits.make(spec.allocation_id, vcpus=spec.vcpus, memory_mib=spec.memory_mib)
        newborn = self._nursery.take()
        await newborn.settle(
            {
                "allocation_id": spec.allocation_id,
                "boot": record.boot,
                "hostname": spec.hostname,
                "isolated": self.is_isolated,
                "folder": str(folder),
                "view": str(self._site.view),
                "etc": str(await self.snapshot()),
                "hide": self._hide,
                "platform": {"runtimes": str(self._site.runtimes), "programs": str(self._site.programs)},
                "shm_mib": max(64, spec.memory_mib // 2),
                "cgroups": groups,
                "rlimits": {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": _at_most(OPEN_FILES)},
                **self._person(folder, record),
            }
        )
        pid = liveness.answering(folder)
        if pid is None:
            raise EngineError("the environment did not start", "its first process ended at once")
        return pid

    def _person(self, folder: Path, record: Record) -> dict[str, object]:
        """Who the person is inside, and what only root can give: a network and two uids of its own."""
        spec, uid = record.spec, self._site.person_uid(record.index)
        owner = [uid, uid] if self._site.is_root else []
        person: dict[str, object] = {"uid": INSIDE_UID, "gid": INSIDE_UID, "network": "", "maps": {}, "owner": owner}
        home = f"/home/{spec.username}"
        if not self.is_isolated:
            home = str(folder / "disk" / "home" / spec.username)
            uid = self.uid_inside(record.index)
            person |= {"uid": uid, "gid": uid if owner else os.getgid()}
        elif self.networks is not None:
            ids = f"0 {self._site.init_uid(record.index)} 1\n{INSIDE_UID} {uid} 1\n"
            person["maps"] = {"uid_map": ids, "gid_map": ids}
            # seen through the agent: a newborn's mounts are older than the namespace
            person["network"] = f"/proc/{os.getpid()}/root{self.networks.path(record.index)}"
        return {**person, "home": home, "environment": etc.variables(spec, home)}

    async def stop(self, folder: Path, pid: int, *, grace: float) -> None:
        """Processes are asked, then ended; the kernel ends all of them with pid 1, and `unshare` above follows."""
        above, birth = processes.parent(pid) if self.is_isolated else 0, processes.born(pid)
        if grace:
            with contextlib.suppress(EngineError):
                Inside(folder).stop(grace)
            await processes.gone(pid, grace + 1)
        if not self.is_isolated:
            await processes.end_descendants(pid)
        await processes.end(pid, lambda pid: processes.born(pid) == birth)
        if above > 1:
            await processes.gone(above, 1)

    def index_of_disk(self, folder: Path) -> int | None:
        """Told by its owner, whatever its record says; nobody inside can change who owns these."""
        homes = folder / "disk" / "home"
        found = [*(homes.iterdir() if homes.is_dir() else ()), folder / "disk" / "tmp"]
        indexes = (self._site.index_of(path.lstat().st_uid) for path in found if os.path.lexists(path))
        return next((index for index in indexes if index is not None), None)

    async def forget(self, allocation_id: str, index: int | None) -> None:
        """What an environment had beside its folder."""
        await self.limits.remove(allocation_id)
        if self.networks is not None and index is not None:
            await self.networks.remove(index)

    def uids(self, index: int) -> set[int]:
        return self._site.uids(index)

    def listeners(self) -> list[int]:
        return [os.getpid()]

    def groups(self, allocation_id: str) -> list[str]:
        """Control groups of it that are still there."""
        return self.limits.residue(allocation_id)

    def uid_inside(self, index: int) -> int:
        if self.is_isolated:
            return INSIDE_UID
        return self._site.person_uid(index) if self._site.is_root else os.getuid()

    def is_prepared(self, index: int) -> bool:
        return self.networks is not None and self.networks.is_ready(index)

    async def refill(self, indexes: list[int]) -> None:
        """What the next environments will want, made while nobody waits. What cannot be made now is made then."""
        with contextlib.suppress(EngineError, OSError):
            self._nursery.fill()
            if self.networks is not None:
                for index in indexes[: self._spare_networks]:
                    await self.networks.ensure(index)

    async def snapshot(self) -> Path:
        target = self._site.root / "etc" / etc.fingerprint()
        if not target.exists():
            target.parent.mkdir(mode=0o755, exist_ok=True)
            new = target.with_suffix(".new")
            await files.erase(new)
            await asyncio.to_thread(etc.snapshot, new)
            new.rename(target)
        return target


def _at_most(wanted: int) -> int:
    hard = int(Path("/proc/self/limits").read_text().split("Max open files")[1].split()[1])
    return min(wanted, hard)


async def try_namespaces(*, is_root: bool) -> str:
    """Why this machine cannot isolate; empty when it can."""
    flags = {*Nursery.flags(is_root=is_root), "--user"}  # as root pid 1 makes the user namespace itself, later
    code, output = await commands.attempt("unshare", *flags, "--", "true")
    return "" if code == 0 else output
