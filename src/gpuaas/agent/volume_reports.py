"""Reports the volumes on the node: on a new link, and when a check every minute finds a change."""

from collections.abc import Callable
from datetime import datetime

from gpuaas.agent.outgoing import Outgoing
from gpuaas.engines.base import Engine
from gpuaas.wire.storage import PresentVolume, VolumeReport

VOLUME_SECONDS = 60.0
PER_MESSAGE = 500  # a record has a few hundred bytes, and a message of the link at most a mebibyte

Told = tuple[list[PresentVolume], dict[str, list[str]]]


class VolumeReports:
    """On a new link everything is sent again."""

    def __init__(self, engine: Engine, outgoing: Outgoing, now: Callable[[], datetime]) -> None:
        self._engine, self._outgoing, self._now = engine, outgoing, now
        self._told: Told | None = None

    def forget(self) -> None:
        self._told = None

    async def look(self) -> None:
        """A failed check sends nothing, because a volume that is missing from a report counts as gone."""
        if not self._outgoing.is_open:
            return
        at = self._now()
        volumes = await self._engine.volumes.present()
        mounted: dict[str, list[str]] = {}
        for environment in await self._engine.observe():
            for mount in environment.mounts:
                mounted.setdefault(mount.volume_id, []).append(environment.allocation_id)
        if (volumes, mounted) != self._told and self._tell(volumes, mounted, at):
            self._told = volumes, mounted

    def _tell(self, volumes: list[PresentVolume], mounted: dict[str, list[str]], at: datetime) -> bool:
        """Returns whether every part was queued; the last part, which completes the report, follows all others or is
        not sent.
        """
        for start in range(0, len(volumes) or 1, PER_MESSAGE):
            part = volumes[start : start + PER_MESSAGE]
            used = {one.volume_id: mounted[one.volume_id] for one in part if one.volume_id in mounted}
            is_last = start + PER_MESSAGE >= len(volumes)
            if not self._outgoing.put(VolumeReport(volumes=part, at=at, mounted=used, is_last=is_last)):
                return False
        return True
