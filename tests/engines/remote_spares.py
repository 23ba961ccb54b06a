"""The facet of spares over the standard input of another process."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from gpuaas.wire.spares import SpareForm, SpareReport


class RemoteSpares:
    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask

    async def want(self, forms: Iterable[SpareForm]) -> None:
        await self._ask("spares_want", list(forms))

    async def keep(self) -> bool:
        return bool(await self._ask("spares_keep"))

    async def report(self) -> SpareReport:
        return msgspec.convert(await self._ask("spares_report"), SpareReport)
