"""The facet of samples over the standard input of another process."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import msgspec

from gpuaas.wire.metrics import Sample


class RemoteSamples:
    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    async def take(self, at: datetime) -> list[Sample]:
        return msgspec.convert(await self._ask("samples", at), list[Sample])
