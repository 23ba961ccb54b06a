"""Detaches a volume from a running environment, optionally by force.

Lazy unmounts are not used. A plain unmount fails while anything holds the mount, and the caller gets this error: after
a volume is reported as detached, another allocation may write to it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import partial
from typing import cast

from gpuaas.engines.base import EngineError, OnPhase
from gpuaas.engines.node import processes
from gpuaas.engines.storage import serving
from gpuaas.engines.storage.holding import Hold, OpenFile, holds_of, open_files_under
from gpuaas.engines.storage.mount_process import ask
from gpuaas.engines.storage.mount_tables import MountTables

NAMED_HOLDERS = 8
DAEMON_SECONDS = 5.0
LOOK_SECONDS = 120.0  # at up to a million descriptors
SETTLE_SECONDS = 0.2  # a service that is starting has mounts at other paths for a moment
ROUNDS = 5  # of retries, and by force of ending the processes that hold the volume
MOST_HOLDS = 64  # a helper process enters each; only an attack creates so many
HIDDEN = "something inside holds it that no process shows, such as a descriptor in flight or an overlay"
Ask = Callable[[dict[str, object]], Awaitable[dict[str, object]]]
Look = Callable[[], Awaitable[list[Hold]]]


class Detachment:
    """`order` names pid 1, the mount path and the ids, as for the mount helper."""

    def __init__(
        self,
        tables: MountTables,
        volume_id: str,
        order: dict[str, object],
        *,
        is_mounted: Callable[[], Awaitable[bool]],
        check_released: Callable[[], Awaitable[None]],
        own_overlays: Collection[str] | None,
        on_phase: OnPhase,
        look: Look | None = None,
        ask: Ask = ask,
    ) -> None:
        """`own_overlays`: as for `holds_of`; None if root inside cannot hide mounts. Tests replace `look` and `ask`."""
        self._tables, self._volume_id, self._order, self._on_phase = tables, volume_id, order, on_phase
        self._is_mounted, self._check_released, self._own_overlays = is_mounted, check_released, own_overlays
        self._pid, self._path = cast("int", order["pid"]), str(order["mount_path"])
        _, self._outside, count = cast("list[int]", order["ids"])
        self._uids = range(self._outside, self._outside + count)
        self._look, self._ask = look or self._look_at_threads, ask

    async def ask(self) -> str:
        """Refuse while anything holds it, before unmounting if the holder is visible."""
        namespace = processes.namespace(self._pid, "mnt")

        async def look_elsewhere() -> list[Hold]:
            return [one for one in await self._look() if not one.is_at(self._path, namespace)]

        await self._wait_until_free(look_elsewhere)
        note = "it was not mounted"
        if await self._is_mounted():
            await self._on_phase("volume_unmounting", f"from {self._path}")
            await self._unmount()
            note = "unmounted"
        await self._wait_until_free(self._look)
        await self._end_daemons(force=False)
        await self._check_released()
        return note

    async def force(self) -> str:
        """End all holders except pid 1. Unmount first, so that the mount cannot be copied meanwhile."""
        note = "it was not mounted"
        if await self._is_mounted():
            await self._on_phase("volume_unmounting", f"from {self._path}")
            used = await self._unmount_by_force(self._order)
            note = f"unmounted; {used} processes that used it were ended" if used else "unmounted"
        ended = await self._end_holders()
        ended += await self._end_daemons(force=True)
        await self._check_released()
        return f"{note}; {ended} processes that kept it elsewhere were ended" if ended else note

    async def check_gone(self) -> None:
        """Detach after the environment was stopped."""
        if left := await self._look():
            raise _in_use((one.words for one in left), self._path)
        await self._end_daemons(force=True)
        await self._check_released()

    async def _look_at_threads(self) -> list[Hold]:
        look = partial(holds_of, self._tables, self._volume_id, self._uids, self._own_overlays)
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await asyncio.to_thread(look)
        except OSError as error:  # also a timeout
            why = error.strerror or "the check took too long"
            raise EngineError("it is unknown whether the volume is in use", why) from error

    def _few(self, holds: list[Hold]) -> list[Hold]:
        if len(holds) > MOST_HOLDS:
            raise _in_use((one.words for one in holds), self._path)
        return holds

    async def _wait_until_free(self, look: Look) -> None:
        """Unmount copies at the same path in private mounts of services."""
        left = list[Hold]()
        for _ in range(ROUNDS):
            for hold in self._few(await look()):
                if hold.mount_path == self._path:
                    await self._unmount_at(hold)
            if not (left := await look()):
                return
            await asyncio.sleep(SETTLE_SECONDS)
        raise _in_use((one.words for one in left), self._path)

    async def _unmount(self) -> None:
        users = list[OpenFile]()
        for _ in range(ROUNDS):
            if not (await self._ask({**self._order, "verb": "detach"})).get("busy"):
                return
            if users := await asyncio.to_thread(open_files_under, self._pid, self._path):
                break
            await asyncio.sleep(SETTLE_SECONDS)  # a check by the node itself
        raise _in_use([one.words for one in users] or [HIDDEN], self._path)

    async def _unmount_at(self, hold: Hold) -> None:
        with contextlib.suppress(EngineError):  # a locked or covered mount: the next check finds it
            await self._ask({**self._order, **hold.thread._asdict(), "mount_path": hold.mount_path, "verb": "detach"})

    async def _unmount_by_force(self, order: dict[str, object]) -> int:
        """End the processes; return their number."""
        ended, pid, path = 0, cast("int", order["pid"]), str(order["mount_path"])
        for _ in range(ROUNDS):
            if not (await self._ask({**order, "verb": "detach"})).get("busy"):
                return ended
            for one in await asyncio.to_thread(open_files_under, pid, path):
                if one.process.pid != self._pid:
                    ended += await _end(one.process)
        raise _in_use([HIDDEN], path)

    async def _end_holders(self) -> int:
        """Repeat until the check finds no holder; return the number of ended processes."""
        ended, left = 0, list[Hold]()
        for _ in range(ROUNDS):
            for hold in self._few(await self._look()):
                if hold.mount_path:
                    order = {**self._order, **hold.thread._asdict(), "mount_path": hold.mount_path}
                    with contextlib.suppress(EngineError):  # the next check finds it
                        ended += await self._unmount_by_force(order)
            if not (left := await self._look()):
                return ended
            for process in {one.process for one in left if one.process.pid != self._pid}:
                ended += await _end(process)
        raise _in_use((one.words for one in left), self._path)

    async def _end_daemons(self, *, force: bool) -> int:
        """Wait for the daemon, which ends with its last mount, including those in no mount table."""
        ended, offset = 0, self._outside - serving.FIRST_ID
        for daemon in await asyncio.to_thread(serving.daemons_of, self._volume_id, offset):
            if not await processes.gone(daemon, DAEMON_SECONDS):
                if not force:
                    raise _in_use(["a process inside keeps a copy of its mount"], self._path)
                ended += await processes.end(daemon, lambda pid: pid in serving.daemons_of(self._volume_id, offset))
        return ended


async def _end(process: processes.Process) -> bool:
    return await processes.end(process.pid, partial(processes.is_alive, birth=process.born))


def _in_use(words: Iterable[str], path: str) -> EngineError:
    return EngineError(f"the volume is in use: {_listed(list(words))}", path)


def _listed(words: list[str]) -> str:
    told = [_printable(each) for each in words[:NAMED_HOLDERS]]
    return ", ".join(told + ([f"and {len(words) - NAMED_HOLDERS} more"] if len(words) > NAMED_HOLDERS else []))


def _printable(text: str) -> str:
    """Sanitise names of processes and files, because tenants choose them and others read them."""
    return "".join(each if each.isprintable() else "?" for each in text)
