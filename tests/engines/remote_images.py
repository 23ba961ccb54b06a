"""The facet of images over the standard input of another process."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gpuaas.wire.images import CurrentImage


class RemoteImages:
    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    async def report(self) -> CurrentImage | None:
        return msgspec.convert(await self._ask("images_report"), CurrentImage | None)
