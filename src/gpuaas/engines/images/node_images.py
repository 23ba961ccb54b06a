"""The images of one engine in reports of its node: the current one, and those of environments."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from gpuaas.engines.base import EngineError
from gpuaas.engines.images import image_schedule, images
from gpuaas.engines.images.images import Image
from gpuaas.wire.images import BaseImage, CurrentImage


class NodeImages:
    def __init__(self, folder: Path, *, now: Callable[[], datetime], max_age_days: int = 0) -> None:
        self.folder, self._now, self._max_age_days = folder, now, max_age_days
        self._read: dict[str, tuple[int, Image | None]] = {}  # by version, with the time of its record

    def current(self) -> Image:
        image = images.current(self.folder)
        if image is None:
            raise EngineError("this node has no base image", "run `gpuaas node image build` on the node")
        return image

    def of(self, version: str) -> Image | None:
        """Cached, because a record has a hundred packages and every observation of an environment uses it."""
        try:
            time = (self.folder / version / images.RECORD).stat().st_mtime_ns
        except OSError:
            return None
        known = self._read.get(version)
        if known is None or known[0] != time:
            known = self._read[version] = time, images.read(self.folder, version)
        return known[1]

    def used(self, version: str) -> BaseImage | None:
        """None if its record is unreadable."""
        image = self.of(version) if version else None
        if image is None:
            return None
        return BaseImage(
            version=version,
            distribution=image.system,
            python=image.python_series,
            built_at=image.built_at,
            replaced_at=images.replaced_at(image, self.find()),
        )

    def find(self) -> Image | None:
        try:
            return self.of(str((self.folder / images.CURRENT).readlink()))
        except OSError:
            return None

    async def report(self) -> CurrentImage | None:
        image = self.find()
        if image is None:
            return None
        age = timedelta(days=self._max_age_days)
        return CurrentImage(
            version=image.version,
            distribution=image.system,
            python=image.python_series,
            sshd=image.sshd,
            built_at=image.built_at,
            checked_at=image.checked_at,
            max_age_days=self._max_age_days,
            outdated_since=images.outdated_since(image, age, self._now()),
            failure=image_schedule.failure(self.folder),
        )
