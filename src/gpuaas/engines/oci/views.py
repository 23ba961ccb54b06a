"""Shows an environment its own size: lxcfs provides files of /proc and /sys, and a cpuset limits its CPUs.

One lxcfs serves all environments of a node. It must survive the agent: when it ends, the files that are bound into
environments return ENOTCONN until they are replaced (view_keeper.py). Therefore it is detached from the agent, and a
starting agent adopts it.
"""

# ruff: noqa: ASYNC240 (single reads of /proc and of small files of the engine)

import asyncio
import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gpuaas.engines.base import EngineError
from gpuaas.engines.node import commands, processes
from gpuaas.engines.storage.mount_lines import lines_of

# Without slabinfo: on kernels without memory.kmem.slabinfo, lxcfs shows that of the node, which only root may read.
FILES = (
    "proc/cpuinfo",
    "proc/diskstats",
    "proc/loadavg",
    "proc/meminfo",
    "proc/stat",
    "proc/swaps",
    "proc/uptime",
    "sys/devices/system/cpu/online",
)
START_SECONDS, ANSWER_SECONDS = 15.0, 5.0
POLL_SECONDS = 0.02
GONE_LOOKS = 25
LOG_TAIL = 500
NEVER_FIRST = "-1000"  # oom_score_adj, the same as in lxcfs.service of the distribution
PROBED = "proc/uptime"
KIND = "fuse.lxcfs"


class Lxcfs:
    """The lxcfs of one engine, below a private folder of the engine."""

    def __init__(self, folder: Path, *, program: str | None = None, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.folder = folder
        self._program, self._answer_seconds = program or commands.find("lxcfs"), answer_seconds
        self.mount = folder / "mount"
        self._pid_file, self._log = folder / "lxcfs.pid", folder / "lxcfs.log"
        self._changing = asyncio.Lock()

    def mounts(self) -> list[dict[str, Any]]:
        """Mounts in the format of the runtime."""
        return [
            {
                "destination": f"/{name}",
                "type": "bind",
                "source": str(self.mount / name),
                "options": ["bind", "ro", "nosuid", "nodev", "noexec"],
            }
            for name in FILES
        ]

    def pid(self) -> int | None:
        """The pid of the process that serves our folder; None if the pid was reused."""
        try:
            pid = int(self._pid_file.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if self._serves(pid) else None

    def _serves(self, pid: int) -> bool:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            return False
        # Our path is in its arguments, and no process inside an environment has our uid.
        is_ours = str(self.mount).encode() in words and words[0].endswith(b"lxcfs")
        uids = processes.status(pid).get("Uid", "").split()
        return is_ours and set(uids) == {str(os.geteuid())} and not processes.has_ended(pid)

    def is_mounted(self) -> bool:
        return self._mounted() is not None

    def device(self) -> str | None:
        """Device number of the current file system; files with another number are stale."""
        return None if self.pid() is None else self._mounted()

    def _mounted(self) -> str | None:
        found = [line for line in lines_of(Path("/proc/self/mountinfo").read_bytes()) if line.kind == KIND]
        return next((line.device for line in reversed(found) if line.path == str(self.mount)), None)

    async def is_alive(self) -> bool:
        """Whether it runs, is mounted and answers. A child reads it, so that a hang does not block the agent."""
        if self.pid() is None or not self.is_mounted():
            return False
        try:
            async with asyncio.timeout(self._answer_seconds):
                code, _ = await commands.attempt("cat", str(self.mount / PROBED))
        except TimeoutError:
            return False
        return code == 0

    async def ensure(self) -> int:
        """Ensure that it runs; return its pid."""
        async with self._changing:
            if await self.is_alive() and (pid := self.pid()) is not None:
                return pid
            await self._clear()
            await self._start()
            return await self._ready()

    async def stop(self) -> None:
        """Stop and unmount it; reads of its files in environments then fail."""
        async with self._changing:
            await self._clear()

    async def _start(self) -> None:
        if self._program is None:
            raise EngineError("the node could not prepare the environment", "lxcfs is not installed")
        self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        self.mount.mkdir(mode=0o755, exist_ok=True)
        log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            # `setsid --fork` exits immediately: lxcfs is not a child that would end with the event loop.
            starting = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "--", self._program, "--enable-loadavg"),
                *("--pidfile", str(self._pid_file), str(self.mount)),
                env=commands.ENVIRONMENT,
                cwd="/",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            await starting.wait()
        finally:
            os.close(log)

    async def _ready(self) -> int:
        deadline = time.monotonic() + START_SECONDS
        looks = 0  # since the last sighting: a process has no arguments during exec
        while time.monotonic() < deadline and looks < GONE_LOOKS:
            if await self.is_alive() and (pid := self.pid()) is not None:
                with contextlib.suppress(PermissionError):  # needs CAP_SYS_RESOURCE, which an agent may lack
                    Path(f"/proc/{pid}/oom_score_adj").write_text(NEVER_FIRST)
                return pid
            looks = 0 if processes.with_argument(str(self.mount)) else looks + 1
            await asyncio.sleep(POLL_SECONDS)
        said = self._log.read_text(errors="replace")[-LOG_TAIL:]
        await self._clear()
        raise EngineError("the node could not prepare the environment", f"lxcfs did not start: {said}")

    async def _clear(self) -> None:
        """Remove all of it, including the mount of a killed lxcfs."""
        for pid in {self.pid(), *processes.with_argument(str(self.mount))} - {None}:
            if pid is not None and self._serves(pid):  # SIGKILL: it has no state to save, and SIGTERM takes 5 s
                await processes.end(pid, self._serves)
        while self.is_mounted():
            # Lazy unmount, because files bound into environments keep the file system busy.
            await commands.run("umount", "--lazy", str(self.mount))
        self._pid_file.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            self.mount.rmdir()


def stale_views(table: bytes, device: str | None) -> list[str]:
    """Names of files in this mount table that belong to another lxcfs than `device`. A device number is not
    reused while its file system is mounted. Mounts over a file by programs inside are ignored."""
    names = {f"/{name}".encode(): name for name in FILES}
    on_top = {names[line.raw_path]: line for line in lines_of(table) if line.raw_path in names}
    found = ((name, on_top[name]) for name in FILES if name in on_top)
    return [name for name, line in found if line.kind == KIND and line.device != device]


def choose_cpus(vcpus: int, in_use: Mapping[int, int], online: Iterable[int]) -> str:
    """Choose the least used CPUs, in purchased number, as a cpuset such as `0-2,5`, so that `nproc` shows this number.
    `in_use` is the number of environments per CPU. Limited to the CPUs of the node."""
    available = sorted(set(online), key=lambda cpu: (in_use.get(cpu, 0), cpu))
    if vcpus < 1 or not available:
        raise ValueError(f"{vcpus} of {len(available)} CPUs cannot be chosen")
    return format_cpus(available[:vcpus])


def format_cpus(cpus: Iterable[int]) -> str:
    """The kernel's list format."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and cpu == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], cpu]
        else:
            ranges.append([cpu])
    return ",".join("-".join(str(cpu) for cpu in one) for one in ranges)


def parse_cpus(text: str) -> tuple[int, ...]:
    """Parse the kernel's list format, as in /sys/devices/system/cpu/online."""
    found: list[int] = []
    for part in text.strip().split(",") if text.strip() else ():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)
