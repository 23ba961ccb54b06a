"""From a record to a running pid 1 and back: disk, network, limits, root view."""

import asyncio
import contextlib
import os
import shutil
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.sandbox import commands, etc, files, processes
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

    def __init__(self, site: Site, *, spare: int, hide: tuple[Path, ...]) -> None:
        self._site, self._spare = site, spare
        self._hide = [str(path.resolve()) for path in (site.root, *hide)]
        self.limits = Limits(site.tag)
        self.networks: Networks | None = None
        self._nursery = Nursery(site.mark, site.root / "init.log", is_root=site.is_root, spare=spare)

    async def open(self, keep: set[int], living: set[int]) -> None:
        """Everything an earlier agent left half done ends here; the living are left alone."""
        await self._end_leftovers(living)
        if self._site.is_root:
            self.networks = Networks(self._site.tag, await self._site.block())
            await self.networks.open(keep)
        if not living:
            await files.erase(self._site.root / "etc")
        await self._snapshot()
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
        if self._site.is_root:
            uid = self._site.person_uid(index)
            for path in (home, *home.rglob("*"), folder / "disk" / "tmp", folder / "disk" / "var_tmp"):
                os.chown(path, uid, uid, follow_symlinks=False)

    async def boot(self, folder: Path, record: Record) -> int:
        """The pid of a serving pid 1, as the machine numbers it."""
        spec = record.spec
        await self.prepare(record.index)
        (folder / "init.sock").unlink(missing_ok=True)
        address = str(self.networks.address(record.index)) if self.networks else SHARED_ADDRESS
        etc.write_own(folder / "etc", spec, uid=INSIDE_UID, gid=INSIDE_UID, address=address)
        groups = self.limits.make(spec.allocation_id, vcpus=spec.vcpus, memory_mib=spec.memory_mib)
        newborn = self._nursery.take()
        await newborn.settle(
            {
                "allocation_id": spec.allocation_id,
                "boot": record.boot,
                "hostname": spec.hostname,
                "uid": INSIDE_UID,
                "gid": INSIDE_UID,
                "home": f"/home/{spec.username}",
                "environment": etc.variables(spec),
                "folder": str(folder),
                "view": str(self._site.view),
                "etc": str(await self._snapshot()),
                "hide": self._hide,
                "shm_mib": max(64, spec.memory_mib // 2),
                "cgroups": groups,
                "rlimits": {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": _at_most(OPEN_FILES)},
                **self._privileged(record.index),
            }
        )
        pid = Inside(folder).pid()
        if pid is None:
            raise EngineError("the environment did not start", "its first process ended at once")
        return pid

    def _privileged(self, index: int) -> dict[str, object]:
        """What only root can give: a network and two uids of its own. An ordinary user limits processes by count."""
        if self.networks is None:
            return {"network": "", "maps": {}, "owner": []}
        uid, person = self._site.init_uid(index), self._site.person_uid(index)
        ids = f"0 {uid} 1\n{INSIDE_UID} {person} 1\n"
        return {
            # seen through the agent: a newborn's mounts are older than the namespace
            "network": f"/proc/{os.getpid()}/root{self.networks.path(index)}",
            "maps": {"uid_map": ids, "gid_map": ids},
            "owner": [person, person],
        }

    async def stop(self, folder: Path, pid: int, above: int, *, grace: float) -> None:
        """Processes are asked, then ended; the kernel ends all of them with pid 1, and `unshare` above follows."""
        if grace:
            with contextlib.suppress(EngineError):
                Inside(folder).stop(grace)
            await processes.gone(pid, grace + 1)
        await processes.end(pid, lambda pid: processes.parent(pid) == above)
        await processes.gone(above, 1)

    async def forget(self, allocation_id: str, index: int) -> None:
        """What an environment had beside its folder."""
        await self.limits.remove(allocation_id)
        if self.networks is not None:
            await self.networks.remove(index)

    def is_prepared(self, index: int) -> bool:
        return self.networks is not None and self.networks.is_ready(index)

    async def refill(self, indexes: list[int]) -> None:
        """What the next environments will want, made while nobody waits."""
        self._nursery.fill()
        if self.networks is not None:
            for index in indexes[: self._spare]:
                await self.networks.ensure(index)

    async def _snapshot(self) -> Path:
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
    flags = Nursery.flags(is_root=is_root)
    code, output = await commands.attempt("unshare", *flags, "--", "true")
    return "" if code == 0 else output
