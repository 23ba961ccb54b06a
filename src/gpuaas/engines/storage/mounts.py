"""Volumes in running environments: attached, seen and detached while people work in them."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import cast

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.node import files, processes
from gpuaas.engines.node.records import Record, Records
from gpuaas.engines.storage import serving
from gpuaas.engines.storage.holding import Hold, mounts_and_descriptors_of, open_files_under
from gpuaas.engines.storage.mount_process import ask
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.environments import Mount
from gpuaas.wire.storage import AccessMode, VolumeRef, WantedMount

NAMED_HOLDERS = 8
DAEMON_SECONDS = 5.0
SETTLE_SECONDS = 0.2  # a service that is starting has mounts at other paths for a moment
Look = Callable[[], Awaitable[list[Hold]]]
ROUNDS = 5  # of ending processes that use a volume, before it is unmounted under those that remain


@dataclass(frozen=True)
class VolumeIds:
    """How the owners of a volume's files are seen in one environment: ids from `on_disk` are ids from `outside`."""

    on_disk: int
    outside: int
    count: int
    holder: int
    root: int
    limit_daemons: Callable[[], list[str]] = list
    """Makes control groups for daemons that work for this environment, and says which they are."""


class NodeMounts:
    def __init__(
        self,
        records: Records,
        volumes: NodeVolumes,
        *,
        ids: Callable[[Record], VolumeIds],
        pid_of: Callable[[str], int | None],
        alone: Callable[[str], AbstractAsyncContextManager[None]],
    ) -> None:
        self._records, self._volumes = records, volumes
        self._ids, self._pid_of, self._alone = ids, pid_of, alone

    async def attach(self, allocation_id: str, wanted: WantedMount, on_phase: OnPhase) -> None:
        place = self._volumes.find(wanted.volume)
        async with self._alone(allocation_id):
            record, pid = self._running(allocation_id)
            if await self._is_there(pid, wanted):
                return
            await on_phase("volume_mounting", f"at {wanted.mount_path}")
            is_served = self._volumes.is_served(wanted.volume.backend)
            order = self._order(allocation_id, pid, wanted.mount_path, record) | {
                "verb": "attach",
                "source": str(place.path),
                "volume_id": wanted.volume.volume_id,
                "is_image": place.is_image,
                "is_served": is_served,
                "groups": self._ids(record).limit_daemons() if is_served else [],
                "read_only": wanted.access_mode is AccessMode.READ_ONLY,
                "others": [mount.mount_path for mount in await self._mounts_in(pid)],
            }
            await ask(order)
            if not await self._is_there(pid, wanted):
                raise EngineError("the volume was mounted and is not seen there", wanted.mount_path)
            await asyncio.to_thread(self.tell, allocation_id, record)

    async def _is_there(self, pid: int, wanted: WantedMount) -> bool:
        read_only = wanted.access_mode is AccessMode.READ_ONLY
        for mount in await self._mounts_in(pid):
            if mount.mount_path == wanted.mount_path:
                if (mount.volume_id, mount.read_only) != (wanted.volume.volume_id, read_only):
                    raise EngineError("another volume is mounted at this path", wanted.mount_path)
                return True
        return False

    async def detach(
        self, allocation_id: str, volume: VolumeRef, mount_path: str, *, force: bool, on_phase: OnPhase
    ) -> str:
        """In words how it went; a busy one that is not forced is an error which names what uses it."""
        async with self._alone(allocation_id):
            pid = self._pid_of(allocation_id)
            record = self._records.read(allocation_id)
            if pid is None or not isinstance(record, Record):
                return "the environment is not running, and nothing is mounted in it"
            ids, namespace = self._ids(record), processes.namespace(pid, "mnt")
            uids = range(ids.outside, ids.outside + ids.count)

            async def look() -> list[Hold]:
                tables, volume_id = self._volumes.tables, volume.volume_id
                return await asyncio.to_thread(mounts_and_descriptors_of, tables, volume_id, uids)

            async def look_elsewhere() -> list[Hold]:
                return [one for one in await look() if not one.is_at(mount_path, namespace)]

            order = self._order(allocation_id, pid, mount_path, record)
            if not force:  # by force the mount itself goes first, so that nobody makes another copy of it meanwhile
                await self._let_go(order, look_elsewhere, force=False)
            note = "it was not mounted"
            if any(
                (one.volume_id, one.mount_path) == (volume.volume_id, mount_path) for one in await self._mounts_in(pid)
            ):
                await on_phase("volume_unmounting", f"from {mount_path}")
                note = await self._unmount(order, pid, force=force)
            ended = await self._let_go(order, look, force=force)
            ended += await _end_daemons(volume.volume_id, ids.outside, mount_path, force=force)
            await asyncio.to_thread(self.tell, allocation_id, record)
            return f"{note}; {ended} processes that kept it elsewhere were ended" if ended else note

    async def _let_go(self, order: dict[str, object], look: Look, *, force: bool) -> int:
        """Until the look finds nothing. Copies at the same path, which services have in mounts of their own, are
        unmounted; those at other paths, and processes that keep one, only by force. How many processes were ended."""
        ended, left = 0, list[Hold]()
        for _ in range(ROUNDS):
            for hold in await look():
                if hold.mount_path and (force or hold.mount_path == order["mount_path"]):
                    with contextlib.suppress(EngineError):  # a locked mount, or one that is covered: it is seen again
                        one = {**hold.process._asdict(), "mount_path": hold.mount_path}
                        await ask({**order, **one, "verb": "detach", "lazy": force})
            if not (left := await look()):
                return ended
            if not force:
                await asyncio.sleep(SETTLE_SECONDS)
                continue
            holders = {one.process.pid: one.process.born for one in left}
            if len(holders) > 1:
                holders.pop(cast("int", order["pid"]), None)  # pid 1 is the last: everything else ends with it
            for holder, birth in holders.items():
                ended += await processes.end(holder, partial(processes.is_alive, birth=birth))
        raise EngineError(f"the volume is in use: {_listed([one.words for one in left])}", str(order["mount_path"]))

    async def _mounts_in(self, pid: int) -> list[Mount]:
        try:
            return await asyncio.to_thread(self._volumes.tables.mounts_in, pid)
        except OSError as error:
            raise EngineError("the mounts of the environment are unknown", error.strerror or str(error)) from error

    async def _unmount(self, order: dict[str, object], pid: int, *, force: bool) -> str:
        path, ended, inside = str(order["mount_path"]), 0, processes.namespace(pid, "pid")
        for _ in range(ROUNDS):
            answer = await ask({**order, "verb": "detach", "lazy": False})
            if not answer.get("busy"):
                return f"unmounted; {ended} processes that used it were ended" if ended else "unmounted"
            users = open_files_under(pid, path)
            if not force:
                named = _listed([one.words for one in users]) or "by the system"
                raise EngineError(f"the volume is in use: {named}", path)
            for one in users:
                ended += await processes.end(one.pid, lambda number: processes.namespace(number, "pid") == inside)
        await ask({**order, "verb": "detach", "lazy": True})
        return "unmounted lazily: something still held it"

    def _running(self, allocation_id: str) -> tuple[Record, int]:
        record, pid = self._records.read(allocation_id), self._pid_of(allocation_id)
        if not isinstance(record, Record) or pid is None:
            raise EngineError("the environment is not running", allocation_id)
        return record, pid

    def _order(self, allocation_id: str, pid: int, mount_path: str, record: Record) -> dict[str, object]:
        ids = self._ids(record)
        return {
            "pid": pid,
            "born": processes.born(pid),
            "mount_path": mount_path,
            "owner": ids.holder,
            "root": ids.root,
            "ids": [ids.on_disk, ids.outside, ids.count],
            "lock": str(self._records.folder(allocation_id) / "mounts.lock"),
        }

    def tell(self, allocation_id: str, record: Record) -> None:
        """For the person at login: what lasts and what does not. The folder is seen inside as /etc/gpuaas."""
        folder = self._records.folder(allocation_id) / "etc" / "gpuaas"
        with contextlib.suppress(OSError, EngineError):
            pid = self._pid_of(allocation_id)
            text = banner(record.spec.username, self._volumes.tables.reported(pid))
            files.write_whole(folder / "storage", text.encode(), mode=0o644, durable=False)


