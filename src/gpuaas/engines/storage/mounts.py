"""Attaches, observes and detaches volumes in running environments."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.node import files, processes
from gpuaas.engines.node.records import Record, Records
from gpuaas.engines.storage.detachments import HIDDEN, Detachment
from gpuaas.engines.storage.mount_process import ask
from gpuaas.engines.storage.mount_tables import overlays_in
from gpuaas.engines.storage.volumes import NodeVolumes
from gpuaas.wire.environments import Init, Mount
from gpuaas.wire.storage import AccessMode, Backend, VolumeRef, WantedMount

DEVICE_SECONDS, POLL_SECONDS = 5.0, 0.02


@dataclass(frozen=True)
class VolumeIds:
    """Maps owners of a volume's files in one environment: ids from `on_disk` to ids from `outside`."""

    on_disk: int
    outside: int
    count: int
    holder: int
    root: int
    limit_daemons: Callable[[], list[str]] = list
    """Creates control groups for volume daemons of this environment, and returns them."""


class NodeMounts:
    def __init__(
        self,
        records: Records,
        volumes: NodeVolumes,
        *,
        ids: Callable[[Record], VolumeIds],
        pid_of: Callable[[str], int | None],
        alone: Callable[[str], AbstractAsyncContextManager[None]],
        stop: Callable[[Record, str], Awaitable[None]],
    ) -> None:
        """`stop` ends a running environment whose lock is held, and shows the reason in its connections."""
        self._records, self._volumes, self._stop = records, volumes, stop
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
                raise EngineError("the volume was mounted and is not visible there", wanted.mount_path)
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
        """Detach and describe the result; without force, a busy volume is an error that names its users."""
        async with self._alone(allocation_id):
            pid = self._pid_of(allocation_id)
            record = self._records.read(allocation_id)
            if pid is None or not isinstance(record, Record):
                await self._check_released(volume, allocation_id)
                return "the environment is not running, and nothing is mounted in it"
            detachment = Detachment(
                self._volumes.tables,
                volume.volume_id,
                self._order(allocation_id, pid, mount_path, record),
                is_mounted=partial(self._is_mounted, pid, volume.volume_id, mount_path),
                check_released=partial(self._check_released, volume, allocation_id),
                own_overlays=await self._own_overlays(pid, record, volume),
                on_phase=on_phase,
            )
            try:
                note = await (detachment.force() if force else detachment.ask())
            except EngineError as error:
                if not force:
                    raise
                note = await self._stop_for(record, detachment, error, on_phase)
            await asyncio.to_thread(self.tell, allocation_id, record)
            return note

    async def _stop_for(self, record: Record, detachment: Detachment, error: EngineError, on_phase: OnPhase) -> str:
        """The last step: stop the environment, which ends every holder inside."""
        await on_phase("environment_stopping", error.reason)
        await self._stop(record, "a volume was detached by force")
        await detachment.check_gone()
        return f"the environment was stopped to detach it by force, because {error.reason}"

    async def _is_mounted(self, pid: int, volume_id: str, mount_path: str) -> bool:
        mounts = await self._mounts_in(pid)
        return any((one.volume_id, one.mount_path) == (volume_id, mount_path) for one in mounts)

    async def _own_overlays(self, pid: int, record: Record, volume: VolumeRef) -> Collection[str] | None:
        """Overlays of the node, if root inside can keep a copy of the mount that neither the kernel nor a process
        shows: that is, if it can mount, and neither a loop device nor a daemon ends with the last mount. They are in
        the mounts of the parent of pid 1, which created its root and which programs inside cannot change."""
        if record.spec.init is not Init.SYSTEMD or self._volumes.is_served(volume.backend):
            return None
        is_judged = volume.backend is Backend.LOCAL
        if is_judged and not await self._is_elsewhere(record.spec.allocation_id, volume.volume_id):
            return None
        return await asyncio.to_thread(overlays_in, processes.parent(pid))

    async def _is_elsewhere(self, allocation_id: str, volume_id: str) -> bool:
        """Whether another environment of this node has the volume; its loop device then proves nothing for this one."""
        others = (self._pid_of(id) for id in self._records.ids() if id != allocation_id)
        for pid in [one for one in others if one is not None]:
            if volume_id in await asyncio.to_thread(self._volumes.tables.volumes_in, pid):
                return True
        return False

    async def _check_released(self, volume: VolumeRef, allocation_id: str) -> None:
        """For a local volume, the kernel decides: its loop device exists while anything holds it."""
        if volume.backend is not Backend.LOCAL:
            return
        tries = round(DEVICE_SECONDS / POLL_SECONDS)  # the kernel frees it slightly after the last release
        while devices := self._volumes.tables.loop_devices_of(volume.volume_id):
            if (tries := tries - 1) < 0:
                if await self._is_elsewhere(allocation_id, volume.volume_id):
                    return
                raise EngineError(f"the volume is in use: {HIDDEN}", f"devices {', '.join(sorted(devices))}")
            await asyncio.sleep(POLL_SECONDS)

    async def _mounts_in(self, pid: int) -> list[Mount]:
        try:
            return await asyncio.to_thread(self._volumes.tables.mounts_in, pid)
        except OSError as error:
            raise EngineError("the mounts of the environment are unknown", error.strerror or str(error)) from error

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
        """Write the login message about persistent and temporary storage. The folder is /etc/gpuaas inside."""
        folder = self._records.folder(allocation_id) / "etc" / "gpuaas"
        with contextlib.suppress(OSError, EngineError):
            pid = self._pid_of(allocation_id)
            text = banner(record.spec.username, self._volumes.tables.reported(pid))
            files.write_whole(folder / "storage", text.encode(), mode=0o644, durable=False)


def banner(username: str, mounts: list[Mount]) -> str:
    lines = [
        f"{one.mount_path} is a volume{' (read-only)' if one.read_only else ''}: it outlives this allocation."
        for one in mounts
    ]
    ephemeral = f"/home/{username}, /tmp and /var/tmp are on this allocation's own disk: a release erases them."
    return "\n".join([ephemeral, *(lines or ["No volume is attached: nothing here outlives this allocation."])]) + "\n"
