"""The base image of the fake engine: only a name, which a test can replace by a newer one."""

from datetime import UTC, datetime

from msgspec.structs import replace

from gpuaas.wire.images import BaseImage, CurrentImage

FIRST = CurrentImage(
    version="simulated-1",
    distribution="debian-12",
    python="3.11",
    sshd="none",
    built_at=datetime(2026, 11, 1, tzinfo=UTC),
)


class FakeImages:
    def __init__(self) -> None:
        self.current = FIRST

    async def report(self) -> CurrentImage | None:
        return self.current

    def new(self) -> BaseImage:
        """The image of a new environment."""
        now = self.current
        return BaseImage(version=now.version, distribution=now.distribution, python=now.python, built_at=now.built_at)

    def seen(self, image: BaseImage) -> BaseImage:
        is_newest = image.version == self.current.version
        return replace(image, replaced_at=None if is_newest else self.current.built_at)