async def _end_daemons(volume_id: str, outside: int, mount_path: str, *, force: bool) -> int:
    """A daemon ends with the last mount that it serves, also of those that are in no table."""
    ended = 0
    offset = outside - serving.FIRST_ID
    for daemon in await asyncio.to_thread(serving.daemons_of, volume_id, offset):
        if not await processes.gone(daemon, DAEMON_SECONDS):
            if not force:
                raise EngineError("the volume is in use: a process inside keeps a copy of its mount", mount_path)
            ended += await processes.end(daemon, lambda pid: pid in serving.daemons_of(volume_id, offset))
    return ended


def banner(username: str, mounts: list[Mount]) -> str:
    lines = [
        f"{one.mount_path} is a volume{' (read-only)' if one.read_only else ''}: it outlives this allocation."
        for one in mounts
    ]
    ephemeral = f"/home/{username}, /tmp and /var/tmp are on this allocation's own disk: a release erases them."
    return "\n".join([ephemeral, *(lines or ["No volume is attached: nothing here outlives this allocation."])]) + "\n"


def _listed(words: list[str]) -> str:
    told = [_printable(each) for each in words[:NAMED_HOLDERS]]
    return ", ".join(told + ([f"and {len(words) - NAMED_HOLDERS} more"] if len(words) > NAMED_HOLDERS else []))


def _printable(text: str) -> str:
    """What processes and files are called is up to people, and others read it."""
    return "".join(each if each.isprintable() else "?" for each in text)
